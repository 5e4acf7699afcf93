import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile

/// Join tables, and places in ordered relationships.
extension RowWriter {
    // MARK: - Join tables

    func apply(_ change: LinkChange, _ rows: PendingRows) throws(SQLiteError) {
        switch change {
        case .insert(let link, let mine, let theirs, let place):
            // A row that was taken back has no links.
            guard let mine = key(mine, rows), let theirs = key(theirs, rows) else { return }
            try insert(link, mine, theirs, place: place)
        case .remove(let link, let mine, let theirs):
            guard let mine = key(mine, rows), let theirs = key(theirs, rows) else { return }
            let turned = link.isReflexive ? " OR (\(link.mine) = ?2 AND \(link.theirs) = ?1)" : ""
            try run(
                "DELETE FROM \(link.table) WHERE (\(link.mine) = ?1 AND \(link.theirs) = ?2)\(turned)", [mine, theirs])
        case .removeAll(let link, let mine):
            guard let mine = key(mine, rows) else { return }
            try run("DELETE FROM \(link.table) WHERE \(link.mine) = ?1", [mine])
            if link.isReflexive { try run("DELETE FROM \(link.table) WHERE \(link.theirs) = ?1", [mine]) }
        }
    }

    /// A link that stands already, from this side or the other, stays one; a place that is given moves it.
    private func insert(_ link: JoinStorage, _ mine: Int64, _ theirs: Int64, place: Int64?) throws(SQLiteError) {
        if try stands(link, mine, theirs) {
            guard let column = link.placeOfTheirs, let place else { return }
            try notePlace(place, link.table, column)
            try run(
                "UPDATE \(link.table) SET \(column) = ?3 WHERE \(link.mine) = ?1 AND \(link.theirs) = ?2",
                [mine, theirs, place])
            return
        }
        var columns = [link.mine, link.theirs]
        var values = [mine, theirs]
        if let column = link.placeOfTheirs {
            columns.append(column)
            if let place {
                try notePlace(place, link.table, column)
                values.append(place)
            } else {
                values.append(try nextPlace(link.table, column))
            }
        }
        if let column = link.placeOfMine {
            columns.append(column)
            values.append(try nextPlace(link.table, column))
        }
        let names = columns.map(\.quoted).joined(separator: ", ")
        let parameters = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        try run("INSERT INTO \(link.table) (\(names)) VALUES (\(parameters))", values)
    }

    private func stands(_ link: JoinStorage, _ mine: Int64, _ theirs: Int64) throws(SQLiteError) -> Bool {
        let turned = link.isReflexive ? " OR (\(link.mine) = ?2 AND \(link.theirs) = ?1)" : ""
        let box = try statements.statement(
            "SELECT 1 FROM \(link.table) WHERE (\(link.mine) = ?1 AND \(link.theirs) = ?2)\(turned)")
        try box.statement.bind(mine, at: 1)
        try box.statement.bind(theirs, at: 2)
        let stands = try box.statement.step()
        box.statement.reset()
        return stands
    }

    private func run(_ sql: String, _ values: [Int64]) throws(SQLiteError) {
        let box = try statements.statement(sql)
        for (index, value) in values.enumerated() { try box.statement.bind(value, at: index + 1) }
        try box.statement.run()
    }

    /// nil for a row that was taken back.
    private func key(_ reference: RowReference, _ rows: PendingRows) -> Int64? {
        switch reference {
        case .key(let key): return key
        case .temporary(let table, let index):
            let table = rows.tables[Int(table)]
            return table.isRemoved(Int(index)) ? nil : table.keys[Int(index)]
        }
    }

    // MARK: - Places

    /// Numbers the cells that were appended. They are taken in the order in which hooks gave places, so that the result
    /// doesn't depend on how many rows are written at once: a place that was given later raises no earlier one.
    func givePlaces(in table: Int, _ rows: inout PendingRows) throws {
        guard !placeColumns[table].isEmpty else { return }
        let storage = map.tables[table]
        for cell in rows.tables[table].placedCells() where placeColumns[table].contains(cell.column) {
            let column = storage.columns[cell.column]
            let name = KeySource.PlaceColumn(table: storage.name.name, column: column.name)
            switch rows.tables[table].cell(cell.row, cell.column) {
            case .appended: rows.tables[table].number(cell, try nextPlace(storage.name, column))
            case .integer(let place): keys.places[name] = max(try lastPlace(name, storage.name, column), place)
            default: continue
            }
        }
    }

    /// The place after every place of the column: an ordered relationship's members sort as they were added.
    private func nextPlace(_ table: SQLIdentifier, _ column: SQLIdentifier) throws(SQLiteError) -> Int64 {
        let name = KeySource.PlaceColumn(table: table.name, column: column.name)
        let (next, overflow) = max(try lastPlace(name, table, column), OrderPlace.step)
            .addingReportingOverflow(OrderPlace.step)
        guard !overflow else {
            throw SQLiteError(
                code: .mismatch,
                message:
                    "\(table.name).\(column.name) holds a place that is so large that none comes after it; mend the row"
            )
        }
        keys.places[name] = next
        return next
    }

    /// The largest place of the column, asked from the store once.
    private func lastPlace(
        _ name: KeySource.PlaceColumn, _ table: SQLIdentifier, _ column: SQLIdentifier
    ) throws(SQLiteError) -> Int64 {
        if let last = keys.places[name] { return last }
        let box = try statements.statement("SELECT max(\(column)) FROM \(table)")
        let last = try box.statement.step() ? box.statement.int64(at: 0) : 0
        box.statement.reset()
        keys.places[name] = last
        return last
    }

    /// A place that somebody chose: later ones come after it.
    private func notePlace(_ place: Int64, _ table: SQLIdentifier, _ column: SQLIdentifier) throws(SQLiteError) {
        let name = KeySource.PlaceColumn(table: table.name, column: column.name)
        keys.places[name] = max(try lastPlace(name, table, column), place)
    }
}
