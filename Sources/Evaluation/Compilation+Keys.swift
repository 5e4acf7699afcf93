import CausewayModel

// One key of a key path: properties of rows, leaves of composites, keys of values.

extension Compilation {
    /// A composite without a leaf in the path is read as a whole.
    func finish(_ path: inout CompiledPath) {
        var type = path.type
        var depth = 0
        while case .collection(_, let element) = type {
            type = element
            depth += 1
        }
        guard case .composite(let schema, _, let name) = type, let handle = schema.handle(of: name) else { return }
        let read = Self.read(handle)
        if depth == 0 {
            let handles = path.handles
            path.append(.any, read)
            path.handles = handles.map { $0 + [handle] }
        } else {
            path.append(.collection(.array, of: .any)) { [depth] (value, scope) throws(EvaluationError) in
                try Self.map(value, depth: depth, scope, read)
            }
        }
    }

    private static func map(
        _ value: Value, depth: Int, _ scope: EvaluationScope, _ step: PathStep
    ) throws(EvaluationError) -> Value {
        guard depth > 0, case .collection(let members) = value else { return try step(value, scope) }
        var results: [Value] = []
        for member in members { results.append(try map(member, depth: depth - 1, scope, step)) }
        return .collection(results)
    }

    func add(_ key: String, to path: inout CompiledPath) throws(CompilationError) {
        switch path.type {
        case .object(let schema, let entity): try add(property: key, schema, entity, nil, to: &path)
        case .composite(let schema, let entity, let name): try add(property: key, schema, entity, name, to: &path)
        case .objectID(let schema, let entity): try add(objectIDKey: key, schema, entity, to: &path)
        case .entity:
            guard key == "name" || key == "self" else { throw unknown(key, on: path.type, ["name"]) }
        case .any, .null:
            path.append(.any) { (value, scope) throws(EvaluationError) in
                try DynamicKey.value(key, of: value, in: scope)
            }
        case .collection(let kind, let element): try add(key, toEachOf: kind, element, to: &path)
        default:
            guard let valueKey = ValueKey(rawValue: key), let type = valueKey.type(on: path.type) else {
                throw unknown(key, on: path.type, ValueKey.names(on: path.type))
            }
            path.append(type) { (value, _) throws(EvaluationError) in try valueKey.apply(value) }
        }
    }

    private func unknown(_ key: String, on type: ValueType, _ known: [String]) -> CompilationError {
        CompilationError(
            .unknownKey, "\(type.summary) has no key `\(key)`\(Spelling.hint(key, among: known))", name: key)
    }

    private func add(
        _ key: String, toEachOf kind: ValueType.Collection, _ element: ValueType, to path: inout CompiledPath
    ) throws(CompilationError) {
        var inner = CompiledPath(type: element)
        do throws(CompilationError) {
            try add(key, to: &inner)
        } catch {
            guard let valueKey = ValueKey(rawValue: key), let type = valueKey.type(on: path.type) else { throw error }
            if valueKey == .count, let relationship = path.lastToMany { return path.count(relationship) }
            path.append(type) { (value, _) throws(EvaluationError) in try valueKey.apply(value) }
            return
        }
        let walk = Self.walk(inner.steps)
        path.append(.collection(kind, of: inner.type)) { (value, scope) throws(EvaluationError) in
            if value.isNull { return .null }
            var values: [Value] = []
            for member in try Self.members(value, of: "The key `\(key)`") { values.append(try walk(member, scope)) }
            return kind == .set ? .collection(values.filter { !$0.isNull }.distinct) : .collection(values)
        }
    }

    private func add(
        objectIDKey key: String, _ schema: ModelSchema, _ entity: String, to path: inout CompiledPath
    ) throws(CompilationError) {
        switch key {
        case "URIRepresentation", "uriRepresentation":
            path.append(.uri) { (value, scope) throws(EvaluationError) in
                guard let object = try Self.object(value) else { return .null }
                return .uri(try scope.graph(of: object).uri(of: object))
            }
        case "entity": try add(property: key, schema, entity, nil, to: &path)
        default: throw unknown(key, on: path.type, ["URIRepresentation", "entity"])
        }
    }

