public import CausewayEvaluation

/// One step of a migration as policies see it: what `NSMigrationManager` is.
///
/// Subclass it to be told about every association (`associate(sourceInstance:withDestinationInstance:for:)`) or to give
/// expressions functions of your own; pass the class to `Migrator`.
open class MigrationManager {
    private var attached: MigrationSession?

    /// Called by the migration.
    public required init() {}

    /// Whether a killed migration may resume with a fresh manager: true for a subclass that remembers nothing from row
    /// to row. See `EntityMigrationPolicy.isResumable`.
    open class var isResumable: Bool { self == MigrationManager.self }

    /// Says that what the manager's functions give has changed: unfinished work of another revision isn't resumed.
    open class var revision: Int { 1 }

    /// Data of this run that policies share. Each independent policy sees a copy.
    public var userInfo: [String: any Sendable] = [:]

    /// What expressions may call through `$manager` beside Core Data's own selectors, by selector.
    open var functions: [String: MigrationFunction] { [:] }

    /// The store that is read.
    public var sourceContext: ObjectContext { session.source }

    /// The store that is made.
    public var destinationContext: ObjectContext { session.destination }

    /// The entity mapping that is being processed.
    public var currentEntityMapping: EntityMapping? { session.currentMapping }

    /// From 0 to 1 over the step's three stages, each by entity mappings.
    public var migrationProgress: Double { session.progress() }

    /// Remembers that a destination object was made from a source object: lookups in stage 2 find it.
    ///
    /// A subclass may override it to be told about every association, and calls `super`.
    ///
    /// - Parameters:
    ///   - sInstance: the source object.
    ///   - dInstance: the destination object.
    ///   - mapping: the entity mapping under which it was made.
    /// - Throws: `ObjectError` where the objects belong to the wrong stores.
    open func associate(
        sourceInstance sInstance: ManagedObject, withDestinationInstance dInstance: ManagedObject,
        for mapping: EntityMapping
    ) throws {
        try session.associate(sInstance.objectID, dInstance.objectID, mapping)
    }

    /// The destination objects made from source objects under one entity mapping, in the order of the source objects.
    ///
    /// - Parameters:
    ///   - name: the entity mapping's name.
    ///   - sourceInstances: objects of the source context; those that were not migrated have no result.
    /// - Returns: objects of the destination context.
    /// - Throws: `ObjectError` where there is no such mapping, or the associations can't be read.
    public func destinationInstances(
        forEntityMappingName name: String, sourceInstances: [ManagedObject]
    ) throws(ObjectError) -> [ManagedObject] {
        if sourceInstances.count == 1, let only = sourceInstances.first,
            let own = session.ownDestination(mappingNamed: name, of: only.objectID)
        {
            return [destinationContext.object(with: own)]
        }
        return try session.destinations(mappingNamed: name, of: sourceInstances.map(\.objectID))
            .map { destinationContext.object(with: $0) }
    }

    /// The first destination object made from a source object under an entity mapping.
    ///
    /// For the source object that a hook was called with it costs no look-up and no array.
    ///
    /// - Parameters:
    ///   - sInstance: an object of the source context.
    ///   - mapping: the entity mapping.
    /// - Returns: an object of the destination context; nil where the source object has no result.
    /// - Throws: `ObjectError` where the associations can't be read.
    public func destinationInstance(
        forSource sInstance: ManagedObject, in mapping: EntityMapping
    ) throws(ObjectError) -> ManagedObject? {
        try session.destination(of: sInstance.objectID, mapping: mapping.index)
            .map { destinationContext.object(with: $0) }
    }

    /// The destination objects made from source objects under any entity mapping.
    ///
    /// - Parameters:
    ///   - relationship: the source relationship that led to the objects, or a destination relationship that the result
    ///     is meant for: where the destination model has it, only objects that fit are returned.
    ///   - sourceInstances: objects of the source context.
    /// - Returns: objects of the destination context.
    /// - Throws: `ObjectError` where the associations can't be read.
    public func destinationInstances(
        forSourceRelationshipNamed relationship: String, sourceInstances: [ManagedObject]
    ) throws(ObjectError) -> [ManagedObject] {
        try session.destinations(of: sourceInstances.map(\.objectID), fitting: nil)
            .map { destinationContext.object(with: $0) }
    }

    /// The source objects from which destination objects were made under one entity mapping.
    ///
    /// - Parameters:
    ///   - name: the entity mapping's name.
    ///   - destinationInstances: objects of the destination context.
    /// - Returns: objects of the source context.
    /// - Throws: `ObjectError` where there is no such mapping, or the associations can't be read.
    public func sourceInstances(
        forEntityMappingName name: String, destinationInstances: [ManagedObject]
    ) throws(ObjectError) -> [ManagedObject] {
        try session.sources(mappingNamed: name, of: destinationInstances.map(\.objectID))
            .map { sourceContext.object(with: $0) }
    }

    /// The object of an entity whose attribute has a value, made where there is none yet: for rows that many source
    /// rows share, such as the maker of cars.
    ///
    /// Found through an index on disk with a cache of bounded size in front, so that it costs the same with ten shared
    /// objects as with a million. It knows objects that it made itself.
    ///
    /// - Parameters:
    ///   - entity: the destination entity.
    ///   - attribute: the attribute that identifies the object.
    ///   - value: its value.
    /// - Returns: the object, and whether it was made by this call (its attribute is set then).
    /// - Throws: `ObjectError`; with `.detached` in an independent policy.
    public func findOrInsert(
        _ entity: String, where attribute: PropertyKey, is value: Value
    ) throws(ObjectError) -> (object: ManagedObject, isNew: Bool) {
        let found = try session.findOrInsert(entity, attribute, value)
        return (destinationContext.object(with: found.object), found.isNew)
    }

    /// Stops the migration with this error after the current hook.
    ///
    /// - Parameter error: what the migration throws.
    public func cancelMigration(with error: any Error) {
        session.cancel(error)
    }

    package var session: MigrationSession {
        guard let attached else { preconditionFailure("a migration manager works only while its migration runs") }
        return attached
    }

    /// Begins or ends working for a session.
    package func attach(_ session: MigrationSession?) {
        attached = session
    }
}
