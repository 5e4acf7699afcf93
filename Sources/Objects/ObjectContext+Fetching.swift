import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// Fetching: in batches, so that memory doesn't grow with the result.
extension ObjectContext {
    /// Lends each object of the result to a closure.
    ///
    /// Objects that the closure makes or changes are written after every batch; what it changes does not bring an object
    /// into the result a second time. Between batches objects are let go, and found again when they are used.
    ///
    /// - Parameters:
    ///   - request: which objects.
    ///   - body: called for one object after another.
    /// - Throws: `ObjectError` where the request doesn't fit the model or the store can't be read; what `body` throws.
    public func forEach(_ request: FetchRequest, _ body: (ManagedObject) throws -> Void) throws {
        let fetch = try PreparedFetch(request, in: self)
        try flushForReading()
        var left = request.fetchLimit ?? .max
        if request.sort.isEmpty {
            var last = Int64.min
            while left > 0 {
                let batch = try page(fetch, after: last, limit: request.fetchBatchSize)
                guard let end = batch.last else { return }
                last = end.key
                try visit(batch, fetch, &left, body)
            }
        } else {
            let list = try sortedKeys(fetch)
            defer { list.drop() }
            var place: Int64 = 0
            while left > 0 {
                let batch = try list.next(after: &place, limit: request.fetchBatchSize)
                if batch.isEmpty { return }
                try visit(batch, fetch, &left, body)
            }
        }
    }

    private func visit(
        _ batch: [ObjectID], _ fetch: PreparedFetch, _ left: inout Int, _ body: (ManagedObject) throws -> Void
    ) throws {
        for id in batch where left > 0 {
            guard try fetch.matches(id, in: self) else { continue }
            left -= 1
            try body(ManagedObject(context: self, objectID: id))
        }
        try flush()
        if writer == nil { forget() }
    }

    /// All objects of the result at once; for results that fit into memory.
    ///
    /// - Parameter request: which objects.
    /// - Returns: the objects in the request's order.
    /// - Throws: `ObjectError` where the request doesn't fit the model or the store can't be read.
    public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
        var result: [ManagedObject] = []
        try forEach(request) { result.append($0) }
        return result
    }

    /// How many objects the result has.
    ///
    /// - Parameter request: which objects.
    /// - Returns: their number.
    /// - Throws: `ObjectError` where the request doesn't fit the model or the store can't be read.
    public func count(_ request: FetchRequest) throws -> Int {
        var count = 0
        try forEach(request) { _ in count += 1 }
        return count
    }

    /// Rows with keys beyond `last`, loaded.
    private func page(_ fetch: PreparedFetch, after last: Int64, limit: Int) throws(ObjectError) -> [ObjectID] {
        let storage = map.tables[fetch.table]
        let columns = storage.columns.map(\.quoted).joined(separator: ", ")
        do {
            let box = try fetch.statements.statement(
                """
                SELECT \(columns) FROM \(storage.name) WHERE \(fetch.conditions) AND "Z_PK" > ? ORDER BY "Z_PK" LIMIT ?
                """)
            try fetch.bind(to: box)
            try box.statement.bind(last, at: fetch.values.count + 1)
            try box.statement.bind(max(1, limit), at: fetch.values.count + 2)
            var result: [ObjectID] = []
            while try box.statement.step() {
                let row = try append(box.statement, to: fetch.table)
                result.append(
                    ObjectID(side: side, entity: tables[fetch.table].entities[row], key: tables[fetch.table].keys[row]))
            }
            box.statement.reset()
            return result
        } catch {
            throw ObjectError(error, during: "fetching \(fetch.request.entityName)")
        }
    }

    /// The keys of the result in its order, on disk.
    private func sortedKeys(_ fetch: PreparedFetch) throws(ObjectError) -> SortedKeys {
        let storage = map.tables[fetch.table]
        var order: [String] = []
        for key in fetch.request.sort {
            guard let handle = map.schema.handle(of: key.attribute),
                case .attribute(let column, _)? = map.place(of: handle, entity: fetch.entity)
            else {
                throw ObjectError(
                    .unknownProperty, "\(fetch.request.entityName) has no attribute “\(key.attribute)” to sort by")
            }
            order.append("\(storage.columns[column])\(key.isAscending ? "" : " DESC")")
        }
        order.append("\"Z_PK\"")
        do {
            let list = SortedKeys(statements: fetch.statements, side: side, serial: fetchSerial)
            fetchSerial += 1
            try list.create()
            let box = try fetch.statements.statement(
                """
                INSERT INTO \(list.table) (key, entity) SELECT "Z_PK", "Z_ENT" FROM \(storage.name) \
                WHERE \(fetch.conditions) ORDER BY \(order.joined(separator: ", "))
                """)
            try fetch.bind(to: box)
            try box.statement.run()
            return list
        } catch {
            throw ObjectError(error, during: "fetching \(fetch.request.entityName)")
        }
    }
}

