/// Keys of values whose type is only known at run time.
enum DynamicKey {
    /// - Throws: `missing` for a key that the row's entity lacks, `type` for one that the kind of value lacks.
    static func value(_ key: String, of value: Value, in scope: EvaluationScope) throws(EvaluationError) -> Value {
        switch value {
        case .null: return .null
        case .object(let object):
            let graph = try scope.graph(of: object)
            if let handle = graph.schema.handle(of: key),
                graph.schema.property(handle, of: Int(object.entity)) != nil
            {
                return try graph.value(of: handle, in: object)
            }
            switch key {
            case "objectID", "self": return value
            case "entity": return try entityName(of: object, in: scope)
            case "URIRepresentation": return .uri(graph.uri(of: object))
            default: throw EvaluationError(.missing, "The object's entity has no property `\(key)`.")
            }
        case .collection(let members):
            if let valueKey = ValueKey(rawValue: key), [.count, .firstObject, .lastObject].contains(valueKey) {
                return try valueKey.apply(value)
            }
            var values: [Value] = []
            for member in members { values.append(try self.value(key, of: member, in: scope)) }
            // Collections of objects come from relationships, and are sets.
            if case .object? = members.first { return .collection(values.filter { !$0.isNull }.distinct) }
            return .collection(values)
        default:
            guard let valueKey = ValueKey(rawValue: key) else {
                // The name of an entity, which is a string already.
                if key == "name", case .string = value { return value }
                throw EvaluationError(.type, "The key `\(key)` isn't one of \(value.kindName).")
            }
            return try valueKey.apply(value)
        }
    }

    static func entityName(of object: ObjectID, in scope: EvaluationScope) throws(EvaluationError) -> Value {
        let entities = try scope.graph(of: object).schema.entities
        guard entities.indices.contains(Int(object.entity) - 1) else {
            throw EvaluationError(.missing, "The object's entity isn't one of the model.")
        }
        return .string(entities[Int(object.entity) - 1])
    }
}
