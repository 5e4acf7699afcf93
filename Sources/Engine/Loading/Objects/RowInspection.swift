import CausewayCheckpoint
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile

/// Checks new rows against the rules of the new version while they are in hand: where no row gives reason to doubt, the
/// rows aren't scanned afterwards, and links aren't looked up.
///
/// What the cells in hand don't decide is doubted. Who breaks a rule is found by the scan alone.
struct RowInspection {
    /// A rule of one row that hasn't been doubted yet.
    private struct Check {
        /// Among the rules' row checks.
        let place: Int
        let column: Int
        let question: Question
        /// Where the last row that a link led to is among the batch's rows.
        var hint = 0
    }

    private enum Question {
        /// The cell isn't NULL.
        case isThere
        /// Its value passes.
        case passes(ValueTest)
        /// It leads to a row in hand, of one of these entities.
        case leads(table: Int, numbers: ClosedRange<Int>)
    }

    /// By the tables' places.
    private var checks: [[Check]]
    /// Places of the checks that need the scan.
    private(set) var doubts: Set<Int> = []

    init(_ rules: ValidationRules, _ map: StorageMap) {
        checks = map.tables.map { _ in [] }
        for (place, check) in rules.rowChecks.enumerated() {
            let table = rules.rules[check.rule].table
            let (name, question): (String, Question) =
                switch check.condition {
                case .isNull(let column, _), .hasNoTarget(let column, _): (column, .isThere)
                case .fails(let test, let column, _): (column, .passes(test))
                case .isDangling(let column, let target, let numbers): (column, .leads(table: target, numbers: numbers))
                }
            if let column = map.tables[table].columns.firstIndex(where: { $0.name == name }) {
                checks[table].append(Check(place: place, column: column, question: question))
            } else {
                doubts.insert(place)
            }
        }
    }

    /// Begins with the rows of another batch.
    mutating func beginBatch(_ table: Int) {
        for index in checks[table].indices { checks[table][index].hint = 0 }
    }

    /// Looks at a row whose record was formed last.
    mutating func inspect(
        _ row: Int, of content: RowTable, _ table: Int, _ rows: PendingRows, _ former: PolicyRecordFormer
    ) {
        var hasDoubts = false
        for index in checks[table].indices {
            let cell = content.cells[row * content.columnCount + checks[table][index].column]
            if holds(&checks[table][index], cell, content, rows, former) { continue }
            doubts.insert(checks[table][index].place)
            hasDoubts = true
        }
        if hasDoubts { checks[table].removeAll { doubts.contains($0.place) } }
    }

    private func holds(
        _ check: inout Check, _ cell: StoredCell, _ content: RowTable, _ rows: PendingRows, _ former: PolicyRecordFormer
    ) -> Bool {
        switch check.question {
        case .isThere: !isNull(cell, rows, former)
        case .passes(let test): isNull(cell, rows, former) || passes(test, cell, content, former)
        case .leads(let table, let numbers):
            isNull(cell, rows, former) || rows.leads(cell, to: table, of: numbers, from: &check.hint)
        }
    }

    private func isNull(_ cell: StoredCell, _ rows: PendingRows, _ former: PolicyRecordFormer) -> Bool {
        switch cell {
        case .null: true
        // A removed row isn't a target.
        case .temporary(let table, let index): rows.key(table: table, index: index) == nil
        case .carried(let cell): former.serialType(ofCarried: Int(cell)).isNull
        default: false
        }
    }

    private func passes(
        _ test: ValueTest, _ cell: StoredCell, _ content: RowTable, _ former: PolicyRecordFormer
    ) -> Bool {
        switch cell {
        case .integer(let value): test.surelyHolds(for: .integer(value))
        case .real(let value): test.surelyHolds(for: .real(value))
        case .text(let place): test.surelyHolds(forTextOf: Int(place.length))
        case .value(let index):
            if case .text(let text) = content.values[Int(index)] {
                test.surelyHolds(forTextOf: text.utf8.count)
            } else {
                false
            }
        case .carried(let cell):
            if let number = former.number(ofCarried: Int(cell)) {
                test.surelyHolds(for: number)
            } else {
                former.serialType(ofCarried: Int(cell)).isText
                    && test.surelyHolds(forTextOf: former.serialType(ofCarried: Int(cell)).length)
            }
        case .null, .temporary, .appended: false
        }
    }

    // MARK: - Saving

    func save(_ writer: inout FieldWriter) { doubts.save(&writer) }

    mutating func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        doubts.formUnion(try Set(from: &reader))
        for table in checks.indices { checks[table].removeAll { doubts.contains($0.place) } }
    }
}

/// Places of row checks.
extension Set<Int> {
    private static let maximumChecks = 10_000_000

    func save(_ writer: inout FieldWriter) {
        writer.write(count: count)
        for place in sorted() { writer.write(place) }
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        self = []
        for _ in 0..<(try reader.count(limit: Self.maximumChecks)) { insert(try reader.int()) }
    }
}
