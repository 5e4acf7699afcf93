package import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// Properties of objects as values.
extension ObjectContext {
    /// The value of any property.
    func value(_ key: PropertyKey, of object: ObjectID) throws(ObjectError) -> Value {
        if let place = try attribute(key, of: object) {
            return try value(try cell(object, column: place.column), as: place.form, named: key.name, of: object)
        }
        return try value(of: try place(key, of: object), named: key.name, in: object)
    }

    private func value(
        of place: PropertyStorage, named name: String, in object: ObjectID
    ) throws(ObjectError) -> Value {
        switch place {
        case .attribute(let column, let attribute):
            return try value(try cell(object, column: column), as: AttributeForm(attribute), named: name, of: object)
        case .composite(let leaves):
            for leaf in leaves {
                guard let place = map.place(of: leaf, entity: object.entity) else { continue }
                let value = try value(of: place, named: map.schema.names[leaf.index], in: object)
                // A composite has no value of its own; it can only be tested for being set.
                if !value.isNull { return .boolean(true) }
            }
            return .null
        case .toOne(let link):
            return try target(of: link, in: object).map { .object($0) } ?? .null
        case .toMany, .join:
            return .collection(try targets(of: place, in: object).map { .object($0) })
        case .none: return .null
        }
    }

    private func value(
        _ cell: Cell, as attribute: AttributeForm, named name: String, of object: ObjectID
    ) throws(ObjectError) -> Value {
        guard let value = try CellCoding.value(of: cell, as: attribute, content: content) else {
            throw ObjectError(
                .type,
                "\(self.name(object)).\(name): the stored value doesn't fit the attribute's type \(attribute.type)")
        }
        return value
    }

    /// Sets any property.
    func set(_ key: PropertyKey, of object: ObjectID, to value: Value) throws(ObjectError) {
        try requireChangeable(object)
        if let place = try attribute(key, of: object) {
            let cell = try cell(for: value, as: place.form, named: key.name, of: object)
            return try setCell(object, column: place.column, to: cell)
        }
        switch try place(key, of: object) {
        case .attribute: return
        case .composite: throw ObjectError(.type, "\(name(object)).\(key.name) is composite: set its elements")
        case .toOne(let link):
            switch value {
            case .null: try setOrClear(object, link, to: nil, key: key)
            case .object(let target): try setOrClear(object, link, to: target, key: key)
            case .collection(let members):
                // A relationship mapping's collection: a to-one takes its first object (InsideCoreDataMigration §3).
                try setOrClear(object, link, to: try objectIDs(members, key, object).first, key: key)
            default: throw notAnObject(key, object)
            }
        case .toMany(let link):
            try setMembers(of: link, in: object, to: try objectIDs(members(value, key, object), key, object), key: key)
        case .join(let link):
            try setMembers(of: link, in: object, to: try objectIDs(members(value, key, object), key, object), key: key)
        case .none: return
        }
    }

    /// Relates as the default policy does in stage 2: a to-one is set, and a to-many keeps the members that it has.
    /// Of several objects that were made of one source object it gets the first; which of several sources' it should
    /// get, nothing says.
    func relate(
        _ key: PropertyKey, of object: ObjectID, to value: Value, areOfOneSource: Bool
    ) throws(ObjectError) {
        let place = try place(key, of: object)
        switch place {
        case .toMany, .join:
            try addMembers(
                try objectIDs(members(value, key, object), key, object), to: place, of: object, key: key)
        case .toOne:
            if !areOfOneSource, case .collection(let members) = value {
                let objects = try objectIDs(members, key, object)
                guard objects.count < 2 else {
                    throw ObjectError(
                        .type,
                        "\(name(object)).\(key.name) is a to-one relationship, and is given \(objects.count) objects: "
                            + "choose one")
                }
            }
            try set(key, of: object, to: value)
        case .attribute, .composite, .none: try set(key, of: object, to: value)
        }
    }

    private func setOrClear(
        _ object: ObjectID, _ link: ToOneStorage, to target: ObjectID?, key: PropertyKey
    ) throws(ObjectError) {
        if let target { try require(target, isKind: link.relationship.destination, key, object) }
        try setTarget(of: link, in: object, to: target)
    }

