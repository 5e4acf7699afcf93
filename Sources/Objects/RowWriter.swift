import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStoreFormat

/// Writes rows, changes and links into a store under construction.
final class RowWriter {
    /// Rows in one INSERT (InsideSpeed §2.1: at 32 almost all of the gain is had), and a bound on its parameters.
    private static let rowsPerStatement = 32
    private static let parametersPerStatement = 4_096

    let map: StorageMap
    let statements: StatementCache
    let keys: KeySource
    /// Z_OPT counts every change of a stored row, as Core Data's saves do.
    private let countsChanges: Bool
    private lazy var view = RowView(capacity: Self.viewCapacity)
    /// Columns of any source table at most: SQLite's own limit.
    static let viewCapacity = 2_000
    /// Columns with places in ordered relationships, by table.
    let placeColumns: [[Int]]

    init(map: StorageMap, statements: StatementCache, keys: KeySource, countsChanges: Bool) {
        self.map = map
        self.statements = statements
        self.keys = keys
        self.countsChanges = countsChanges
        placeColumns = map.layout.tables.map { table in
            table.columns.indices.filter { index in
                switch table.columns[index].role {
                case .orderKey, .virtualOrderKey: true
                default: false
                }
            }
        }
    }

    /// Gives keys to new rows in the order in which they were made, then writes everything.
    func write(_ rows: inout PendingRows) throws(ObjectError) {
        for table in rows.tables.indices { try giveKeys(in: table, &rows) }
        for table in rows.tables.indices where rows.tables[table].hasChanges {
            do {
                try givePlaces(in: table, &rows)
                // What is gone first: a new row may have the values that must be unique.
                try delete(table, rows)
                try update(table, rows)
                try insert(table, rows)
            } catch let error as SQLiteError {
                throw ObjectError(error, during: "table \(map.tables[table].name.name)")
            } catch let error as RecordError {
                throw ObjectError(.store, "table \(map.tables[table].name.name): \(error.message)")
            } catch {
                throw ObjectError(.store, "table \(map.tables[table].name.name): \(error)")
            }
        }
        for change in rows.linkChanges {
            do {
                try apply(change, rows)
            } catch {
                throw ObjectError(error, during: "a join table")
            }
        }
    }

    private func giveKeys(in table: Int, _ rows: inout PendingRows) throws(ObjectError) {
        for row in 0..<rows.tables[table].count where rows.tables[table].states[row].contains(.inserted) {
            let key = rows.tables[table].keys[row]
            if key != 0 {
                keys.keys.take(key, in: table)
            } else if !rows.tables[table].isRemoved(row) {
                rows.tables[table].give(key: try keys.keys.next(in: table), to: row)
            }
        }
    }

    /// A stored row was deleted.
    func countDeleted(_ entity: Int32) {
        keys.rowCounts[entity, default: 0] -= 1
    }

    // MARK: - Rows

    private func delete(_ table: Int, _ rows: PendingRows) throws(SQLiteError) {
        let doomed = rows.tables[table].deletedKeys.sorted()
        guard !doomed.isEmpty else { return }
        let box = try statements.statement("DELETE FROM \(map.tables[table].name) WHERE \"Z_PK\" = ?")
        for key in doomed {
            try box.statement.bind(key, at: 1)
            try box.statement.run()
        }
    }

    private func insert(_ table: Int, _ rows: PendingRows) throws {
        let content = rows.tables[table]
        let new = (0..<content.count).filter { content.isNew($0) }
        guard !new.isEmpty else { return }
        for row in new { keys.rowCounts[content.entities[row], default: 0] += 1 }
        let columns = content.columnCount
        let many = max(1, min(Self.rowsPerStatement, Self.parametersPerStatement / columns))
        var index = 0
        while index < new.count {
            let count = new.count - index >= many ? many : 1
            let box = try statements.statement(insertSQL(table, rows: count))
            for offset in 0..<count {
                try bind(new[index + offset], of: table, rows, to: box, from: offset * columns + 1)
            }
            try box.statement.run()
            // Bound cells point into the batch, which is recycled.
            box.statement.clearBindings()
            index += count
        }
    }

