import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// A fetch request checked against the model.
struct PreparedFetch {
    let request: FetchRequest
    let entity: Int32
    let table: Int
    let statements: StatementCache
    /// A condition for SQLite.
    let conditions: String
    let values: [Cell]
    /// Sort keys for SQLite; equal rows are sorted by key.
    let order: String
    /// The part that SQLite can't evaluate.
    let predicate: CompiledPredicate?
    private let scope: EvaluationScope

    init(_ request: FetchRequest, in context: ObjectContext) throws {
        self.request = request
        guard let statements = context.statements else {
            context.asked.others = true
            throw ObjectError(.detached, "an independent policy can't fetch; make it dependent")
        }
        self.statements = statements
        entity = try context.number(of: request.entityName)
        let map = context.map
        guard let table = map.table(of: entity), let tree = map.layout.numbers(ofTree: request.entityName) else {
            throw ObjectError(.unknownEntity, "\(request.entityName) has no table")
        }
        self.table = table
        order = try Self.order(of: request, entity: entity, in: map)
        let numbers = request.includesSubentities ? Array(tree) : [Int(entity)]
        var conditions = ["\"Z_ENT\" IN (\(numbers.map(String.init).joined(separator: ", ")))"]
        scope = EvaluationScope(
            now: context.now, sourceGraph: context.side == .source ? context : nil,
            destinationGraph: context.side == .destination ? context : nil)
        scope.bindings = request.variables
        if let text = request.predicate {
            let parsed = try Predicate(parsing: text)
            let variables = request.variables.mapValues { _ in VariableType.any }
            let compiled = try ExpressionCompiler(
                evaluated: .object(map.schema, entity: request.entityName), variables: variables
            ).compile(parsed)
            let sql = PredicateSQL(parsed, map: map, entity: entity, variables: request.variables)
            conditions += sql.conditions
            (predicate, values) = (sql.isComplete ? nil : compiled, sql.values)
        } else {
            (predicate, values) = (nil, [])
        }
        self.conditions = BalancedSQL.joined(conditions, by: "AND")
    }

    private static func order(
        of request: FetchRequest, entity: Int32, in map: StorageMap
    ) throws(ObjectError) -> String {
        guard let table = map.table(of: entity) else { return "\"Z_PK\"" }
        var order: [String] = []
        for key in request.sort {
            guard let handle = map.schema.handle(of: key.attribute),
                case .attribute(let column, _)? = map.place(of: handle, entity: entity)
            else {
                throw ObjectError(
                    .unknownProperty, "\(request.entityName) has no attribute “\(key.attribute)” to sort by")
            }
            order.append("\(map.tables[table].columns[column])\(key.isAscending ? "" : " DESC")")
        }
        order.append("\"Z_PK\"")
        return order.joined(separator: ", ")
    }

    func bind(to box: StatementBox) throws(SQLiteError) {
        for (index, value) in values.enumerated() { try box.statement.bind(value, at: index + 1) }
    }

    /// Evaluates this part for an object.
    func matches(_ id: ObjectID) throws -> Bool {
        guard let predicate else { return true }
        scope.evaluated = .object(id)
        return try predicate.evaluate(scope)
    }
}