/// A fetch request checked against the model.
struct PreparedFetch {
    let request: FetchRequest
    let entity: Int32
    let table: Int
    let statements: StatementCache
    /// A condition for SQLite.
    let conditions: String
    let values: [Cell]
    private let predicate: CompiledPredicate?
    private let scope: EvaluationScope

    init(_ request: FetchRequest, in context: ObjectContext) throws {
        self.request = request
        guard let statements = context.statements else {
            throw ObjectError(.detached, "an independent policy can't fetch; make it dependent")
        }
        self.statements = statements
        entity = try context.number(of: request.entityName)
        let map = context.map
        guard let table = map.table(of: entity), let tree = map.layout.numbers(ofTree: request.entityName) else {
            throw ObjectError(.unknownEntity, "\(request.entityName) has no table")
        }
        self.table = table
        let numbers = request.includesSubentities ? Array(tree) : [Int(entity)]
        var conditions = ["\"Z_ENT\" IN (\(numbers.map(String.init).joined(separator: ", ")))"]
        scope = EvaluationScope(
            now: 0, sourceGraph: context.side == .source ? context : nil,
            destinationGraph: context.side == .destination ? context : nil)
        scope.bindings = request.variables
        guard let text = request.predicate else {
            (predicate, values) = (nil, [])
            self.conditions = conditions.joined(separator: " AND ")
            return
        }
        let parsed = try Predicate(parsing: text)
        let variables = request.variables.mapValues { _ in VariableType.any }
        let compiled = try ExpressionCompiler(
            evaluated: .object(map.schema, entity: request.entityName), variables: variables
        ).compile(parsed)
        let sql = PredicateSQL(parsed, map: map, entity: entity, variables: request.variables)
        conditions += sql.conditions
        values = sql.values
        predicate = sql.isComplete ? nil : compiled
        self.conditions = conditions.joined(separator: " AND ")
    }

    func bind(to box: StatementBox) throws(SQLiteError) {
        for (index, value) in values.enumerated() {
            switch value {
            case .integer(let value): try box.statement.bind(value, at: index + 1)
            case .real(let value): try box.statement.bind(value, at: index + 1)
            case .text(let value): try box.statement.bind(value, at: index + 1)
            case .blob(let value): try box.statement.bind(value, at: index + 1)
            case .null, .carried, .temporary, .appended: try box.statement.bindNull(at: index + 1)
            }
        }
    }

    /// Whether the object still is what the request asks for.
    func matches(_ id: ObjectID, in context: ObjectContext) throws -> Bool {
        guard let predicate else { return true }
        scope.evaluated = .object(id)
        return try predicate.evaluate(scope)
    }
}

/// Keys in an order that no index gives: in a temporary table, which SQLite keeps on disk.
final class SortedKeys {
    let table: SQLIdentifier
    private let statements: StatementCache
    private let side: ObjectID.Side

    init(statements: StatementCache, side: ObjectID.Side, serial: Int) {
        self.statements = statements
        self.side = side
        do {
            table = try SQLIdentifier("causeway_fetch_\(serial)")
        } catch {
            preconditionFailure("a name made of letters and digits is one")
        }
    }

    func create() throws(SQLiteError) {
        var statement = try statements.fresh(
            "CREATE TEMP TABLE \(table) (place INTEGER PRIMARY KEY, key INTEGER, entity INTEGER)")
        try statement.run()
    }

    func next(after place: inout Int64, limit: Int) throws -> [ObjectID] {
        let box = try statements.statement("SELECT place, key, entity FROM \(table) WHERE place > ? ORDER BY place LIMIT ?")
        try box.statement.bind(place, at: 1)
        try box.statement.bind(max(1, limit), at: 2)
        var result: [ObjectID] = []
        while try box.statement.step() {
            place = box.statement.int64(at: 0)
            result.append(
                ObjectID(
                    side: side, entity: Int32(truncatingIfNeeded: box.statement.int64(at: 2)),
                    key: box.statement.int64(at: 1)))
        }
        box.statement.reset()
        return result
    }

    /// Temporary tables go with the connection: one that can't be dropped now costs disk, nothing else.
    func drop() {
        guard var statement = try? statements.fresh("DELETE FROM \(table)") else { return }
        try? statement.run()
    }
}
