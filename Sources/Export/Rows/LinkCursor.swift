import CausewayEvaluation
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewayStores

/// The members of one to-many, for one owner after another: a cursor over all links in the order of their owners, which
/// goes on as the owners' rows do. Every link is read once, whatever the number of owners; an index gives the order.
final class LinkCursor {
    private let list: EntityShape.List
    private let sql: String
    private let store: SourceStore
    private var statement: StatementBox?
    /// The link that was read last, and belongs to a later owner.
    private var next: (owner: Int64, link: ObjectLink)?

    init(_ list: EntityShape.List, _ map: StorageMap, _ store: SourceStore) {
        self.list = list
        self.store = store
        sql = Self.sql(list, map)
    }

    /// Lends the owner's links to a closure, in order. Owners must ascend.
    func forEach(
        of owner: Int64, _ body: (ObjectLink) throws(EngineError) -> Void
    ) throws(EngineError) {
        let box = try begun(at: owner)
        while true {
            if next == nil {
                let hasRow = try EngineError.reading(store.location.path) { try box.statement.step() }
                guard hasRow else {
                    // The next step would begin again.
                    next = (.max, ObjectLink(entity: 0, key: 0))
                    return
                }
                next = (box.statement.int64(at: 0), link(box.statement))
            }
            guard let found = next, found.owner <= owner else { return }
            next = nil
            if found.owner == owner, found.link.entity != 0 { try body(found.link) }
        }
    }

    private func begun(at owner: Int64) throws(EngineError) -> StatementBox {
        if let statement { return statement }
        let box = try EngineError.reading(store.location.path) {
            let box = StatementBox(try store.connection.prepare(sql, persistent: true))
            try box.statement.bind(owner, at: 1)
            return box
        }
        statement = box
        return box
    }

    private func link(_ row: borrowing Statement) -> ObjectLink {
        // A dangling link has no target that could tell its entity.
        let entity = row.isNull(at: 2) ? list.destination : Int32(clamping: row.int64(at: 2))
        return ObjectLink(entity: entity, key: row.int64(at: 1))
    }

    /// Owner, member and the member's Z_ENT.
    private static func sql(_ list: EntityShape.List, _ map: StorageMap) -> String {
        switch list.storage {
        case .toMany(let link):
            let table = map.tables[link.table]
            let owner = table.columns[link.column]
            let key = table.columns[TableStorage.primaryKey]
            let place = list.isOrdered ? link.orderColumn.map { "\(table.columns[$0]), " } ?? "" : ""
            return """
                SELECT \(owner), \(key), \(table.columns[TableStorage.entityNumber]) FROM \(table.name) \
                WHERE \(owner) >= ?1 ORDER BY \(owner), \(place)\(key)
                """
        case .join(let join):
            let other = map.tables[join.otherTable]
            let entity = "o.\(other.columns[TableStorage.entityNumber])"
            func select(_ mine: SQLIdentifier, _ theirs: SQLIdentifier) -> String {
                """
                SELECT j.\(mine), j.\(theirs), \(entity) FROM \(join.table) j LEFT JOIN \(other.name) o \
                ON o.\(other.columns[TableStorage.primaryKey]) = j.\(theirs) WHERE j.\(mine) >= ?1
                """
            }
            let forward = select(join.mine, join.theirs)
            // A link of a relationship that is its own inverse may be stored in either direction.
            if join.isReflexive { return "\(forward) UNION \(select(join.theirs, join.mine)) ORDER BY 1, 2" }
            let place = list.isOrdered ? join.placeOfTheirs.map { "j.\($0), " } ?? "" : ""
            return "\(forward) ORDER BY j.\(join.mine), \(place)j.\(join.theirs)"
        }
    }
}

/// The cursors of one entity's to-manys, opened when they are first asked for.
final class LinkReader {
    private let shape: EntityShape
    private let map: StorageMap
    private let store: SourceStore
    private var cursors: [LinkCursor?]

    init(_ shape: EntityShape, _ map: StorageMap, _ store: SourceStore) {
        self.shape = shape
        self.map = map
        self.store = store
        cursors = Array(repeating: nil, count: shape.lists.count)
    }

    /// Lends the links of a list, in order. Owners must ascend.
    func forEach(
        _ list: Int, of owner: Int64, _ body: (ObjectLink) throws(EngineError) -> Void
    ) throws(EngineError) {
        let cursor = cursors[list] ?? LinkCursor(shape.lists[list], map, store)
        cursors[list] = cursor
        try cursor.forEach(of: owner, body)
    }
}
