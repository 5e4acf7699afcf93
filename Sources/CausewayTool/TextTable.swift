import CausewayPlatform

/// Rows of aligned columns.
struct TextTable {
    enum Alignment {
        case leading, trailing
    }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// - Parameter columns: a heading for each column, and the side to which its texts are aligned.
    init(_ columns: [(heading: String, alignment: Alignment)]) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row; missing cells are empty. A name may have line feeds and control characters: escaped only when the
    /// lines are written, they would break the columns.
    mutating func add(_ cells: String...) {
        rows.append(cells.map(\.onOneLine))
    }

    /// The lines, headings first, each indented by two.
    var lines: [String] { lines(width: .max) }

    /// The lines in a terminal of `width` columns, headings first: the longest texts are broken where a line would be
    /// longer, sentences before names.
    func lines(width: Int, indent: Int = 2, hasHeadings: Bool = true) -> [String] {
        let all = (hasHeadings ? [headings] : []) + rows
        let widths = widths(of: all, in: width - indent)
        return all.flatMap { row -> [String] in
            let cells = headings.indices.map { column in
                (column < row.count ? row[column] : "").broken(to: widths[column])
            }
            return (0..<(cells.map(\.count).max() ?? 1)).map { place -> String in
                let parts = headings.indices.map { column in
                    (place < cells[column].count ? cells[column][place] : "")
                        .padded(to: widths[column], alignments[column])
                }
                var line = String(repeating: " ", count: indent) + parts.joined(separator: "  ")
                while line.last == " " { line.removeLast() }
                return line
            }
        }
    }

    /// Columns narrower than this aren't narrowed further: their text would be a tower of syllables.
    private static let narrowest = 12

    private func widths(of rows: [[String]], in width: Int) -> [Int] {
        func widest(_ length: (String) -> Int) -> [Int] {
            headings.indices.map { column in rows.map { column < $0.count ? length($0[column]) : 0 }.max() ?? 0 }
        }
        var widths = widest(\.count)
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - width
        guard excess > 0 else { return widths }
        let leading = headings.indices.filter { alignments[$0] == .leading }
        // Sentences first, between their words: whoever looks for a name finds it whole.
        let words = widest { $0.split(separator: " ").map(\.count).max() ?? 0 }
        for limits in [words.map { max($0, Self.narrowest) }, words.map { _ in Self.narrowest }] {
            while excess > 0,
                let wide = leading.filter({ widths[$0] > limits[$0] }).max(by: { widths[$0] < widths[$1] })
            {
                widths[wide] -= 1
                excess -= 1
            }
        }
        return widths
    }
}

/// Items under their heading; nothing where there are none.
func listed(_ items: [String], in layout: TextLayout = .whole, under heading: String...) -> [String] {
    items.isEmpty ? [] : heading + items.flatMap { layout.lines("  - \($0)") }
}

extension String {
    /// The text in lines of at most `width` characters, broken at spaces where there are any.
    func broken(to width: Int) -> [String] {
        guard count > width, width > 0 else { return [self] }
        var lines: [String] = []
        var rest = self[...]
        while rest.count > width {
            let line = rest.prefix(width + 1)
            // A break in the first third would leave most of the line empty.
            if let space = line.lastIndex(of: " "), rest.distance(from: rest.startIndex, to: space) > width / 3 {
                lines.append(String(rest[..<space]))
                rest = rest[rest.index(after: space)...]
            } else {
                lines.append(String(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
        }
        return rest.isEmpty ? lines : lines + [String(rest)]
    }

    /// The text padded with spaces on the other side.
    func padded(to width: Int, _ alignment: TextTable.Alignment = .leading) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return alignment == .leading ? self + blanks : blanks + self
    }
}
