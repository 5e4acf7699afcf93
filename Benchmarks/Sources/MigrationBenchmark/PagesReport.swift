import Foundation

/// What `pages` finds.
struct PagesReport: Encodable {
    var machine: Machine
    var rounds: Int
    var groups: [Group] = []
    /// Works that this machine can't do, with the reason.
    var skipped: [String] = []

    /// The source.
    struct Store: Encodable {
        /// As asked for.
        var nominalBytes: Int
        var bytes: Int
        /// Of entities; links come on top.
        var rows: Int
        /// Of the table that c and e change, with its indexes; nil where SQLite doesn't tell.
        var changedTableBytes: Int?
        var fileSystem: String?
    }

    /// A work on one store.
    struct Group: Encodable {
        let job: Job
        let store: Store
        let lines: [Line]

        init(job: Job, store: Store, results: [Rounds.Result]) {
            self.job = job
            self.store = store
            lines = results.map { Line($0, beside: results) }
        }

        func line(_ contender: Contender, _ verification: VerificationChoice = .quick) -> Line? {
            lines.first { $0.entrant.contender == contender && $0.entrant.verification == verification }
        }
    }

    /// A contender.
    struct Line: Encodable {
        let entrant: Entrant
        let series: Series
        let absence: String?
        let failure: String?
        /// Of the same work by hand in SQL; of a durable copy; of one step of the same kind. nil where there is none.
        let toSQL: Ratio?
        let toCopy: Ratio?
        let toOneStep: Ratio?

        init(_ result: Rounds.Result, beside results: [Rounds.Result]) {
            (entrant, series, absence, failure) = (result.entrant, result.series, result.absence, result.failure)
            let ratio = { (isBase: (Entrant) -> Bool) -> Ratio? in
                results.first { isBase($0.entrant) }.flatMap { Ratio(result.series.ratios(to: $0.series)) }
            }
            let own = result.entrant
            toSQL = ratio { $0.contender == .sql && $0.task == own.task }
            toCopy = ratio { $0.contender == .copy }
            toOneStep =
                own.steps == 1
                ? nil
                : ratio {
                    $0.contender == own.contender && $0.verification == own.verification
                        && $0.task == ArchiveTask(change: own.change, steps: 1)
                }
        }

        private enum CodingKeys: String, CodingKey {
            case contender, verify, change, steps, skipped, failed, figures
            case timeRatioToSQL, timeRatioToCopy, timeRatioToOneStep
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(entrant.contender, forKey: .contender)
            if entrant.contender.engine != nil {
                try container.encode(entrant.verification.rawValue, forKey: .verify)
            }
            try container.encode(entrant.change, forKey: .change)
            try container.encode(entrant.steps, forKey: .steps)
            try container.encodeIfPresent(absence, forKey: .skipped)
            try container.encodeIfPresent(failure, forKey: .failed)
            guard !series.outcomes.isEmpty else { return }
            try container.encode(series, forKey: .figures)
            try container.encodeIfPresent(toSQL, forKey: .timeRatioToSQL)
            try container.encodeIfPresent(toCopy, forKey: .timeRatioToCopy)
            try container.encodeIfPresent(toOneStep, forKey: .timeRatioToOneStep)
        }
    }

    var hasFailures: Bool { groups.contains { $0.lines.contains { $0.failure != nil } } }

    private enum CodingKeys: String, CodingKey {
        case machine, rounds, groups, skipped, targets
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(machine, forKey: .machine)
        try container.encode(rounds, forKey: .rounds)
        try container.encode(groups, forKey: .groups)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(targets, forKey: .targets)
    }
}

extension PagesReport.Group {
    /// For people.
    var table: String {
        var table = TextColumns(
            ["contender", "s", "of SQL", "of cp", "of 1 step", "cpu s", "RSS MB", "read MB", "written MB", "disk MB"])
        for line in lines {
            let steps = job == .d ? ", \(line.entrant.change.rawValue), \(line.entrant.steps)" : ""
            table.add([line.entrant.label + steps] + line.cells, note: line.absence ?? line.failure)
        }
        return "\n\(job.rawValue): \(job.title); \(store.bytes.megabytes) MB, \(store.rows) rows\n" + table.text
    }
}

extension PagesReport.Line {
    fileprivate var cells: [String] {
        guard let last = series.outcomes.last else { return [] }
        let ratios = [toSQL, toCopy, toOneStep].map { $0.map { String(format: "%.2f", $0.median) } ?? "–" }
        let bytes = [
            series.peakMemoryBytes, last.transfer?.readBytes, last.transfer?.writtenBytes,
            series.outcomes.map(\.diskBytes).max(),
        ]
        return [String(format: "%.2f", series.seconds)] + ratios
            + [String(format: "%.2f", series.median(\.processorSeconds))] + bytes.map { $0?.megabytes ?? "–" }
    }
}

/// Text under heads, the first column to the left, the others to the right.
struct TextColumns {
    private var rows: [(cells: [String], note: String?)]

    init(_ heads: [String]) {
        rows = [(heads, nil)]
    }

    /// The note stands behind the cells.
    mutating func add(_ cells: [String], note: String? = nil) {
        rows.append((cells, note))
    }

    var text: String {
        let widths = (0..<rows[0].cells.count).map { column in
            rows.compactMap { $0.cells.indices.contains(column) ? $0.cells[column].count : nil }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.cells.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }
            return cells.joined(separator: "  ") + (row.note.map { "  (\($0))" } ?? "")
        }.joined(separator: "\n")
    }
}
