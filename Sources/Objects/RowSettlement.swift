import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// Gives rows what they lack before they are written: keys, and places in ordered relationships. The store is only asked.
final class RowSettlement {
    private let map: StorageMap
    private let keys: KeySource
    private let places: OrderPlaces
    private let statements: StatementCache
    /// Columns with places in ordered relationships, by table.
    private let placeColumns: [[Int]]
    /// Whether a link stands, by its join table's side.
    private var questions: [ObjectIdentifier: StatementBox] = [:]

    init(_ map: StorageMap, _ keys: KeySource, _ statements: StatementCache) {
        self.map = map
        self.keys = keys
        self.statements = statements
        places = OrderPlaces(keys, statements)
        placeColumns = map.layout.tables.map { table in
            table.columns.indices.filter { index in
                switch table.columns[index].role {
                case .orderKey, .virtualOrderKey: true
                default: false
                }
            }
        }
    }

    func settle(_ rows: inout PendingRows) throws(ObjectError) {
        for table in rows.tables.indices { try rows.tables[table].giveKeys(from: &keys.keys, table: table) }
        for table in rows.tables.indices where rows.tables[table].hasChanges {
            try ObjectError.at("table \(map.tables[table].name.name)") {
                try givePlaces(in: table, &rows.tables[table])
            }
            for row in rows.tables[table].newRows { keys.rowCounts[rows.tables[table].entities[row], default: 0] += 1 }
        }
    }

    /// Numbers the cells that were appended. They are taken in the order in which hooks gave places, so that the result
    /// doesn't depend on how many rows are written at once: a place that was given later raises no earlier one.
    private func givePlaces(in table: Int, _ rows: inout RowTable) throws(SQLiteError) {
        guard !placeColumns[table].isEmpty else { return }
        let storage = map.tables[table]
        for cell in rows.placedCells() where placeColumns[table].contains(cell.column) {
            switch rows.cell(cell.row, cell.column) {
            case .appended: rows.number(cell, try places.next(storage.name, storage.columns[cell.column]))
            case .integer(let place): try places.note(place, storage.name, storage.columns[cell.column])
            default: continue
            }
        }
    }

    // MARK: - Links

    /// What is to be written of a change, once the rows have keys; nil where nothing is.
    func settle(_ change: LinkChange, of rows: PendingRows) throws(ObjectError) -> LinkWrite? {
        // A row that was taken back has no links.
        switch change {
        case .insert(let link, let mine, let theirs, let place):
            guard let mine = rows.key(of: mine), let theirs = rows.key(of: theirs) else { return nil }
            return try ObjectError.at("a join table") { try insert(link, mine, theirs, place: place) }
        case .remove(let link, let mine, let theirs):
            guard let mine = rows.key(of: mine), let theirs = rows.key(of: theirs) else { return nil }
            return .remove(link, mine: mine, theirs: theirs)
        case .removeAll(let link, let mine):
            return rows.key(of: mine).map { .removeAll(link, mine: $0) }
        }
    }

    /// A link that stands already, from this side or the other, stays one; a place that is given moves it.
    private func insert(
        _ link: JoinStorage, _ mine: Int64, _ theirs: Int64, place: Int64?
    ) throws(SQLiteError) -> LinkWrite? {
        if try stands(link, mine, theirs) {
            guard let column = link.placeOfTheirs, let place else { return nil }
            try places.note(place, link.table, column)
            return .move(link, mine: mine, theirs: theirs, placeOfTheirs: place)
        }
        var (placeOfTheirs, placeOfMine): (Int64?, Int64?) = (nil, nil)
        if let column = link.placeOfTheirs {
            if let place {
                try places.note(place, link.table, column)
                placeOfTheirs = place
            } else {
                placeOfTheirs = try places.next(link.table, column)
            }
        }
        if let column = link.placeOfMine { placeOfMine = try places.next(link.table, column) }
        return .insert(link, mine: mine, theirs: theirs, placeOfTheirs: placeOfTheirs, placeOfMine: placeOfMine)
    }

    private func stands(_ link: JoinStorage, _ mine: Int64, _ theirs: Int64) throws(SQLiteError) -> Bool {
        let box = try question(link)
        try box.statement.bind(mine, at: 1)
        try box.statement.bind(theirs, at: 2)
        let stands = try box.statement.step()
        box.statement.reset()
        return stands
    }

    private func question(_ link: JoinStorage) throws(SQLiteError) -> StatementBox {
        if let box = questions[ObjectIdentifier(link)] {
            box.statement.reset()
            return box
        }
        let box = try statements.statement("SELECT 1 FROM \(link.table) WHERE \(link.condition)")
        questions[ObjectIdentifier(link)] = box
        return box
    }
}