    /// The stored form of an attribute's value.
    func cell(
        for value: Value, as attribute: AttributeForm, named name: String, of object: ObjectID
    ) throws(ObjectError) -> Cell {
        if attribute.isDerived {
            throw ObjectError(.type, "\(self.name(object)).\(name) is derived: Core Data computes it")
        }
        guard let cell = CellCoding.cell(for: value, as: attribute) else {
            throw ObjectError(
                .type,
                """
                \(self.name(object)).\(name): \(value.article) doesn't fit the attribute's type \(attribute.type), or \
                is too large for it
                """)
        }
        return cell
    }

    private func members(_ value: Value, _ key: PropertyKey, _ object: ObjectID) throws(ObjectError) -> [Value] {
        switch value {
        case .null: []
        case .object: [value]
        case .collection(let members): members
        default: throw notAnObject(key, object)
        }
    }

    /// A relationship's members are a set: duplicates count once, at their first place.
    private func objectIDs(
        _ values: [Value], _ key: PropertyKey, _ object: ObjectID
    ) throws(ObjectError) -> [ObjectID] {
        var result: [ObjectID] = []
        result.reserveCapacity(values.count)
        var seen: Set<ObjectID> = []
        for value in values {
            guard case .object(let id) = value else { throw notAnObject(key, object) }
            if seen.insert(id).inserted { result.append(id) }
        }
        return result
    }

    func require(
        _ target: ObjectID, isKind entity: String, _ key: PropertyKey, _ object: ObjectID
    ) throws(ObjectError) {
        guard target.side == side else {
            throw ObjectError(
                .type, "\(name(object)).\(key.name): an object of the other store; ask for its destination instances")
        }
        guard map.isKind(target.entity, of: entity) else {
            throw ObjectError(
                .type, "\(name(object)).\(key.name) leads to \(entity), not to \(map.name(of: target.entity))")
        }
    }

    private func notAnObject(_ key: PropertyKey, _ object: ObjectID) -> ObjectError {
        ObjectError(.type, "\(name(object)).\(key.name) is a relationship: only objects can be its members")
    }
}

extension Value {
    /// The kind of value, for messages: never the value itself.
    var article: String {
        switch self {
        case .null: "NULL"
        case .boolean: "a truth value"
        case .integer: "an integer"
        case .real(let value): value.isNaN ? "NaN" : "a real number"
        case .decimal: "a decimal number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .object: "an object"
        case .collection: "a collection"
        }
    }
}

extension ObjectContext: ObjectGraph {
    package var schema: ModelSchema { map.schema }

    package func value(of property: PropertyHandle, in object: ObjectID) throws(EvaluationError) -> Value {
        guard let place = map.place(of: property, entity: object.entity) else {
            throw EvaluationError(
                .missing, "\(map.name(of: object.entity)) has no property “\(map.schema.names[property.index])”")
        }
        do throws(ObjectError) {
            return try value(of: place, named: map.schema.names[property.index], in: object)
        } catch {
            throw EvaluationError(error)
        }
    }

    package func count(of relationship: PropertyHandle, in object: ObjectID) throws(EvaluationError) -> Int {
        guard let place = map.place(of: relationship, entity: object.entity) else {
            throw EvaluationError(
                .missing, "\(map.name(of: object.entity)) has no property “\(map.schema.names[relationship.index])”")
        }
        do throws(ObjectError) {
            return try targetCount(of: place, in: object)
        } catch {
            throw EvaluationError(error)
        }
    }

    package func uri(of object: ObjectID) -> String {
        ObjectURI.of(object.key, map.name(of: object.entity), in: storeUUID)
    }
}

extension EvaluationError {
    package init(_ error: ObjectError) {
        switch error.code {
        case .missing, .unknownEntity, .unknownProperty: self.init(.missing, error.message)
        case .type: self.init(.type, error.message)
        default: self.init(.reading, error.message, cause: error)
        }
    }
}
