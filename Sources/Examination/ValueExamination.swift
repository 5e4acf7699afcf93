import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Every value of an entity table against the model: storage class, encoding, range, and whether it may be NULL.
///
/// One scan per table, whatever the number of its columns and entities. A row is checked while it is read; only its key
/// is kept.
struct ValueExamination {
    private static let rowsPerCheck = 4_096

    let examination: StoreExamination
    let layout: StoreLayout
    let table: EntityTable
    /// Z_ENT values of the table's entities.
    private let numbers: ClosedRange<Int>
    private let columns: [ExaminedColumn]
    /// The checks of every row, without reference-counted values.
    private let questions: [(form: CellForm, isMandatory: Bool)]
    /// Places in `columns` that a row has, by its Z_ENT.
    private let places: [[Int]]

    /// nil for a table whose entities have no numbers, or without the columns that tell its rows.
    init?(_ examination: StoreExamination, _ layout: StoreLayout, _ table: EntityTable) {
        guard let numbers = layout.numbers(ofTree: table.rootEntity),
            [.primaryKey, .entityNumber].allSatisfy({ role in table.columns.contains { $0.role == role } })
        else { return nil }
        self.examination = examination
        self.layout = layout
        self.table = table
        self.numbers = numbers
        let columns = ExaminedColumn.all(of: table, layout)
        self.columns = columns
        questions = columns.map { ($0.form, $0.isMandatory) }
        places = numbers.map { number in columns.indices.filter { columns[$0].numbers.contains(number) } }
    }

    func run(_ report: inout StoreExamination.Report) throws(EngineError) {
        var found = Found(faults: Array(repeating: FaultyCells(), count: columns.count))
        // Findings before an unreadable page count too.
        try examination.attempt(table.name, &report) { _ throws in try scan(&found) }
        report.rows += found.rows
        report.findings += findings(found)
    }

    /// What a scan has found.
    private struct Found {
        var rows = 0
        /// Rows of no entity of the table.
        var strangers = FoundRows()
        /// Rows with keys that Core Data never gives.
        var lowKeys = FoundRows()
        var faults: [FaultyCells]
    }

    private func scan(_ found: inout Found) throws {
        let store = examination.store
        let cells = try columns.map { $0.form.selected(try SQLIdentifier($0.name)) }
        var statement = try store.connection.prepare(
            "SELECT \((["Z_PK", "Z_ENT"] + cells).joined(separator: ", ")) FROM \(try SQLIdentifier(table.name))")
        let lowest = numbers.lowerBound
        while try statement.step() {
            if found.rows.isMultiple(of: Self.rowsPerCheck) { try examination.cancellation.check() }
            found.rows += 1
            let key = statement.int64(at: 0)
            if key < 1 { found.lowKeys.add(key) }
            let number = Int(clamping: statement.int64(at: 1))
            guard statement.type(at: 1) == .integer, numbers.contains(number) else {
                found.strangers.add(key)
                continue
            }
            for place in places[number - lowest] {
                guard let fault = fault(at: place, in: statement, isUTF8: store.isUTF8) else { continue }
                found.faults[place].add(fault, key)
            }
        }
    }

    /// Result columns before the first examined one.
    private static let firstCell = 2

    private func fault(at place: Int, in row: borrowing Statement, isUTF8: Bool) -> CellFault? {
        let (form, isMandatory) = questions[place]
        let found = form.storageClass(row, at: place + Self.firstCell)
        guard found == .null else { return form.fault(row, at: place + Self.firstCell, found, isUTF8: isUTF8) }
        guard isMandatory else { return nil }
        let around = columns[place].around
        if around.isEmpty { return .missing }
        let isThere = around.contains { other in
            questions[other].form.storageClass(row, at: other + Self.firstCell) != .null
        }
        return isThere ? .missing : nil
    }

    // MARK: - Findings

    private func findings(_ found: Found) -> [StoreFinding] {
        var findings: [StoreFinding] = []
        func add(
            _ kind: StoreFinding.Kind, _ entity: String, _ property: String?, _ complaint: String, _ rows: FoundRows
        ) {
            if rows.count > 0 { findings.append(StoreFinding(kind, entity, property, complaint, rows)) }
        }
        add(
            .unknownEntity, table.rootEntity, nil,
            "and its table \(table.name): Z_ENT names no entity of the table", found.strangers)
        add(
            .primaryKeys, table.rootEntity, nil,
            "and its table \(table.name): Z_PK is below 1, which no object can have,", found.lowKeys)
        for (column, faults) in zip(columns, found.faults) {
            let (entity, property) = (column.entity, column.property)
            for (other, rows) in faults.classes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let what = other == .blob && column.form == .uuid ? "blobs of another length" : other.described
                add(.storageClass, entity, property, "holds \(what), not \(column.form.expected),", rows)
            }
            add(.invalidText, entity, property, "holds text that isn't valid UTF-8", faults.encoding)
            add(.outOfRange, entity, property, column.form.rangeComplaint, faults.range)
            add(.missingValue, entity, property, "is mandatory, but NULL,", faults.missing)
        }
        return findings
    }
}

/// What is wrong with a column's cells.
private struct FaultyCells {
    var classes: [StorageClass: FoundRows] = [:]
    var encoding = FoundRows()
    var range = FoundRows()
    var missing = FoundRows()

    mutating func add(_ fault: CellFault, _ key: Int64) {
        switch fault {
        case .storageClass(let found): classes[found, default: FoundRows()].add(key)
        case .encoding: encoding.add(key)
        case .range: range.add(key)
        case .missing: missing.add(key)
        }
    }
}
