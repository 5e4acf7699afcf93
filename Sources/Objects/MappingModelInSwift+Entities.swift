import CausewayMapping

// The entity mappings of a mapping model written in Swift, named after Core Data's `NSEntityMappingType`.

/// An unchanged entity; its rows are carried over.
public struct CopyEntity: EntityMappings {
    /// The one entity mapping.
    public let statements: [EntityMappingStatement]

    /// Describes the entity mapping.
    ///
    /// - Parameters:
    ///   - entity: the entity, which both versions have.
    ///   - name: the entity mapping's name; nil is `EntityToEntity`, as in Xcode.
    ///   - fillsUnmentioned: whether properties without a statement are carried over too.
    ///   - content: property mappings and filters.
    public init(
        _ entity: String, name: String? = nil, fillsUnmentioned: Bool = true,
        @EntityMappingPartsBuilder content: () -> [EntityMappingPart] = { [] }
    ) {
        statements = [
            EntityMappingStatement(
                .copy(entity, name: name, autofill: fillsUnmentioned, content().map(\.part)))
        ]
    }
}

/// An entity whose objects become objects of another entity, or of a changed one: a transformed mapping, and a custom
/// one where it has a policy.
public struct TransformEntity: EntityMappings {
    /// The one entity mapping.
    public let statements: [EntityMappingStatement]

    /// Describes the entity mapping.
    ///
    /// - Parameters:
    ///   - source: the entity before.
    ///   - destination: the entity after; nil is the same name.
    ///   - name: the entity mapping's name; nil is `SourceToDestination`, as in Xcode.
    ///   - policy: the policy's class, which is registered with the mapping model.
    ///   - fillsUnmentioned: whether properties without a statement are carried over too.
    ///   - content: property mappings, filters and user info.
    public init(
        _ source: String, to destination: String? = nil, name: String? = nil,
        policy: EntityMigrationPolicy.Type? = nil, fillsUnmentioned: Bool = true,
        @EntityMappingPartsBuilder content: () -> [EntityMappingPart] = { [] }
    ) {
        let parts = content().map(\.part) + (policy.map { [.policy(String(describing: $0))] } ?? [])
        statements = [
            EntityMappingStatement(
                .transform(source, to: destination, name: name, autofill: fillsUnmentioned, parts), policy: policy)
        ]
    }
}

/// An entity that only the version after has. Its objects are made by policies of other entity mappings.
public struct AddEntity: EntityMappings {
    /// The one entity mapping.
    public let statements: [EntityMappingStatement]

    /// Describes the entity mapping.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - name: the entity mapping's name; nil is the entity's.
    public init(_ entity: String, name: String? = nil) {
        statements = [EntityMappingStatement(.add(entity, name: name))]
    }
}

/// An entity that only the version before has. Its objects are dropped.
public struct RemoveEntity: EntityMappings {
    /// The one entity mapping.
    public let statements: [EntityMappingStatement]

    /// Describes the entity mapping.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - name: the entity mapping's name; nil is the entity's.
    public init(_ entity: String, name: String? = nil) {
        statements = [EntityMappingStatement(.remove(entity, name: name))]
    }
}
