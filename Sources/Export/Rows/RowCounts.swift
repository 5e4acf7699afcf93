import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// How many rows there are to export of each entity.
struct RowCounts {
    /// By entity; entities without rows aren't there.
    private(set) var rows: [String: Int] = [:]
    /// Where all entities are counted: rows of no entity of their table.
    private(set) var strangers = 0

    var total: Int { rows.values.reduce(0, +) }

    /// Counts the rows of the chosen entities, of each at most `limit`: a sample of a large table isn't worth reading
    /// all of it twice.
    init(_ store: SourceStore, _ map: StorageMap, _ choice: EntityChoice, limit: Int?) throws(EngineError) {
        try EngineError.reading(store.location.path) {
            if let limit {
                for name in choice.names { try count(name, atMost: limit, store, map) }
                return
            }
            for place in map.tables.indices {
                let root = map.layout.tables[place].rootEntity
                guard choice.names.contains(where: { map.layout.model.root(of: $0) == root }) else { continue }
                try count(map.tables[place], of: root, store, map, choice)
            }
        }
    }

    private mutating func count(
        _ name: String, atMost limit: Int, _ store: SourceStore, _ map: StorageMap
    ) throws(SQLiteError) {
        guard let number = map.layout.entityNumbers[name], let place = map.table(of: Int32(clamping: number)) else {
            return
        }
        let table = map.tables[place]
        var statement = try store.connection.prepare(
            """
            SELECT count(*) FROM (SELECT 1 FROM \(table.name) \
            WHERE \(table.columns[TableStorage.entityNumber]) = ?1 LIMIT ?2)
            """)
        try statement.bind(Int64(number), at: 1)
        try statement.bind(limit, at: 2)
        if try statement.step(), statement.int64(at: 0) > 0 { rows[name] = Int(clamping: statement.int64(at: 0)) }
    }

    private mutating func count(
        _ table: TableStorage, of root: String, _ store: SourceStore, _ map: StorageMap, _ choice: EntityChoice
    ) throws(SQLiteError) {
        let (number, numbers) = (table.columns[TableStorage.entityNumber], map.layout.numbers(ofTree: root))
        var statement = try store.connection.prepare(
            "SELECT \(number), count(*) FROM \(table.name) GROUP BY \(number)")
        while try statement.step() {
            let (number, count) = (Int(clamping: statement.int64(at: 0)), Int(clamping: statement.int64(at: 1)))
            if numbers?.contains(number) == true, !statement.isNull(at: 0) {
                let name = map.layout.entities[number - 1]
                if choice.covers(name) { rows[name, default: 0] += count }
            } else if choice.isWhole {
                strangers += count
            }
        }
    }
}
