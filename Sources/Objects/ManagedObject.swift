public import CausewayEvaluation
import CausewayPlanning

/// One object of a store: what `NSManagedObject` is to a policy. A value that names a row in a context; copies name the
/// same row.
///
/// ```swift
/// let section = try manager.destinationContext.insert("Section")
/// try section.set("title", to: .string(title))
/// try section.set("post", to: .object(post.objectID))
/// ```
public struct ManagedObject: Hashable {
    /// The context that the object was got from.
    public let context: ObjectContext
    /// The object's identity; it stays the same for the whole migration, except for new objects of independent
    /// policies, which get their key when their batch is written.
    public let objectID: ObjectID

    /// Two objects are equal if they are the same row of the same store.
    public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a.objectID == b.objectID }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(objectID) }

    /// The name of the row's own entity.
    public var entityName: String { context.map.name(of: objectID.entity) }

    /// `x-coredata://<store UUID>/<Entity>/p<key>`.
    public var uri: String { context.uri(of: objectID) }

    // MARK: - Any property

    /// The value of a property: NULL, a value of the attribute's type, an object, or a collection of objects.
    ///
    /// - Parameter key: the property's name.
    /// - Returns: the value.
    /// - Throws: `ObjectError` where the entity has no such property or the row can't be read.
    public func value(forKey key: String) throws(ObjectError) -> Value {
        try context.value(PropertyKey(key), of: objectID)
    }

    /// The value of a property.
    ///
    /// - Parameter key: the property.
    /// - Returns: the value.
    /// - Throws: `ObjectError` where the entity has no such property or the row can't be read.
    public func value(_ key: PropertyKey) throws(ObjectError) -> Value {
        try context.value(key, of: objectID)
    }

    /// Sets a property; a relationship's inverse follows.
    ///
    /// - Parameters:
    ///   - value: NULL, a value of the attribute's type, an object, or a collection of objects.
    ///   - key: the property's name.
    /// - Throws: `ObjectError` where the entity has no such property, the value doesn't fit it, or the object belongs
    ///   to a source store.
    public func setValue(_ value: Value, forKey key: String) throws(ObjectError) {
        try context.set(PropertyKey(key), of: objectID, to: value)
    }

    /// Sets a property; a relationship's inverse follows.
    ///
    /// - Parameters:
    ///   - key: the property.
    ///   - value: NULL, a value of the attribute's type, an object, or a collection of objects.
    /// - Throws: `ObjectError` where the entity has no such property, the value doesn't fit it, or the object belongs
    ///   to a source store.
    public func set(_ key: PropertyKey, to value: Value) throws(ObjectError) {
        try context.set(key, of: objectID, to: value)
    }

    // MARK: - Relationships

    /// A to-one's target.
    ///
    /// - Parameter key: a to-one relationship.
    /// - Returns: the target, nil where there is none.
    /// - Throws: `ObjectError` where it isn't a to-one relationship or the row can't be read.
    public func object(_ key: PropertyKey) throws(ObjectError) -> ManagedObject? {
        switch try context.value(key, of: objectID) {
        case .null: return nil
        case .object(let id): return ManagedObject(context: context, objectID: id)
        default: throw mismatch(key, "a to-one relationship")
        }
    }

    /// A relationship's members: in its order where it is ordered, else by key.
    ///
    /// - Parameter key: a relationship.
    /// - Returns: the members; those of one object are held in memory.
    /// - Throws: `ObjectError` where it isn't a relationship or the rows can't be read.
    public func objects(_ key: PropertyKey) throws(ObjectError) -> [ManagedObject] {
        switch try context.value(key, of: objectID) {
        case .null: return []
        case .object(let id): return [ManagedObject(context: context, objectID: id)]
        case .collection(let members):
            return try members.map { member throws(ObjectError) in
                guard case .object(let id) = member else { throw mismatch(key, "a relationship") }
                return ManagedObject(context: context, objectID: id)
            }
        default: throw mismatch(key, "a relationship")
        }
    }

    /// Sets a to-one relationship; nil ends it.
    ///
    /// - Parameters:
    ///   - key: a to-one relationship.
    ///   - target: an object of the same context.
    /// - Throws: `ObjectError` as `set(_:to:)` does.
    public func set(_ key: PropertyKey, to target: ManagedObject?) throws(ObjectError) {
        try context.set(key, of: objectID, to: target.map { .object($0.objectID) } ?? .null)
    }

    /// Sets a to-many relationship; the members' order becomes an ordered relationship's.
    ///
    /// - Parameters:
    ///   - key: a to-many relationship.
    ///   - members: objects of the same context.
    /// - Throws: `ObjectError` as `set(_:to:)` does.
    public func set(_ key: PropertyKey, to members: [ManagedObject]) throws(ObjectError) {
        try context.set(key, of: objectID, to: .collection(members.map { .object($0.objectID) }))
    }

    /// Adds a member to a relationship, at its end where it is ordered.
    ///
    /// - Parameters:
    ///   - member: an object of the same context.
    ///   - key: a relationship.
    /// - Throws: `ObjectError` as `set(_:to:)` does.
    public func add(_ member: ManagedObject, to key: PropertyKey) throws(ObjectError) {
        let place = try context.place(key, of: objectID)
        try context.addMember(member.objectID, to: place, of: objectID, key: key)
    }

    /// Removes a member from a relationship; does nothing if it isn't a member.
    ///
    /// - Parameters:
    ///   - member: an object of the same context.
    ///   - key: a relationship.
    /// - Throws: `ObjectError` as `set(_:to:)` does.
    public func remove(_ member: ManagedObject, from key: PropertyKey) throws(ObjectError) {
        let place = try context.place(key, of: objectID)
        try context.removeMember(member.objectID, from: place, of: objectID)
    }

    /// Deletes the object; its relationships' delete rules apply.
    ///
    /// - Throws: `ObjectError` with `.denied` where a rule denies it.
    public func delete() throws(ObjectError) {
        try context.delete(objectID)
    }

    private func mismatch(_ key: PropertyKey, _ expected: String) -> ObjectError {
        ObjectError(.type, "\(entityName).\(key.name) isn't \(expected)")
    }
}
