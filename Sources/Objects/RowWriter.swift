import CausewaySQLite
import CausewaySQLiteFile

/// Writes rows, changes and links into a store under construction.
final class RowWriter {
    /// Rows in one INSERT (performance.md §2.1: at 32 almost all of the gain is had), and a bound on its parameters.
    private static let rowsPerStatement = 32
    private static let parametersPerStatement = 4_096

    private let map: StorageMap
    private let statements: StatementCache
    private let keys: KeySource
    /// Z_OPT counts every change of a stored row, as Core Data's saves do.
    private let countsChanges: Bool
    private var readers: [Int: RecordReader] = [:]
    /// Columns of any source table at most: SQLite's own limit.
    private static let readerCapacity = 2_000

    init(map: StorageMap, statements: StatementCache, keys: KeySource, countsChanges: Bool) {
        self.map = map
        self.statements = statements
        self.keys = keys
        self.countsChanges = countsChanges
    }

    /// Gives keys to new rows in the order in which they were made, then writes everything.
    func write(_ rows: inout PendingRows) throws(ObjectError) {
        for table in rows.tables.indices { giveKeys(in: table, &rows) }
        for table in rows.tables.indices {
            do {
                try insert(table, rows)
                try update(table, rows)
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

    private func giveKeys(in table: Int, _ rows: inout PendingRows) {
        for row in 0..<rows.tables[table].count where rows.tables[table].states[row].contains(.inserted) {
            let key = rows.tables[table].keys[row]
            if key != 0 {
                keys.keys.take(key, in: table)
            } else if !rows.tables[table].isRemoved(row) {
                rows.tables[table].give(key: keys.keys.next(in: table), to: row)
            }
        }
    }

    // MARK: - Rows

    private func insert(_ table: Int, _ rows: PendingRows) throws {
        let content = rows.tables[table]
        let new = (0..<content.count).filter { content.states[$0].contains(.inserted) && !content.isRemoved($0) }
        guard !new.isEmpty else { return }
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
        var reader: RecordReader?
        for column in 0..<rows.tables[table].columnCount {
            if column == TableStorage.primaryKey {
                try box.statement.bind(rows.tables[table].keys[row], at: position)
                continue
            }
            let cell = rows.tables[table].cell(row, column)
            if case .carried(let index) = cell {
                if reader == nil { reader = try self.reader(for: row, of: table, rows) }
                guard let reader else { continue }
                try bind(carried: Int(index), of: reader, to: box, at: position + column)
            } else {
                try bind(cell, column: column, of: table, rows, to: box, at: position + column)
            }
        }
    }

    private func reader(for row: Int, of table: Int, _ rows: PendingRows) throws(RecordError) -> RecordReader {
        let reader = readers[0] ?? RecordReader(capacity: Self.readerCapacity)
        readers[0] = reader
        guard let batch = rows.batch else { preconditionFailure("carried cells come with their batch") }
        try unsafe reader.load(batch.record(at: Int(rows.tables[table].sourceRows[row])))
        return reader
    }

    private func bind(
        carried cell: Int, of reader: RecordReader, to box: StatementBox, at position: Int
    ) throws(SQLiteError) {
        let type = reader.serialType(at: cell)
        if type.isNull {
            try box.statement.bindNull(at: position)
        } else if let integer = reader.integer(at: cell) {
            try box.statement.bind(integer, at: position)
        } else if let real = reader.real(at: cell) {
            try box.statement.bind(real, at: position)
        } else if type.isText {
            try unsafe box.statement.bindText(borrowing: reader.unsafeBytes(at: cell), at: position)
        } else {
            try unsafe box.statement.bindBlob(borrowing: reader.unsafeBytes(at: cell), at: position)
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
            try box.statement.bind(rows.tables[Int(table)].keys[Int(index)], at: position)
        case .appended:
            let storage = map.tables[table]
            try box.statement.bind(try nextPlace(storage.name, storage.columns[column]), at: position)
        case .carried: preconditionFailure("carried cells are bound from their record")
        }
    }

    private func update(_ table: Int, _ rows: PendingRows) throws {
        let content = rows.tables[table]
        let storage = map.tables[table]
        for (row, changed) in content.changes.sorted(by: { $0.key < $1.key }) where !content.isRemoved(row) {
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

    // MARK: - Links

    private func apply(_ change: LinkChange, _ rows: PendingRows) throws(SQLiteError) {
        switch change {
        case .insert(let link, let mine, let theirs, let place):
            var columns = [link.mine, link.theirs]
            var values = [key(mine, rows), key(theirs, rows)]
            if let column = link.placeOfTheirs {
                columns.append(column)
                if let place { values.append(place) } else { values.append(try nextPlace(link.table, column)) }
            }
            if let column = link.placeOfMine {
                columns.append(column)
                values.append(try nextPlace(link.table, column))
            }
            let names = columns.map(\.quoted).joined(separator: ", ")
            let parameters = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            // A link that stands already, from this side or the other, stays one.
            let turned = link.isReflexive ? " OR (\(link.mine) = ?2 AND \(link.theirs) = ?1)" : ""
            let box = try statements.statement(
                """
                INSERT INTO \(link.table) (\(names)) SELECT \(parameters) WHERE NOT EXISTS (SELECT 1 FROM \(link.table) \
                WHERE (\(link.mine) = ?1 AND \(link.theirs) = ?2)\(turned))
                """)
            for (index, value) in values.enumerated() { try box.statement.bind(value, at: index + 1) }
            try box.statement.run()
        case .remove(let link, let mine, let theirs):
            let turned = link.isReflexive ? " OR (\(link.mine) = ?2 AND \(link.theirs) = ?1)" : ""
            let box = try statements.statement(
                "DELETE FROM \(link.table) WHERE (\(link.mine) = ?1 AND \(link.theirs) = ?2)\(turned)")
            try box.statement.bind(key(mine, rows), at: 1)
            try box.statement.bind(key(theirs, rows), at: 2)
            try box.statement.run()
        case .removeAll(let link, let mine):
            let turned = link.isReflexive ? " OR \(link.theirs) = ?1" : ""
            let box = try statements.statement("DELETE FROM \(link.table) WHERE \(link.mine) = ?1\(turned)")
            try box.statement.bind(key(mine, rows), at: 1)
            try box.statement.run()
        }
    }

    private func key(_ reference: RowReference, _ rows: PendingRows) -> Int64 {
        switch reference {
        case .key(let key): key
        case .temporary(let table, let index): rows.tables[Int(table)].keys[Int(index)]
        }
    }

    /// The place after every place of the column: an ordered relationship's members sort as they were added.
    private func nextPlace(_ table: SQLIdentifier, _ column: SQLIdentifier) throws(SQLiteError) -> Int64 {
        let key = KeySource.PlaceColumn(table: table.name, column: column.name)
        var last = keys.places[key]
        if last == nil {
            let box = try statements.statement("SELECT max(\(column)) FROM \(table)")
            last = try box.statement.step() ? box.statement.int64(at: 0) : 0
            box.statement.reset()
        }
        let next = max(last ?? 0, OrderPlace.step) + OrderPlace.step
        keys.places[key] = next
        return next
    }
}
