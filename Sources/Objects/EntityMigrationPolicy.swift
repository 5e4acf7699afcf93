public import CausewayEvaluation

/// A function of a policy or a manager that expressions may call: `FUNCTION($entityPolicy, 'trimmed:', $source.phone)`.
public typealias MigrationFunction = ([Value], MigrationManager) throws -> Value

/// How one entity mapping's rows are migrated: what `NSEntityMigrationPolicy` is.
///
/// Override what differs and call `super` for the rest. The hooks come in Core Data's order, stage by stage over all
/// entity mappings:
///
/// 1. for each mapping `begin`, then `createDestinationInstances` for each source row, then `endInstanceCreation`;
/// 2. for each mapping `createRelationships` for each row made in stage 1, then `endRelationshipCreation`;
/// 3. for each mapping `performCustomValidation`, then `end`.
///
/// One instance lives through all three stages of its mapping, and its hooks are called on one thread. An error that a
/// hook throws stops the migration, with the source row's URI in the message; the store stays as it is.
open class EntityMigrationPolicy {
    /// Called by the migration.
    public required init() {}

    /// Whether every row is migrated independently of all others: such a policy runs on all workers at once, one
    /// instance each.
    ///
    /// It keeps no state from row to row, reads source objects, and makes and links objects for its own row only. It
    /// can't fetch from the destination. Each worker's instance gets `begin` and `end` of its own; one instance gets
    /// all other hooks, as usual. The default is false: rows come in the source's order, one after another.
    open class var isIndependent: Bool { false }

    /// Whether a killed migration may resume between any two rows with a fresh instance.
    ///
    /// Such a policy decides about each row by the source, the destination, associations and `findOrInsert` alone:
    /// neither its instance nor the manager's `userInfo` remembers anything from row to row. `begin` is called once
    /// more on the fresh instance; it prepares the instance and makes no objects. If a policy of a step isn't
    /// resumable, a resumed run makes all rows of that step's mapping models again. By default an independent policy is
    /// resumable.
    open class var isResumable: Bool { isIndependent }

    /// Whether the policy overrides `createRelationships`.
    ///
    /// One that doesn't may say false: then stage 2 reads its rows again only where the mapping has relationship
    /// expressions. The default is true.
    open class var createsRelationships: Bool { true }

    /// Whether the policy asks the source for other objects than the one that a hook is called with: follows its links,
    /// fetches, counts.
    ///
    /// An independent policy that doesn't runs together with the steps before it, which hand it each row and make no
    /// store. One that does may say so: then its step doesn't even begin like this. Otherwise the migration notices,
    /// and its steps run one by one after all. The default is false.
    open class var readsOtherObjects: Bool { false }

    /// Says that the policy's results have changed: unfinished work of another revision isn't resumed.
    ///
    /// Raise it whenever you change the policy's results.
    open class var revision: Int { 1 }

    /// What expressions may call through `$entityPolicy`, by selector (`bookState:`). Read once, before the first row.
    open var functions: [String: MigrationFunction] { [:] }

    /// Before the first row of the mapping.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes the destination objects of one source object.
    ///
    /// The default makes one object of the mapping's destination entity, fills its attributes by the mapping's
    /// expressions, and associates it. An override may make none, one or many objects of any entity; it associates what
    /// it makes by hand.
    ///
    /// - Parameters:
    ///   - sInstance: the source object.
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.session.createDefault(from: sInstance.objectID, mapping, manager)
    }

    /// After the last row of the mapping.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Links one destination object that was associated in stage 1.
    ///
    /// The default evaluates the mapping's relationship expressions with the source object and sets the relationships;
    /// their inverses follow.
    ///
    /// - Parameters:
    ///   - dInstance: the destination object.
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.session.relateDefault(dInstance.objectID, mapping)
    }

    /// After the last row's relationships.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Checks what the model can't; it fetches its objects itself. The model's own rules are checked afterwards.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// The mapping is done.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping.
    ///   - manager: the migration.
    /// - Throws: whatever stops the migration.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}
