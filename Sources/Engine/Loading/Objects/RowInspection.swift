import CausewayCheckpoint
import CausewayEvaluation
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
    /// A rule that hasn't been doubted yet.
    private struct Check {
        let question: RowQuestion
        /// Z_ENT of the rows that must fulfil it.
        let numbers: ClosedRange<Int>
        /// Where the last row that a link led to is among the batch's rows.
        var hint = 0
    }

    /// By the tables' places.
    private var checks: [[Check]]
    /// Places of the checks that need the scan, whatever rows may still come.
    private var doubts: Set<Int> = []
    private var targets: LinkTargets

    init(_ rules: ValidationRules, _ map: StorageMap) {
        checks = map.tables.map { _ in [] }
        targets = LinkTargets(entities: map.schema.entities.count, checks: rules.rowChecks.count)
        for (place, check) in rules.rowChecks.enumerated() {
            let table = rules.rules[check.rule].table
            let (name, kind): (String, RowQuestion.Kind) =
                switch check.condition {
                case .isNull(let column, _), .hasNoTarget(let column, _): (column, .isThere)
                case .fails(let test, let column, _): (column, .passes(test))
                case .isDangling(let column, let target, let numbers): (column, .leads(table: target, numbers: numbers))
                }
            if let column = map.tables[table].columns.firstIndex(where: { $0.name == name }) {
                checks[table].append(
                    Check(question: RowQuestion(place: place, column: column, kind: kind), numbers: check.numbers))
            } else {
                doubts.insert(place)
            }
        }
    }

    /// The rules of a table that haven't been doubted yet.
    func questions(ofTable table: Int) -> [RowQuestion] { checks[table].map(\.question) }

    /// The same for rows of one entity.
    func questions(ofTable table: Int, entity: Int32) -> [RowQuestion] {
        checks[table].filter { $0.numbers.contains(Int(entity)) }.map(\.question)
    }

    /// Whether all keys of rows and links were noted.
    var knowsLinks: Bool { targets.isComplete }

    /// Places of the checks that need the scan, once all rows are made.
    func finalDoubts() -> Set<Int> {
        var result = doubts
        for case (let place, .leads(_, let numbers)) in checks.joined().map({ ($0.question.place, $0.question.kind) })
        where !targets.allLead(place, to: numbers) {
            result.insert(place)
        }
        return result
    }

    // MARK: - Rows that workers have looked at

    /// Rules of a table that a worker doubts.
    mutating func doubt(_ places: Set<Int>, ofTable table: Int) {
        guard !places.isSubset(of: doubts) else { return }
        doubts.formUnion(places)
        checks[table].removeAll { doubts.contains($0.question.place) }
    }

    /// A row is made.
    mutating func note(row key: Int64, of entity: Int32) { targets.note(row: key, of: entity) }

    /// Links lead to rows that may still come.
    mutating func note(links: [Int64], of check: Int) {
        for key in links { targets.note(link: key, of: check) }
    }

    // MARK: - Rows in hand

    /// Begins with the rows of another batch.
    mutating func beginBatch(_ table: Int) {
        for index in checks[table].indices { checks[table][index].hint = 0 }
    }

    /// Looks at a row whose record was formed last.
    mutating func inspect(
        _ row: Int, of content: RowTable, _ table: Int, _ rows: PendingRows, _ former: PolicyRecordFormer
    ) {
        targets.note(row: content.keys[row], of: content.entities[row])
        var hasDoubts = false
        for index in checks[table].indices
        where checks[table][index].numbers.contains(Int(content.entities[row])) {
            let cell = content.cells[row * content.columnCount + checks[table][index].question.column]
            if Self.holds(&checks[table][index], cell, &targets, content, rows, former) { continue }
            doubts.insert(checks[table][index].question.place)
            hasDoubts = true
        }
        if hasDoubts { checks[table].removeAll { doubts.contains($0.question.place) } }
    }

    private static func holds(
        _ check: inout Check, _ cell: StoredCell, _ targets: inout LinkTargets, _ content: RowTable,
        _ rows: PendingRows, _ former: PolicyRecordFormer
    ) -> Bool {
        switch check.question.kind {
        case .isThere: return !isNull(cell, rows, former)
        case .passes(let test): return isNull(cell, rows, former) || passes(test, cell, content, former)
        case .leads(let table, let numbers):
            if isNull(cell, rows, former) || rows.leads(cell, to: table, of: numbers, from: &check.hint) { return true }
            guard let key = key(cell, rows, former) else { return false }
            targets.note(link: key, of: check.question.place)
            return true
        }
    }

    /// Where a link leads that isn't NULL.
    private static func key(_ cell: StoredCell, _ rows: PendingRows, _ former: PolicyRecordFormer) -> Int64? {
        switch cell {
        case .integer(let key): key
        case .temporary(let table, let index): rows.key(table: table, index: index)
        case .carried(let cell): former.integer(ofCarried: Int(cell))
        default: nil
        }
    }

    private static func isNull(_ cell: StoredCell, _ rows: PendingRows, _ former: PolicyRecordFormer) -> Bool {
        switch cell {
        case .null: true
        // A removed row isn't a target.
        case .temporary(let table, let index): rows.key(table: table, index: index) == nil
        case .carried(let cell): former.isNull(ofCarried: Int(cell))
        // Stored as NULL.
        case .real(let value): value.isNaN
        default: false
        }
    }

    private static func passes(
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

    /// What links lead to isn't saved: a run that goes on looks such links up.
    func save(_ writer: inout FieldWriter) {
        let linked = checks.joined().map(\.question.place).filter { targets.hasLinks(of: $0) }
        doubts.union(linked).save(&writer)
    }

    mutating func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        doubts.formUnion(try Set(from: &reader))
        for table in checks.indices { checks[table].removeAll { doubts.contains($0.question.place) } }
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
