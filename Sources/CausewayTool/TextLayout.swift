import CausewayPlatform

/// How much of a text is shown, and in how many columns.
struct TextLayout {
    /// Columns of the terminal.
    var width = 80
    /// `--all`: long lists aren't folded.
    var showsAll = false

    /// Entries of a list that are shown without `--all`: with its surroundings a screen or two.
    static let shown = 40

    /// For standard output: `COLUMNS` where it is set, else what the terminal says. What a pipe or a file gets isn't
    /// broken: names stay whole for `grep`.
    static func output(showsAll: Bool) -> TextLayout {
        let width = Terminal.wantedWidth ?? Terminal.width(StandardStream.output.descriptor) ?? .max
        return TextLayout(width: width, showsAll: showsAll)
    }

    /// The first elements of a long list, and how many are left out.
    func folded<Element>(_ list: [Element], to count: Int = Self.shown) -> (shown: ArraySlice<Element>, more: Int) {
        // A line that says "… and 1 more" takes the place of that one.
        guard !showsAll, list.count > count + 1 else { return (list[...], 0) }
        return (list.prefix(count), list.count - count)
    }

    /// The line for what isn't shown; nothing where everything is.
    static func more(_ count: Int, indent: Int = 2) -> [String] {
        count == 0
            ? [] : [String(repeating: " ", count: indent) + "… and \(Figures.grouped(count)) more; --all shows them"]
    }
}
