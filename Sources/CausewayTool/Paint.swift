import CausewayPlatform

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Colours for what a line begins with, where a terminal has them: errors are red, warnings yellow, what is done is
/// green.
enum Paint {
    private static let red = "\u{1B}[31m"
    private static let green = "\u{1B}[32m"
    private static let yellow = "\u{1B}[33m"
    private static let plain = "\u{1B}[0m"

    /// Beginnings of lines with their colours.
    private static let colours = [
        ("error:", red), ("Interrupted", red), ("Terminated", red), ("warning:", yellow),
        ("done:", green),
    ]

    /// `NO_COLOR` (no-color.org) and a terminal that can't do it are respected.
    private static let isWanted: Bool = {
        if let value = unsafe getenv("NO_COLOR"), unsafe value.pointee != 0 { return false }
        return !Terminal.isDumb
    }()

    /// The text as it is written to a descriptor.
    static func painted(_ text: String, for descriptor: Int32) -> String {
        guard isWanted, let (word, colour) = colours.first(where: { text.hasPrefix($0.0) }),
            Terminal.isTerminal(descriptor)
        else { return text }
        return colour + word + plain + text.dropFirst(word.count)
    }
}
