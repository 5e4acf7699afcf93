import CausewayPreparation
import CausewaySQLiteFile

/// Looks at the rows of one table, on a worker: at their records, or at those of their source rows, where cells are
/// carried. What it finds goes to the `RowInspection` of the step.
struct RecordInspection {
    private struct Check {
        let question: RowQuestion
        /// In the records that it looks at.
        let cell: Int
        /// Where its links go among those of a batch.
        let links: Int
    }

    /// What is found in the rows of a batch.
    struct Findings: Sendable {
        /// Checks that a row gives reason to doubt, all rows of the worker so far together.
        fileprivate(set) var doubts: Set<Int> = []
        /// Checks of links, with where these lead.
        fileprivate(set) var links: [(check: Int, keys: [Int64])] = []

        /// Notes a number that its new type may not hold, which is no rule of a row.
        mutating func doubtNumbers() { doubts.insert(-1) }

        /// Keeps the memory for the next batch.
        mutating func removeAll() {
            doubts.removeAll(keepingCapacity: true)
            for index in links.indices { links[index].keys.removeAll(keepingCapacity: true) }
        }
    }

    private var checks: [Check] = []
    private var doubts: Set<Int> = []
    private let linked: [Int]

    /// - Parameters:
    ///   - questions: of the table.
    ///   - columns: of its records.
    init(_ questions: [RowQuestion], _ columns: [PolicyRecordFormer.Column]) {
        self.init(questions) { question in columns.firstIndex { $0.place == question.column } }
    }

    /// - Parameters:
    ///   - questions: of the table.
    ///   - cell: where to look for each; nil where that isn't known.
    init(_ questions: [RowQuestion], cell: (RowQuestion) -> Int?) {
        var linked: [Int] = []
        for question in questions {
            guard let cell = cell(question) else {
                doubts.insert(question.place)
                continue
            }
            checks.append(Check(question: question, cell: cell, links: linked.count))
            if case .leads = question.kind { linked.append(question.place) }
        }
        self.linked = linked
    }

    /// Whether there is nothing to look at.
    var isEmpty: Bool { checks.isEmpty }

    /// Begins with the rows of a batch.
    func begin(_ findings: inout Findings) {
        if findings.links.isEmpty { findings.links = linked.map { ($0, []) } }
        findings.doubts = doubts
    }

    /// Looks at a row.
    mutating func inspect(_ record: RowView, _ findings: inout Findings) {
        var hasDoubts = false
        for check in checks where !Self.holds(check, record, &findings) {
            doubts.insert(check.question.place)
            hasDoubts = true
        }
        guard hasDoubts else { return }
        findings.doubts = doubts
        checks.removeAll { doubts.contains($0.question.place) }
    }

    private static func holds(_ check: Check, _ record: RowView, _ findings: inout Findings) -> Bool {
        let type = record.serialType(at: check.cell)
        switch check.question.kind {
        // NaN is stored as NULL.
        case .isThere: return !type.isNull && !(type.isReal && record.real(at: check.cell)?.isNaN == true)
        case .passes(let test):
            if type.isNull { return true }
            if type.isText { return test.surelyHolds(forTextOf: type.length) }
            if let integer = record.integer(at: check.cell) { return test.surelyHolds(for: .integer(integer)) }
            return record.real(at: check.cell).map { test.surelyHolds(for: .real($0)) } ?? false
        case .leads:
            if type.isNull { return true }
            guard let key = record.integer(at: check.cell) else { return false }
            findings.links[check.links].keys.append(key)
            return true
        }
    }
}