    private func insertSQL(_ table: Int, rows: Int) -> String {
        let storage = map.tables[table]
        let row = "(" + Array(repeating: "?", count: storage.columns.count).joined(separator: ",") + ")"
        return "INSERT INTO \(storage.name) (\(storage.columns.map(\.quoted).joined(separator: ","))) VALUES "
            + Array(repeating: row, count: rows).joined(separator: ",")
    }

    private func bind(
        _ row: Int, of table: Int, _ rows: PendingRows, to box: StatementBox, from position: Int
    ) throws {
        var source: RowView?
        for column in 0..<rows.tables[table].columnCount {
            if column == TableStorage.primaryKey {
                try box.statement.bind(rows.tables[table].keys[row], at: position)
                continue
            }
            let cell = rows.tables[table].cell(row, column)
            if case .carried(let index) = cell {
                if source == nil { source = try sourceRow(of: row, in: table, rows) }
                guard let source else { continue }
                try bind(carried: Int(index), of: source, to: box, at: position + column)
            } else {
                try bind(cell, column: column, of: table, rows, to: box, at: position + column)
            }
        }
    }

    private func sourceRow(of row: Int, in table: Int, _ rows: PendingRows) throws(RecordError) -> RowView {
        guard let batch = rows.batch else { preconditionFailure("carried cells come with their batch") }
        try view.load(Int(rows.tables[table].sourceRows[row]), of: batch)
        return view
    }

    private func bind(
        carried cell: Int, of row: RowView, to box: StatementBox, at position: Int
    ) throws(SQLiteError) {
        let type = row.serialType(at: cell)
        if type.isNull {
            try box.statement.bindNull(at: position)
        } else if let integer = row.integer(at: cell) {
            try box.statement.bind(integer, at: position)
        } else if let real = row.real(at: cell) {
            try box.statement.bind(real, at: position)
        } else if type.isText {
            try unsafe box.statement.bindText(borrowing: row.unsafeBytes(at: cell), at: position)
        } else {
            try unsafe box.statement.bindBlob(borrowing: row.unsafeBytes(at: cell), at: position)
        }
    }

    private func bind(
        _ cell: Cell, column: Int, of table: Int, _ rows: PendingRows, to box: StatementBox, at position: Int
    ) throws(SQLiteError) {
        switch cell {
        case .null: try box.statement.bindNull(at: position)
        case .integer(let value): try box.statement.bind(value, at: position)
        case .real(let value): try box.statement.bind(value, at: position)
        case .text(let value): try box.statement.bind(value, at: position)
        case .blob(let value): try box.statement.bind(value, at: position)
        case .temporary(let table, let index):
            let other = rows.tables[Int(table)]
            // A row that was taken back is nobody's target.
            if other.isRemoved(Int(index)) {
                try box.statement.bindNull(at: position)
            } else {
                try box.statement.bind(other.keys[Int(index)], at: position)
            }
        case .appended: preconditionFailure("places are given before rows are written")
        case .carried: preconditionFailure("carried cells are bound from their record")
        }
    }

    private func update(_ table: Int, _ rows: PendingRows) throws {
        let content = rows.tables[table]
        let storage = map.tables[table]
        for (row, changed) in content.changes.sorted(by: { $0.key < $1.key }) {
            let columns = changed.sorted()
            var sets = columns.map { "\(storage.columns[$0]) = ?" }
            if countsChanges { sets.append("\"Z_OPT\" = \"Z_OPT\" + 1") }
            let box = try statements.statement(
                "UPDATE \(storage.name) SET \(sets.joined(separator: ", ")) WHERE \"Z_PK\" = ?")
            for (index, column) in columns.enumerated() {
                try bind(content.cell(row, column), column: column, of: table, rows, to: box, at: index + 1)
            }
            try box.statement.bind(content.keys[row], at: columns.count + 1)
            try box.statement.run()
        }
    }
}
