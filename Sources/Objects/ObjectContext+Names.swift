import CausewayEvaluation
import CausewayPlanning
import CausewayStoreFormat

/// Properties and entities by their names.
extension ObjectContext {
    /// A property's name, resolved for this context's model.
    ///
    /// - Parameter name: the property's name; a composite's element is `composite.element`.
    /// - Returns: the key.
    /// - Throws: `ObjectError` with `.unknownProperty` where no entity of the model has such a property.
    public func key(_ name: String) throws(ObjectError) -> PropertyKey {
        guard let handle = map.schema.handle(of: name) else {
            throw ObjectError(.unknownProperty, "no entity of the \(side) model has a property “\(name)”")
        }
        return PropertyKey(map.schema.names[handle.index], handle: handle)
    }

    func handle(_ key: PropertyKey, of object: ObjectID) throws(ObjectError) -> PropertyHandle {
        // A handle of another model is an index into another list; `names` is the same object if the handle is ours.
        if let handle = key.handle, map.schema.isName(key.name, of: handle) { return handle }
        return try propertyNames.number(of: key.name) { () throws(ObjectError) in
            guard let handle = map.schema.handle(of: key.name) else {
                throw ObjectError(
                    .unknownProperty,
                    "\(map.name(of: object.entity)) has no property “\(key.name)” in the \(side) model")
            }
            return handle
        }
    }

    func place(_ key: PropertyKey, of object: ObjectID) throws(ObjectError) -> PropertyStorage {
        guard let place = map.place(of: try handle(key, of: object), entity: object.entity) else {
            throw ObjectError(
                .unknownProperty, "\(map.name(of: object.entity)) has no property “\(key.name)” in the \(side) model")
        }
        return place
    }

    /// An attribute with a column of its own; nil for any other property, and for one that the entity lacks.
    func attribute(_ key: PropertyKey, of object: ObjectID) throws(ObjectError) -> AttributePlace? {
        let handle = try handle(key, of: object)
        let index = Int(object.entity) - 1
        guard attributes.indices.contains(index) else { return nil }
        if attributes[index].isEmpty {
            attributes[index] = map.schema.names.indices.map { name in
                guard
                    case .attribute(let column, let attribute)? = map.place(
                        of: .init(index: name), entity: object.entity)
                else { return nil }
                return AttributePlace(column: column, form: AttributeForm(attribute))
            }
        }
        return attributes[index][handle.index]
    }

    /// Z_ENT of an entity that can have rows.
    package func number(of entity: String) throws(ObjectError) -> Int32 {
        try entityNames.number(of: entity) { () throws(ObjectError) in
            guard let number = map.layout.entityNumbers[entity] else {
                throw ObjectError(.unknownEntity, "the \(side) model has no entity “\(entity)”")
            }
            return Int32(number)
        }
    }
}
