package import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewaySQLite
package import CausewaySQLiteFile

/// Cells of the current row, of new rows and of stored rows.
extension ObjectContext {
    /// Moves to a row of a source batch, on which `view` stands. `cells` are its cells by column of its table, −1 where
    /// it wasn't selected; `row` is its place in the batch.
    package func stand(on object: ObjectID, view: RowView, cells: [Int], row: Int) {
        if current?.view === view, current?.object.entity == object.entity {
            current?.move(to: object, row: Int32(row))
        } else {
            current = CurrentRow(object: object, view: view, cells: cells, row: Int32(row))
        }
    }

    /// In a destination context: new rows carry their cells from the same row of the same batch.
    package func follow(_ source: ObjectContext) {
        guard let row = source.current else {
            if current != nil { ownLinkChanges = linkChanges.count }
            current = nil
            return
        }
        if row.object != current?.object || row.row != current?.row { ownLinkChanges = linkChanges.count }
        if current?.view === row.view, current?.object.entity == row.object.entity {
            current?.move(to: row.object, row: row.row)
        } else {
            current = row
        }
    }

    /// The table and the place of a row, read from the store if need be.
    func locate(_ object: ObjectID) throws(ObjectError) -> (table: Int, row: Int) {
        guard let table = map.table(of: object.entity) else {
            throw ObjectError(.missing, "\(name(object)): the \(side) model has no such entity")
        }
        if isDetached, object.key < 0 {
            let row = Int(-(object.key + 1))
            guard row < tables[table].count, !tables[table].isRemoved(row) else {
                throw ObjectError(.missing, "\(name(object)) is gone: it was deleted, or its batch is written")
            }
            try requireOwn(object, table, row)
            return (table, row)
        }
        if let row = tables[table].index(of: object.key) {
            try requireOwn(object, table, row)
            return (table, row)
        }
        return (table, try load(object, table: table))
    }

    /// On a worker, only the current row's objects are visible: other rows in memory depend on the batch size.
    private func requireOwn(_ object: ObjectID, _ table: Int, _ row: Int) throws(ObjectError) {
        guard isDetached, tables[table].sourceRows[row] != current?.row ?? -1 else { return }
        throw Self.detached(name(object))
    }

    static func detached(_ name: String) -> ObjectError {
        ObjectError(
            .detached, "\(name): an independent policy sees the objects of its own row only; make it dependent")
    }

    /// The stored keys of a range of rows of exactly this entity, in their order.
    package func keys(of entity: Int32, from first: Int64, through last: Int64) throws(ObjectError) -> [Int64] {
        guard let table = map.table(of: entity) else { return [] }
        guard let statements else {
            asked.others = true
            return []
        }
        return try ObjectError.at(map.name(of: entity)) {
            let box = try statements.statement(
                """
                SELECT "Z_PK" FROM \(map.tables[table].name) WHERE "Z_PK" BETWEEN ? AND ? AND "Z_ENT" = ? \
                ORDER BY "Z_PK"
                """,
                first, last, Int64(entity))
            return try box.statement.rows { row throws(SQLiteError) in row.int64(at: 0) }
        }
    }

    /// Whether the row is there.
    package func exists(_ object: ObjectID) throws(ObjectError) -> Bool {
        guard let table = map.table(of: object.entity) else { return false }
        // A source's row in hand; a destination's context has the source's.
        if current?.object == object { return true }
        if tables[table].index(of: object.key) != nil { return true }
        if isDetached, object.key < 0 {
            let row = Int(-(object.key + 1))
            return row < tables[table].count && !tables[table].isRemoved(row)
        }
        guard let statements else {
            asked.others = true
            return false
        }
        if tables[table].deletedKeys.contains(object.key) { return false }
        return try ObjectError.at(name(object)) {
            let sql = "SELECT 1 FROM \(map.tables[table].name) WHERE \"Z_PK\" = ?"
            return try statements.statement(sql, object.key).number() != nil
        }
    }

    private func load(_ object: ObjectID, table: Int) throws(ObjectError) -> Int {
        guard let statements else {
            asked.others = true
            throw Self.detached(name(object))
        }
        if tables[table].deletedKeys.contains(object.key) {
            throw ObjectError(.missing, "\(name(object)) was deleted")
        }
        try makeRoom(in: table)
        let storage = map.tables[table]
        return try ObjectError.at(name(object)) {
            let columns = storage.columns.map(\.quoted).joined(separator: ", ")
            let box = try statements.statement("SELECT \(columns) FROM \(storage.name) WHERE \"Z_PK\" = ?", object.key)
            guard try box.statement.step() else {
                throw ObjectError(.missing, "\(name(object)) isn't in the \(side) store")
            }
            let row = try append(box.statement, to: table)
            box.statement.reset()
            return row
        }
    }

