import CausewayEvaluation
package import CausewayObjects
package import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile

/// Writes the rows of policies and handlers with statements, each compiled when it is first needed.
package final class StatementPolicyRowOutput: PolicyRowOutput {
    /// Rows in one INSERT (InsideSpeed §2.1: 32 gives almost all of the gain), and a bound on its parameters.
    private static let rowsPerStatement = 32
    private static let parametersPerStatement = 4_096

    private let map: StorageMap
    private let access: StoreAccess
    /// Z_OPT counts every change of a stored row, as Core Data's saves do.
    private let countsChanges: Bool
    /// Finds carried cells.
    private let source = RowView(capacity: PendingRows.maximumCells)
    private var tables: [TableStatements]
    private var links: LinkStatements

    /// The statements of one entity table.
    private struct TableStatements {
        var insertOne: StatementBox?
        var insertMany: StatementBox?
        var delete: StatementBox?
        /// By the changed columns.
        var updates: [Set<Int>: (columns: [Int], box: StatementBox)] = [:]
    }

    /// - Parameters:
    ///   - map: of the store under construction.
    ///   - access: its connection; called only on the writing thread.
    ///   - countsChanges: whether Z_OPT counts.
    package init(_ map: StorageMap, _ access: StoreAccess, countsChanges: Bool = false) {
        self.map = map
        self.access = access
        self.countsChanges = countsChanges
        tables = map.tables.map { _ in TableStatements() }
        links = LinkStatements(access)
    }

    package func close() {
        tables = []
        links = LinkStatements(access)
    }

    package func write(_ rows: PendingRows) throws(ObjectError) {
        for table in rows.tables.indices where rows.tables[table].hasChanges {
            do {
                try delete(table, rows.tables[table])
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
    }

    package func largestPlace(table: Int, column: Int) -> Int64? { nil }

    package func write(_ link: LinkWrite) throws(ObjectError) {
        do throws(SQLiteError) {
            try links.write(link)
        } catch {
            throw ObjectError(error, during: "a join table")
        }
    }

    // MARK: - Statements

    /// This statement, reset, with the bindings of its last use.
    private func statement(
        _ place: WritableKeyPath<TableStatements, StatementBox?>, of table: Int, _ sql: () -> String
    ) throws(SQLiteError) -> StatementBox {
        if let box = tables[table][keyPath: place] {
            box.statement.reset()
            return box
        }
        let box = StatementBox(try access.prepare(sql()))
        tables[table][keyPath: place] = box
        return box
    }

    private func insertSQL(_ table: Int, rows: Int) -> String {
        let storage = map.tables[table]
        let row = "(" + Array(repeating: "?", count: storage.columns.count).joined(separator: ",") + ")"
        return "INSERT INTO \(storage.name) (\(storage.columns.map(\.quoted).joined(separator: ","))) VALUES "
            + Array(repeating: row, count: rows).joined(separator: ",")
    }

    private func updating(
        _ changed: Set<Int>, of table: Int
    ) throws(SQLiteError) -> (columns: [Int], box: StatementBox) {
        if let update = tables[table].updates[changed] {
            update.box.statement.reset()
            return update
        }
        let storage = map.tables[table]
        let columns = changed.sorted()
        var sets = columns.map { "\(storage.columns[$0]) = ?" }
        if countsChanges { sets.append("\"Z_OPT\" = \"Z_OPT\" + 1") }
        let sql = "UPDATE \(storage.name) SET \(sets.joined(separator: ", ")) WHERE \"Z_PK\" = ?"
        let update = (columns, StatementBox(try access.prepare(sql)))
        tables[table].updates[changed] = update
        return update
    }

    // MARK: - Rows

    private func delete(_ table: Int, _ content: RowTable) throws(SQLiteError) {
        guard !content.deletedKeys.isEmpty else { return }
        let box = try statement(\.delete, of: table) { "DELETE FROM \(map.tables[table].name) WHERE \"Z_PK\" = ?" }
        for key in content.deletedKeys.sorted() {
            try box.statement.bind(key, at: 1)
            try box.statement.run()
        }
    }

    private func update(_ table: Int, _ rows: PendingRows) throws {
        let content = rows.tables[table]
        try unsafe content.texts.withUnsafeBytes { texts in
            for (row, changed) in content.changes.sorted(by: { $0.key < $1.key }) {
                let (columns, box) = try updating(changed, of: table)
                for (index, column) in columns.enumerated() {
                    let cell = content.cells[row * content.columnCount + column]
                    try unsafe Self.bind(cell, of: content, texts, rows, to: &box.statement, at: index + 1)
                }
                try box.statement.bind(content.keys[row], at: columns.count + 1)
                try box.statement.run()
                // Bound texts lie in the rows, which are recycled.
                box.statement.clearBindings()
            }
        }
    }

    private func insert(_ table: Int, _ rows: PendingRows) throws {
        let content = rows.tables[table]
        try unsafe content.texts.withUnsafeBytes { texts in
            var done = 0
            while done < content.newRows.count { done = unsafe try insert(table, content, from: done, texts, rows) }
        }
    }

    /// Inserts as many new rows as one statement takes; returns the first that is left.
    private func insert(
        _ table: Int, _ content: RowTable, from first: Int, _ texts: UnsafeRawBufferPointer, _ rows: PendingRows
    ) throws -> Int {
        let columns = content.columnCount
        let many = max(1, min(Self.rowsPerStatement, Self.parametersPerStatement / columns))
        let isMany = content.newRows.count - first >= many
        let box = try statement(isMany ? \.insertMany : \.insertOne, of: table) {
            insertSQL(table, rows: isMany ? many : 1)
        }
        let end = first + (isMany ? many : 1)
        for next in first..<end {
            let position = 1 + (next - first) * columns
            unsafe try bind(content.newRows[next], of: content, texts, rows, to: &box.statement, from: position)
        }
        try box.statement.run()
        // Bound cells point into the batch and the rows, which are recycled.
        box.statement.clearBindings()
        return end
    }

    private func bind(
        _ row: Int, of content: RowTable, _ texts: UnsafeRawBufferPointer, _ rows: PendingRows,
        to statement: inout Statement, from position: Int
    ) throws {
        let first = row * content.columnCount
        var isLoaded = false
        try statement.bind(content.keys[row], at: position + TableStorage.primaryKey)
        for column in TableStorage.primaryKey + 1..<content.columnCount {
            let cell = content.cells[first + column]
            guard case .carried(let index) = cell else {
                unsafe try Self.bind(cell, of: content, texts, rows, to: &statement, at: position + column)
                continue
            }
            if !isLoaded {
                guard let batch = rows.batch else { preconditionFailure("carried cells come with their batch") }
                try source.load(Int(content.sourceRows[row]), of: batch)
                isLoaded = true
            }
            try statement.bind(cell: Int(index), of: source, at: position + column)
        }
    }

    /// `texts` has the bytes of the table's texts; SQLite reads them in place.
    private static func bind(
        _ cell: StoredCell, of content: RowTable, _ texts: UnsafeRawBufferPointer, _ rows: PendingRows,
        to statement: inout Statement, at position: Int
    ) throws(SQLiteError) {
        switch cell {
        case .null: try statement.bindNull(at: position)
        case .integer(let value): try statement.bind(value, at: position)
        case .real(let value): try statement.bind(value, at: position)
        case .text(let place):
            let text = unsafe UnsafeRawBufferPointer(rebasing: texts[place.range])
            unsafe try statement.bindText(borrowing: text, at: position)
        case .value(let index): try bind(content.values[Int(index)], to: &statement, at: position)
        case .temporary(let table, let index):
            // A removed row isn't a target.
            if let key = rows.key(table: table, index: index) {
                try statement.bind(key, at: position)
            } else {
                try statement.bindNull(at: position)
            }
        case .appended: preconditionFailure("places are given before rows are written")
        case .carried: preconditionFailure("carried cells are bound from their record")
        }
    }

    private static func bind(
        _ value: CellValue, to statement: inout Statement, at position: Int
    ) throws(SQLiteError) {
        switch value {
        case .null: try statement.bindNull(at: position)
        case .integer(let value): try statement.bind(value, at: position)
        case .real(let value): try statement.bind(value, at: position)
        case .text(let value): try statement.bind(value, at: position)
        case .blob(let value): try statement.bind(value, at: position)
        }
    }
}
