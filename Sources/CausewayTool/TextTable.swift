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

    /// Adds a row; missing cells are empty.
    mutating func add(_ cells: String...) {
        rows.append(cells)
    }

    /// The lines, headings first, each indented by two.
    var lines: [String] {
        let all = [headings] + rows
        let widths = headings.indices.map { column in
            all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return all.map { row in
            let cells = headings.indices.map { column in
                (column < row.count ? row[column] : "").padded(to: widths[column], alignments[column])
            }
            var line = "  " + cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

/// Items under their heading; nothing where there are none.
func listed(_ items: [String], under heading: String...) -> [String] {
    items.isEmpty ? [] : heading + items.map { "  - \($0)" }
}

extension String {
    /// The text padded with spaces on the other side.
    func padded(to width: Int, _ alignment: TextTable.Alignment = .leading) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return alignment == .leading ? self + blanks : blanks + self
    }
}
