import CausewayEvaluation
import CausewayPlanning
import CausewaySQLite

/// The objects of a fetch, in batches.
protocol FetchedKeys: AnyObject {
    /// Whether every returned object belongs to the result without further evaluation.
    func isChosen(_ fetch: PreparedFetch) -> Bool

    /// Up to `limit` objects; none at the end.
    func next(
        _ limit: Int, of fetch: PreparedFetch, loadingRows: Bool, in context: ObjectContext
    ) throws(ObjectError) -> [ObjectID]

    func end(in context: ObjectContext)
}

extension FetchedKeys {
    func isChosen(_ fetch: PreparedFetch) -> Bool { fetch.predicate == nil }

    func end(in context: ObjectContext) {}
}

/// The rows of the table itself, in the order of their keys.
final class TableKeys: FetchedKeys {
    private var last = Int64.min
    private let end: Int64

    /// `end` is the largest key when the fetch begins; rows that are made later don't belong to it.
    init(upTo end: Int64) {
        self.end = end
    }

    func next(
        _ limit: Int, of fetch: PreparedFetch, loadingRows: Bool, in context: ObjectContext
    ) throws(ObjectError) -> [ObjectID] {
        let table = context.map.tables[fetch.table]
        let columns = loadingRows ? table.columns : Array(table.columns[...TableStorage.entityNumber])
        return try ObjectError.at("fetching \(fetch.request.entityName)") {
            let box = try fetch.statements.statement(
                """
                SELECT \(columns.map(\.quoted).joined(separator: ", ")) FROM \(table.name) \
                WHERE \(fetch.conditions) AND "Z_PK" > ? AND "Z_PK" <= ? ORDER BY "Z_PK" LIMIT ?
                """)
            try fetch.bind(to: box)
            try box.statement.bind(last, at: fetch.values.count + 1)
            try box.statement.bind(end, at: fetch.values.count + 2)
            try box.statement.bind(limit, at: fetch.values.count + 3)
            let result = try box.statement.rows { row throws(SQLiteError) in
                if loadingRows { _ = try context.append(row, to: fetch.table) }
                return row.object(context.side, entity: TableStorage.entityNumber, key: TableStorage.primaryKey)
            }
            if let end = result.last { last = end.key }
            return result
        }
    }
}

/// An open statement, for a store that doesn't change: SQLite sorts, on disk if need be.
final class StatementKeys: FetchedKeys {
    private let box: StatementBox
    private let side: ObjectID.Side
    /// A statement that is stepped after its last row starts again.
    private var isDone = false

    init(_ fetch: PreparedFetch, side: ObjectID.Side, map: StorageMap) throws(ObjectError) {
        self.side = side
        do {
            box = StatementBox(
                try fetch.statements.fresh(
                    """
                    SELECT "Z_PK", "Z_ENT" FROM \(map.tables[fetch.table].name) WHERE \(fetch.conditions) \
                    ORDER BY \(fetch.order)
                    """))
            try fetch.bind(to: box)
        } catch {
            throw ObjectError(error, during: "fetching \(fetch.request.entityName)")
        }
    }

    func next(
        _ limit: Int, of fetch: PreparedFetch, loadingRows: Bool, in context: ObjectContext
    ) throws(ObjectError) -> [ObjectID] {
        try ObjectError.at("fetching \(fetch.request.entityName)") {
            var result: [ObjectID] = []
            while result.count < limit, !isDone {
                guard try box.statement.step() else {
                    isDone = true
                    break
                }
                result.append(box.statement.object(side, entity: 1, key: 0))
            }
            return result
        }
    }
}

/// The result's keys in a temporary table, which SQLite keeps on disk: for a store that changes while it is fetched
/// from.
final class ListedKeys: FetchedKeys {
    private let table: SQLIdentifier
    private let statements: StatementCache
    private let side: ObjectID.Side
    private var place: Int64 = 0

    /// Most nested fetches of one context: each has a temporary table of its own.
    private static let depthLimit = 64

    init(_ fetch: PreparedFetch, in context: ObjectContext) throws {
        guard context.openFetches < Self.depthLimit else {
            throw ObjectError(.store, "more than \(Self.depthLimit) fetches inside one another")
        }
        statements = fetch.statements
        side = context.side
        do {
            // There are as many tables and statements as nested fetches.
            table = try SQLIdentifier("causeway_fetch_\(context.openFetches)")
            try run("CREATE TEMP TABLE IF NOT EXISTS \(table) (place INTEGER PRIMARY KEY, key INTEGER, entity INTEGER)")
            try run("DELETE FROM \(table)")
            let limit = fetch.predicate == nil ? fetch.request.fetchLimit : nil
            let box = try statements.statement(
                """
                INSERT INTO \(table) (key, entity) SELECT "Z_PK", "Z_ENT" FROM \(context.map.tables[fetch.table].name) \
                WHERE \(fetch.conditions) ORDER BY \(fetch.order) LIMIT ?
                """)
            try fetch.bind(to: box)
            // A negative limit is none.
            try box.statement.bind(limit ?? -1, at: fetch.values.count + 1)
            try box.statement.run()
        } catch {
            throw ObjectError(error, during: "fetching \(fetch.request.entityName)")
        }
        context.openFetches += 1
        guard fetch.predicate != nil else { return }
        do {
            try choose(fetch, in: context)
        } catch {
            end(in: context)
            throw error
        }
    }

    /// Evaluates what SQLite can't before it lends the first object.
    private func choose(_ fetch: PreparedFetch, in context: ObjectContext) throws {
        var left = fetch.request.fetchLimit ?? .max
        while true {
            let batch = try read(fetch.request.fetchBatchSize, fetch)
            if batch.isEmpty { break }
            for (place, id) in batch {
                if left > 0, try fetch.matches(id) {
                    left -= 1
                } else {
                    try reject(place, fetch)
                }
            }
            try context.flushIfFull()
        }
        place = 0
    }

    private func reject(_ place: Int64, _ fetch: PreparedFetch) throws(ObjectError) {
        try ObjectError.at("fetching \(fetch.request.entityName)") {
            try statements.statement("DELETE FROM \(table) WHERE place = ?", place).statement.run()
        }
    }

    func isChosen(_ fetch: PreparedFetch) -> Bool { true }

    func next(
        _ limit: Int, of fetch: PreparedFetch, loadingRows: Bool, in context: ObjectContext
    ) throws(ObjectError) -> [ObjectID] {
        try read(limit, fetch).map(\.id)
    }

    private func read(_ limit: Int, _ fetch: PreparedFetch) throws(ObjectError) -> [(place: Int64, id: ObjectID)] {
        try ObjectError.at("fetching \(fetch.request.entityName)") {
            let box = try statements.statement(
                "SELECT place, key, entity FROM \(table) WHERE place > ? ORDER BY place LIMIT ?", place,
                Int64(max(1, limit)))
            return try box.statement.rows { row throws(SQLiteError) in
                place = row.int64(at: 0)
                return (place, row.object(side, entity: 2, key: 1))
            }
        }
    }

    private func run(_ sql: String) throws(SQLiteError) {
        try statements.statement(sql).statement.run()
    }

    func end(in context: ObjectContext) {
        context.openFetches -= 1
        // The next fetch empties the table too, and reports: until then the rows only take disk space.
        try? run("DELETE FROM \(table)")
    }
}