    /// A key of a row, or of a composite attribute of one.
    private func add(
        property key: String, _ schema: ModelSchema, _ entity: String, _ composite: String?, to path: inout CompiledPath
    ) throws(CompilationError) {
        let name = composite.map { "\($0).\(key)" } ?? key
        guard let handle = schema.handle(of: name), let property = schema.anyProperty(handle, of: entity) else {
            if composite == nil, let found = objectKey(key, schema, entity) {
                path.append(found.type, found.step)
                return
            }
            throw unknownProperty(key, schema, entity, composite)
        }
        let handles = path.handles
        let isOwn = schema.number(of: entity).map { schema.property(handle, of: $0) != nil } ?? false
        let read = isOwn ? Self.read(handle) : Self.readOfSubentities(handle, schema)
        switch property {
        case .composite:
            // The value stays the object until a leaf is named.
            path.type = .composite(schema, entity: entity, path: name)
        case .attribute(let attribute):
            path.append(ValueType(attribute.type), read)
            path.handles = isOwn ? handles.map { $0 + [handle] } : nil
        case .relationship(let relationship):
            let target = ValueType.object(schema, entity: relationship.destination)
            path.append(relationship.isToMany ? .collection(.set, of: target) : target, read)
            path.handles = isOwn ? handles.map { $0 + [handle] } : nil
            if relationship.isToMany, isOwn { path.lastToMany = handle }
        case .fetched:
            throw CompilationError(
                .unsupported, "`\(key)` is a fetched property, whose objects aren't stored: fetch them in a policy",
                name: key, entity: entity)
        }
    }

    private func unknownProperty(
        _ key: String, _ schema: ModelSchema, _ entity: String, _ composite: String?
    ) -> CompilationError {
        let known = schema.propertyNames(of: entity, within: composite)
        let owner = composite.map { "\(entity).\($0)" } ?? entity
        return CompilationError(
            .unknownKey, "\(owner) has no property `\(key)`\(Spelling.hint(key, among: known))", name: key,
            entity: entity)
    }

    /// The keys of every managed object, and the catalog's functions for rows.
    private func objectKey(_ key: String, _ schema: ModelSchema, _ entity: String) -> (type: ValueType, step: PathStep)?
    {
        switch key {
        case "objectID":
            return (.objectID(schema, entity: entity), { (value, _) throws(EvaluationError) in value })
        case "self":
            return (.object(schema, entity: entity), { (value, _) throws(EvaluationError) in value })
        case "entity":
            let name: PathStep = { (value, scope) throws(EvaluationError) in
                guard let object = try Self.object(value) else { return .null }
                return try DynamicKey.entityName(of: object, in: scope)
            }
            return (.entity, name)
        default:
            guard compiler.functions.hasFunction(key, on: .object, argumentCount: 0) else { return nil }
            let call: PathStep = { (value, scope) throws(EvaluationError) in
                value.isNull ? .null : try scope.call(key, on: .object, [value])
            }
            return (.any, call)
        }
    }

    static func read(_ handle: PropertyHandle) -> PathStep {
        { (value, scope) throws(EvaluationError) in
            guard let object = try Self.object(value) else { return .null }
            return try scope.graph(of: object).value(of: handle, in: object)
        }
    }

    /// A property that only subentities have is NULL in other rows, like its column in their shared table.
    private static func readOfSubentities(_ handle: PropertyHandle, _ schema: ModelSchema) -> PathStep {
        let read = read(handle)
        return { (value, scope) throws(EvaluationError) in
            guard let object = try object(value), schema.property(handle, of: Int(object.entity)) != nil else {
                return .null
            }
            return try read(value, scope)
        }
    }

    /// Nil for NULL.
    static func object(_ value: Value) throws(EvaluationError) -> ObjectID? {
        switch value {
        case .object(let object): return object
        case .null: return nil
        default: throw EvaluationError(.type, "The key is one of an object, not of \(value.kindName).")
        }
    }
}

extension ModelSchema {
    /// The property as the entity has it, else as the first of its subentities that has one: rows of a relationship may
    /// be of those.
    func anyProperty(_ handle: PropertyHandle, of entity: String) -> Property? {
        guard let number = number(of: entity) else { return nil }
        if let found = property(handle, of: number) { return found }
        return entities.indices.lazy.filter { model.isKind(entities[$0], of: entity) }
            .compactMap { property(handle, of: $0 + 1) }.first
    }

    /// For messages.
    func propertyNames(of entity: String, within composite: String?) -> [String] {
        let prefix = composite.map { "\($0)." } ?? ""
        return names.indices.compactMap { index in
            let name = names[index]
            guard name.hasPrefix(prefix), anyProperty(PropertyHandle(index: index), of: entity) != nil else {
                return nil
            }
            let rest = name.dropFirst(prefix.count)
            return rest.contains(".") ? nil : String(rest)
        }
    }
}
