import Foundation

/// What `linear` prints.
struct LinearReport: Encodable {
    var machine = Machine()
    /// Rows of the smaller stores.
    var rows: Int
    var lines: [Line]

    struct Line: Encodable {
        var history: String
        var note: String
        var sizes: [Size] = []
        /// Why there are no numbers.
        var failure: String?

        /// Time per row at the larger size, in times of that at the smaller; nil without both.
        func ratio(_ time: (Size) -> Double) -> Double? {
            guard sizes.count == 2, time(sizes[0]) > 0 else { return nil }
            return time(sizes[1]) / time(sizes[0])
        }

        var text: String {
            LinearReport.columns(cells) + (failure.map { "  failed: \($0)" } ?? "")
                + (note.isEmpty ? "" : "  (\(note))")
        }

        private var cells: [String] {
            var cells = [history]
            for place in 0..<2 {
                let size = place < sizes.count ? sizes[place] : nil
                cells.append(size.map { String($0.rows) } ?? "–")
                cells.append(size.map { String(format: "%.2f", $0.outcome.seconds) } ?? "–")
                cells.append(size.map { String(format: "%.2f", $0.microseconds) } ?? "–")
            }
            for ratio in [ratio(\.microseconds), ratio(\.processorMicroseconds)] {
                cells.append(ratio.map { String(format: "%.2f", $0) } ?? "–")
            }
            return cells
        }

        private enum CodingKeys: String, CodingKey {
            case history, note, sizes, failure, ratio, processorRatio
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(history, forKey: .history)
            if !note.isEmpty { try container.encode(note, forKey: .note) }
            try container.encode(sizes, forKey: .sizes)
            try container.encodeIfPresent(failure, forKey: .failure)
            try container.encodeIfPresent(ratio(\.microseconds)?.rounded3, forKey: .ratio)
            try container.encodeIfPresent(ratio(\.processorMicroseconds)?.rounded3, forKey: .processorRatio)
        }
    }

    /// One store of a history.
    struct Size: Encodable {
        /// Rows of entity tables; links come on top.
        var rows: Int
        var storeBytes: Int
        var outcome: Outcome

        /// Per row.
        var microseconds: Double { outcome.seconds * 1e6 / Double(max(rows, 1)) }
        var processorMicroseconds: Double { outcome.processorSeconds * 1e6 / Double(max(rows, 1)) }
    }

    /// All lines once more, under their heads.
    var table: String {
        let heads = ["history", "rows", "seconds", "µs/row", "rows", "seconds", "µs/row", "ratio", "ratio CPU"]
        return (["", Self.columns(heads)] + lines.map(\.text)).joined(separator: "\n")
    }

    private static let widths = [22, 9, 8, 8, 9, 8, 8, 6, 9]

    fileprivate static func columns(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 0 ? cell.0 + padding : padding + cell.0
        }.joined(separator: "  ")
    }
}
