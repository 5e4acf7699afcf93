import CausewayPlatform

/// How much of a text is shown, and in how many columns.
struct TextLayout {
    /// Columns of the terminal.
    var width = 80
    /// `--all`: long lists aren't folded.
    var showsAll = false

    /// Entries of a list that are shown without `--all`: with its surroundings a screen or two.
    static let shown = 40

    /// Nothing is broken or folded.
    static let whole = TextLayout(width: .max, showsAll: true)

    /// For a stream: `COLUMNS` where it is set, else what the terminal says. What a pipe or a file gets isn't broken:
    /// names stay whole for `grep`.
    static func output(showsAll: Bool, to stream: StandardStream = .output) -> TextLayout {
        let width = Terminal.wantedWidth ?? Terminal.width(stream.descriptor) ?? .max
        return TextLayout(width: width, showsAll: showsAll)
    }

    /// Narrower than this a text isn't broken: it would be a tower of syllables.
    private static let narrowest = 20

    /// A line, or as many as it takes. Those after the first are indented by `hanging`, or by two more than the first.
    func lines(_ text: String, hanging: Int? = nil) -> [String] {
        guard text.count > width else { return [text] }
        let text = text.onOneLine
        let indent = hanging ?? text.prefix { $0 == " " }.count + 2
        let head = text.prefix(indent)
        return text.dropFirst(indent).description.broken(to: max(Self.narrowest, width - indent)).enumerated().map {
            ($0 == 0 ? String(head) : String(repeating: " ", count: indent)) + $1
        }
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
