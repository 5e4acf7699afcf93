package import CausewayExpressions
package import CausewayModel

/// A mapping model that fits two models, with nothing left to defaults: what Xcode's compiler makes of one.
package struct ResolvedMapping: Hashable, Sendable {
    package var name: String
    package var path: String?
    /// In processing order.
    package var entityMappings: [ResolvedEntityMapping]
    /// Likely mistakes: what the mapping leaves out though both models have it.
    package var warnings: [MappingNotice]
    /// Source rows that no entity mapping reads; several mapping models of one step are judged together with
    /// `MappingNotice.losses(of:from:)`.
    package var losses: [MappingNotice]

    package init(
        name: String, path: String?, entityMappings: [ResolvedEntityMapping], warnings: [MappingNotice] = [],
        losses: [MappingNotice] = []
    ) {
        self.name = name
        self.path = path
        self.entityMappings = entityMappings
        self.warnings = warnings
        self.losses = losses
    }

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

    package init(mapping: EntityMappingDescription, rows: SourceRows) {
        self.mapping = mapping
        self.rows = rows
    }

    /// The plain condition on the rows of the source entity; nil is all of them, and where `rows` is a collection.
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
    /// Whatever the mapping's source expression evaluates to.
    case collection(Expression)
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

/// Something that a resolved mapping model leaves out.
package struct MappingNotice: Hashable, Sendable, CustomStringConvertible {
    package enum Subject: Hashable, Sendable {
        /// A destination property isn't mentioned though the source has one of the same name.
        case propertyLeftOut(String)
        /// No entity mapping reads an entity's rows.
        case entityNotMigrated
        /// An entity mapping reads an entity's rows, and none those of this subentity of it.
        case subentityNotMigrated(of: String)
    }

    package var subject: Subject
    /// The entity mapping; nil where no single one is concerned.
    package var mapping: String?
    /// Of the destination for a property, else of the source.
    package var entity: String
    /// One sentence that says what happens and what to do.
    package var message: String

    package init(_ subject: Subject, mapping: String? = nil, entity: String, message: String) {
        self.subject = subject
        self.mapping = mapping
        self.entity = entity
        self.message = message
    }

    package var description: String { message }
}