    /// Adds the current row of a statement that reads all columns of the table.
    func append(_ statement: borrowing Statement, to table: Int) throws(SQLiteError) -> Int {
        let key = statement.int64(at: TableStorage.primaryKey)
        if let row = tables[table].index(of: key) { return row }
        // Read first: a row whose texts can't be read isn't held.
        let cells = try map.tables[table].columns.indices.map { column throws(SQLiteError) in
            try Self.cell(of: statement, at: column)
        }
        let row = tables[table].append(
            key: key, entity: Int32(truncatingIfNeeded: statement.int64(at: TableStorage.entityNumber)), state: [],
            sourceRow: -1, template: repeatElement(.null, count: cells.count))
        for column in cells.indices { tables[table].fill(row, column, with: cells[column]) }
        return row
    }

    private static func cell(of statement: borrowing Statement, at column: Int) throws(SQLiteError) -> Cell {
        switch statement.type(at: column) {
        case .null: .null
        case .integer: .integer(statement.int64(at: column))
        case .real: .real(statement.double(at: column))
        case .text: .text(try statement.string(at: column) ?? "")
        case .blob: .blob(statement.bytes(at: column) ?? [])
        }
    }

    /// The cell of a column: NULL and numbers as they are, texts and blobs copied.
    func cell(_ object: ObjectID, column: Int) throws(ObjectError) -> Cell {
        if let place = currentCell(object, column) { return try Self.cell(of: place.view, at: place.cell) }
        let (table, row) = try locate(object)
        // Only what the cell is: the whole table's references would be counted for it.
        let index: Int32
        switch tables[table].cells[row * tables[table].columnCount + column] {
        case .carried(let cell): index = cell
        case .null: return .null
        case .integer(let value): return .integer(value)
        default: return tables[table].cell(row, column)
        }
        let sourceRow = tables[table].sourceRows[row]
        if let current, current.row == sourceRow { return try Self.cell(of: current.view, at: Int(index)) }
        // Made from an earlier row of the batch.
        guard let sourceBatch else {
            throw ObjectError(.missing, "\(name(object)) isn't written yet, and its source row is no longer in hand")
        }
        do {
            try spareView.load(Int(sourceRow), of: sourceBatch)
        } catch {
            throw ObjectError(.store, "\(name(object)): \(error.message)")
        }
        return try Self.cell(of: spareView, at: Int(index))
    }

    /// Where a cell of the current row is; nil for another row's, and for one that wasn't selected.
    func currentCell(_ object: ObjectID, _ column: Int) -> (view: RowView, cell: Int)? {
        guard current?.object == object, let current, current.cells[column] >= 0 else { return nil }
        return (current.view, current.cells[column])
    }

    private static func cell(of view: RowView, at index: Int) throws(ObjectError) -> Cell {
        if view.isNull(at: index) { return .null }
        if let integer = view.integer(at: index) { return .integer(integer) }
        if let real = view.real(at: index) { return .real(real) }
        let bytes = unsafe view.unsafeBytes(at: index)
        guard view.serialType(at: index).isText else { return unsafe .blob(Array(bytes)) }
        guard let text = unsafe TextScalars.text(of: bytes) else {
            throw invalidText
        }
        return .text(text)
    }

    /// Changes a cell of a row that is new or stored.
    func setCell(_ object: ObjectID, column: Int, to cell: Cell) throws(ObjectError) {
        try requireChangeable(object)
        let (table, row) = try locate(object)
        tables[table].set(row, column, to: cell)
    }

    /// Fills a cell of the new row with the source's, bytes unchanged.
    package func carry(_ cell: Int, to object: ObjectID, column: Int) throws(ObjectError) {
        let (table, row) = try locate(object)
        // An expression's look-up may have written the row meanwhile: then it isn't in the batch any more.
        guard !tables[table].isNew(row), let current else {
            return try setCell(object, column: column, to: .carried(Int32(cell)))
        }
        try setCell(object, column: column, to: try Self.cell(of: current.view, at: cell))
    }

    /// Fills cells of the new row with the source's, bytes unchanged.
    func carry(_ columns: ArraySlice<CarriedColumn>, to object: ObjectID) throws(ObjectError) {
        try requireChangeable(object)
        let (table, row) = try locate(object)
        if tables[table].isNew(row) { return tables[table].carry(columns, to: row) }
        for each in columns { try carry(Int(each.cell), to: object, column: each.column) }
    }

    /// Remembers the order in which rows got places.
    func notePlace(_ object: ObjectID, column: Int) throws(ObjectError) {
        let (table, row) = try locate(object)
        tables[table].notePlace(row, column)
    }
}
