import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// Assigns keys, and places in ordered relationships, before rows are written. It only reads the store.
final class RowSettlement {
    private let map: StorageMap
    private let keys: KeySource
    private let places: OrderPlaces
    private let statements: StatementCache
    /// Columns with places in ordered relationships, by table.
    private let placeColumns: [[Int]]
    /// Statements that tell whether a link exists, by its join table's side.
    private var questions: [ObjectIdentifier: StatementBox] = [:]

    private let output: any PolicyRowOutput

    init(_ map: StorageMap, _ keys: KeySource, _ output: any PolicyRowOutput, _ statements: StatementCache) {
        self.map = map
        self.output = output
        self.keys = keys
        self.statements = statements
        places = OrderPlaces(keys, statements)
        placeColumns = map.layout.tables.map { table in
            table.columns.indices.filter { table.columns[$0].role.isPlace }
        }
    }

    func settle(_ rows: inout PendingRows) throws(ObjectError) {
        for table in rows.tables.indices { try rows.tables[table].giveKeys(from: &keys.keys, table: table) }
        for table in rows.tables.indices where rows.tables[table].hasChanges {
            try ObjectError.at("table \(map.tables[table].name.name)") {
                try givePlaces(in: table, &rows.tables[table])
            }
            count(rows.tables[table])
        }
    }

    /// Counts new rows by entity: neighbours mostly have the same.
    private func count(_ rows: RowTable) {
        var (entity, run) = (Int32(0), 0)
        for row in rows.newRows {
            if rows.entities[row] != entity, run > 0 {
                keys.rowCounts[entity, default: 0] += run
                run = 0
            }
            entity = rows.entities[row]
            run += 1
        }
        if run > 0 { keys.rowCounts[entity, default: 0] += run }
    }

    /// Numbers the appended cells in the order in which hooks gave places, so that the result doesn't depend on how
    /// many rows are written at once: a later explicit place doesn't raise an earlier one.
    private func givePlaces(in table: Int, _ rows: inout RowTable) throws(SQLiteError) {
        guard !placeColumns[table].isEmpty else { return }
        let storage = map.tables[table]
        for cell in rows.placedCells() where placeColumns[table].contains(cell.column) {
            let known = output.largestPlace(table: table, column: cell.column)
            switch rows.cell(cell.row, cell.column) {
            case .appended:
                rows.number(cell, try places.next(storage.name, storage.columns[cell.column], known: known))
            case .integer(let place):
                try places.note(place, storage.name, storage.columns[cell.column], known: known)
            default: continue
            }
        }
    }

    // MARK: - Links

    /// What to write for a change, once the rows have keys; nil for nothing.
    func settle(_ change: LinkChange, of rows: PendingRows) throws(ObjectError) -> LinkWrite? {
        // A removed row has no links.
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

    /// An existing link, from this side or the other, isn't duplicated; an explicit place moves it.
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
        let box: StatementBox
        if let known = questions[ObjectIdentifier(link)] {
            box = known
        } else {
            box = try statements.statement("SELECT 1 FROM \(link.table) WHERE \(link.condition)")
            questions[ObjectIdentifier(link)] = box
        }
        try box.statement.bind(mine, at: 1)
        try box.statement.bind(theirs, at: 2)
        return try box.number() != nil
    }
}
