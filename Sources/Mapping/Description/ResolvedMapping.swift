package import CausewayExpressions
package import CausewayModel

/// A mapping model that fits two models, with all defaults filled in, as Xcode's compiler does.
package struct ResolvedMapping: Hashable, Sendable {
    package var name: String
    package var path: String?
    /// In processing order.
    package var entityMappings: [ResolvedEntityMapping]
    /// Likely mistakes: properties that both models have and the mapping leaves out.
    package var warnings: [MappingNotice] = []
    /// Source rows that no entity mapping reads; several mapping models of one step are checked together with
    /// `MappingNotice.losses(of:from:)`.
    package var losses: [MappingNotice] = []

    package func entityMapping(named name: String) -> ResolvedEntityMapping? {
        entityMappings.first { $0.mapping.name == name }
    }
}

/// One entity mapping of a resolved mapping model.
package struct ResolvedEntityMapping: Hashable, Sendable {
    /// Complete: the kind is never `undefined`, hashes are the models', every property mapping has its expression or
    /// leaves its property alone, and a filter is part of the source expression.
    package var mapping: EntityMappingDescription
    package var rows: SourceRows

    /// The plain condition on the rows of the source entity; nil for all of them, and if `rows` is a collection.
    package var filter: Predicate? {
        if case .entity(let filter, _) = rows { filter } else { nil }
    }
}

/// Which source rows an entity mapping reads.
package enum SourceRows: Hashable, Sendable {
    /// None: the mapping has no source entity.
    case none
    /// The source entity's rows that fulfil the filter; rows of its subentities only where it says so.
    case entity(filter: Predicate?, includesSubentities: Bool)
    /// The result of the mapping's source expression.
    case collection(Expression)

    package var includesSubentities: Bool {
        if case .entity(_, true) = self { true } else { false }
    }
}

/// A version as mapping models are matched to it; hashes are computed once and kept.
package struct VersionedModel: Hashable, Sendable {
    /// The version's name, its `.xcdatamodel`'s; nil where it isn't known.
    package var name: String?
    package var model: ManagedObjectModel
    package var hashes: VersionHashes

    package init(name: String? = nil, model: ManagedObjectModel, hashes: VersionHashes? = nil) {
        self.name = name
        self.model = model
        self.hashes = hashes ?? VersionHashes(model)
    }
}

/// A property or entity that a resolved mapping model leaves out.
package struct MappingNotice: Hashable, Sendable, CustomStringConvertible {
    package enum Subject: Hashable, Sendable {
        /// A destination property isn't mentioned though the source has one of the same name.
        case propertyLeftOut(String)
        /// No entity mapping reads an entity's rows.
        case entityNotMigrated
        /// An entity mapping reads an entity's rows, but none reads those of this subentity.
        case subentityNotMigrated(of: String)
    }

    package var subject: Subject
    /// The entity mapping; nil if it isn't about a single one.
    package var mapping: String?
    /// Of the destination for a property, else of the source.
    package var entity: String
    /// One sentence that says what happens and what to do.
    package var message: String

    package var description: String { message }
}
