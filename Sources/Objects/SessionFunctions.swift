import CausewayEvaluation
import CausewayPlanning

/// The functions that expressions call on `$manager` and `$entityPolicy`.
final class SessionFunctions: FunctionTarget {
    /// Nil once the session is closed. Not weak: an object that is once referred to so counts its references in slow
    /// memory of their own, and every hook retains both.
    unowned var session: MigrationSession?
    unowned var manager: MigrationManager?
    var policy: [String: MigrationFunction] = [:]
    var own: [String: MigrationFunction] = [:]
    /// The entity to which the current destination relationship leads.
    var fitting: String?
    /// How many source objects the current expression has asked for, call by call.
    var askedObjects = 0
    /// The destination property whose expression is evaluated.
    var property = ""

    var catalog: SelectorCatalog {
        SelectorCatalog(policy: Set(policy.keys), manager: Set(own.keys))
    }

    func call(_ selector: String, on receiver: FunctionReceiver, _ arguments: [Value]) throws -> Value {
        guard let session, let manager else { throw ObjectError(.missing, "the migration is over") }
        switch (receiver, selector) {
        case (.entityMapping, _):
            guard let mapping = session.currentMapping else { return .null }
            return try Self.value(selector, arguments, of: mapping) ?? .null
        case (.propertyMapping, _):
            let mapping = session.currentMapping
            let all = (mapping?.attributeMappings ?? []) + (mapping?.relationshipMappings ?? [])
            guard let found = all.first(where: { $0.name == property }) else { return .null }
            return try Self.value(selector, arguments, of: found) ?? .null
        case (.manager, SelectorCatalog.byMapping):
            guard arguments.count == 2, case .string(let name) = arguments[0] else { throw wrong(selector) }
            let sources = try objects(arguments[1], selector)
            askedObjects += sources.count
            return collection(try session.destinations(mappingNamed: name, of: sources))
        case (.manager, SelectorCatalog.byRelationship):
            guard arguments.count == 2 else { throw wrong(selector) }
            let sources = try objects(arguments[1], selector)
            askedObjects += sources.count
            return collection(try session.destinations(of: sources, fitting: fitting))
        case (.manager, SelectorCatalog.sources):
            guard arguments.count == 2, case .string(let name) = arguments[0] else { throw wrong(selector) }
            return collection(try session.sources(mappingNamed: name, of: try objects(arguments[1], selector)))
        case (.manager, _):
            guard let function = own[selector] else { throw unknown(selector, "the migration manager") }
            return try function(arguments, manager)
        case (.entityPolicy, _):
            guard let function = policy[selector] else { throw unknown(selector, "the policy") }
            return try function(arguments, manager)
        default: throw unknown(selector, "this object")
        }
    }

    /// What expressions may read from `$entityMapping`.
    private static func value(
        _ selector: String, _ arguments: [Value], of mapping: EntityMapping
    ) throws(ObjectError) -> Value? {
        switch selector {
        case "name": return .string(mapping.name)
        case "sourceEntityName": return mapping.sourceEntityName.map { .string($0) }
        case "destinationEntityName": return mapping.destinationEntityName.map { .string($0) }
        case SelectorCatalog.keyPath:
            let path = try path(arguments, keys: "name, sourceEntityName, destinationEntityName")
            if let value = info(path, mapping.userInfo) { return value }
            return try value(path, [], of: mapping)
        default: throw unknownKey("name, sourceEntityName, destinationEntityName")
        }
    }

    /// What expressions may read from `$propertyMapping`.
    private static func value(
        _ selector: String, _ arguments: [Value], of mapping: PropertyMapping
    ) throws(ObjectError) -> Value? {
        switch selector {
        case "name": return .string(mapping.name)
        case SelectorCatalog.keyPath:
            let path = try path(arguments, keys: "name")
            if let value = info(path, mapping.userInfo) { return value }
            return try value(path, [], of: mapping)
        default: throw unknownKey("name")
        }
    }

    /// The computed argument of `valueForKeyPath:`.
    private static func path(_ arguments: [Value], keys: String) throws(ObjectError) -> String {
        guard case .string(let path)? = arguments.first, path != SelectorCatalog.keyPath else { throw unknownKey(keys) }
        return path
    }

    /// A value of the user info, NULL where it lacks the key; nil for a path that leads elsewhere.
    private static func info(_ path: String, _ info: [String: Value]) -> Value? {
        guard path.hasPrefix("userInfo.") else { return nil }
        return info[String(path.dropFirst("userInfo.".count))] ?? .null
    }

    private static func unknownKey(_ keys: String) -> ObjectError {
        ObjectError(.unknownProperty, "a mapping's keys in expressions are \(keys), and `userInfo.` with a key of it")
    }

    /// A single object or nil counts as a collection (InsideCoreDataMigration §3).
    private func objects(_ value: Value, _ selector: String) throws -> [ObjectID] {
        switch value {
        case .null: return []
        case .object(let id): return [id]
        case .collection(let members):
            return try members.compactMap { member in
                switch member {
                case .object(let id): return id
                case .null: return nil
                case .collection, .boolean, .integer, .real, .decimal, .string, .date, .data, .uuid, .uri:
                    throw wrong(selector)
                }
            }
        case .boolean, .integer, .real, .decimal, .string, .date, .data, .uuid, .uri: throw wrong(selector)
        }
    }

    private func collection(_ objects: [ObjectID]) -> Value { .collection(objects.map { .object($0) }) }

    private func wrong(_ selector: String) -> ObjectError {
        ObjectError(.type, "\(selector) takes a name and objects")
    }

    private func unknown(_ selector: String, _ receiver: String) -> ObjectError {
        ObjectError(.unknownProperty, "\(receiver) has no function \(selector)")
    }
}
