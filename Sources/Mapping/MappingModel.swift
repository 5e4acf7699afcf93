package import CausewayExpressions
package import CausewayModel

/// The mapping from one model version to another: what `NSMappingModel` holds, as values that a planner can compose.
package struct MappingModel: Hashable, Sendable {
    /// In processing order: destination entities in store order, then removed ones.
    package var entityMappings: [EntityMapping] { didSet { (bySource, byDestination) = (NameIndex(), NameIndex()) } }
    /// Keys of the given origins that it follows (`MappingInference.origins`).
    package var settledOrigins: Set<String> = []
    /// Rows of some entities lose a relationship that others of its kind keep.
    package var leavesLinks = false
    /// The topmost ancestor of each source entity.
    package var sourceRoots: [String: String] = [:]
    private var bySource = NameIndex()
    private var byDestination = NameIndex()

    package init(entityMappings: [EntityMapping]) {
        self.entityMappings = entityMappings
    }

    /// The mapping whose destination is `entity`.
    package func mapping(to entity: String) -> EntityMapping? {
        byDestination.first(entity, in: entityMappings, named: \.destination)
    }

    /// The mapping whose source is `entity`.
    package func mapping(from entity: String) -> EntityMapping? {
        bySource.first(entity, in: entityMappings, named: \.source)
    }
}

/// One entity mapping. Abstract entities have one too: their subentities' properties are traced through it.
package struct EntityMapping: Hashable, Sendable {
    /// `NSEntityMappingType`; the raw values are Core Data's.
    package enum Kind: Int, Hashable, Sendable {
        case add = 2
        case remove = 3
        case copy = 4
        case transform = 5
    }

    /// Core Data's name of an inferred mapping: `IEM_Transform_Post`, with the source's name unless it is added.
    package var name: String
    package var kind: Kind
    /// nil where the entity is added.
    package var source: String?
    /// nil where the entity is removed.
    package var destination: String?
    /// Every stored attribute of the destination, inherited ones included, by name; a composite's leaf is
    /// `composite.leaf`.
    package var attributes: [AttributeMapping] { didSet { attributeIndex = NameIndex() } }
    /// Every stored relationship of the destination, inherited ones included, by name.
    package var relationships: [RelationshipMapping] { didSet { relationshipIndex = NameIndex() } }
    /// Demands on the source's rows; those of attributes and entities that later steps drop stay.
    package var obligations: [Obligation] = []
    /// Attributes whose numeric type changes, in the order of the steps; those that later steps drop stay.
    package var conversions: [AttributeConversion] = []
    /// Links of the source's rows that end because their relationship leads to another entity; those of relationships
    /// and entities that later steps drop stay.
    package var endings: [LinkEnding] = []
    private var attributeIndex = NameIndex()
    private var relationshipIndex = NameIndex()

    package init(
        name: String, kind: Kind, source: String?, destination: String?, attributes: [AttributeMapping] = [],
        relationships: [RelationshipMapping] = []
    ) {
        self.name = name
        self.kind = kind
        self.source = source
        self.destination = destination
        self.attributes = attributes
        self.relationships = relationships
    }

    package func attribute(_ path: String) -> AttributeMapping? {
        attributeIndex.first(path, in: attributes, named: \.destination)
    }

    package func relationship(_ name: String) -> RelationshipMapping? {
        relationshipIndex.first(name, in: relationships, named: \.destination)
    }
}

/// Where a destination attribute's value comes from.
package struct AttributeMapping: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        /// The source attribute's value, converted where its type changes; NULL becomes `nilReplacement`, a value of
        /// the destination's type, where that is not nil.
        case carried(from: String, nilReplacement: Constant?, conversion: NumericConversion? = nil)
        /// The same value in every row: the default of an added attribute, or NULL.
        case constant(Constant?)
        /// A derived attribute whose derivation is new: computed from the destination's rows after they are written.
        case derived
    }

    /// The destination attribute, `composite.leaf` for a composite's leaf.
    package var destination: String
    package var value: Value
    /// The step only adds columns to the entity's table, which Core Data does with ALTER TABLE ADD COLUMN: the rows of
    /// the table's other entities get the constant too (InsideCoreDataMigration §7.5).
    package var fillsTable: Bool

    package init(destination: String, value: Value, fillsTable: Bool = false) {
        self.destination = destination
        self.value = value
        self.fillsTable = fillsTable
    }
}

/// A mandatory attribute or to-one whose value the mapping can't guarantee, or an entity that can't have rows any more:
/// only the rows tell whether it is fulfilled.
package struct Obligation: Hashable, Sendable {
    /// The step that makes the property mandatory, as its position on the path (0 is the first step).
    package var step: Int
    package var entity: String
    /// The attribute's path or the relationship's name, in the version that makes it mandatory; nil for an entity as a
    /// whole.
    package var property: String?
    /// Where a relationship leads in that version; nil if it isn't a relationship.
    package var leadsTo: String?
    package var change: Change
    /// The demand on the source's rows.
    package var demand: Demand

    /// What makes the property mandatory, or forbids rows; the words are for plans and reports.
    package enum Change: String, Hashable, Sendable {
        case newAttribute = "is new, mandatory and has no default"
        case tightenedAttribute = "is mandatory now and has no default"
        case newToOne = "is new and mandatory"
        case tightenedToOne = "is mandatory now"
        /// It was mandatory before, and some of its links end.
        case cutToOne = "is mandatory"
        /// It was mandatory before, and its object may have only one such link now.
        case sharedToOne = "is mandatory, and no two rows can have the same object now"
        case abstractEntity = "is abstract now"
    }

    package enum Demand: Hashable, Sendable {
        /// The source entity must have no rows: the property is new, and an attribute has no default.
        case noRows
        /// The source attribute must hold no NULL.
        case noNulls(attribute: String)
        /// Every row of the source entity must keep such a link: have one, not to one of the entities where such links
        /// end, and before the other rows that lead to its object where only the first keeps its own.
        case noMissing(links: LinkSource)
        /// No row of the source entity may have such a link to one of the entities where such links end.
        case noEnding(links: LinkSource)
    }

    package init(
        step: Int, entity: String, property: String?, leadsTo: String? = nil, _ change: Change, demand: Demand
    ) {
        self.step = step
        self.entity = entity
        self.property = property
        self.leadsTo = leadsTo
        self.change = change
        self.demand = demand
    }
}

/// Where a destination relationship's links come from.
package struct RelationshipMapping: Hashable, Sendable {
    package var destination: String
    /// nil: the relationship is new and starts empty.
    package var links: LinkSource?
    /// The links that it would have by its own name, where those of its new inverse count instead.
    package var outvoted: LinkSource?

    package init(destination: String, links: LinkSource?) {
        self.destination = destination
        self.links = links
    }
}

/// A relationship of the source model as the origin of links.
package struct LinkSource: Hashable, Sendable {
    /// The source entity through which the relationship is seen.
    package var entity: String
    package var relationship: String
    /// The links run the other way: the source relationship is the inverse's origin.
    package var isInverted: Bool
    /// Cardinality or order differs between source and destination.
    package var changesForm: Bool
    /// Source entities at the other end to which links end: they are dropped, or their rows can't be its objects in
    /// some version, even if they may be targets in the destination.
    package var ended: Set<String>
    /// The destination's relationship has links of other source relationships besides, which the rows at its other end
    /// tell: those of several subentities that became one of their parent.
    package var isPartial: Bool
    /// Ends at which the destination has room for one link only, in the order of the steps that take the room away.
    package var narrowings: [LinkNarrowing] = []
    /// Of a one-to-one, whose ends have a column each and may disagree: whether the far end's column counts; nil where
    /// both stay.
    package var countsFarColumn: Bool?
    /// Both ends are to-ones in the destination, but in the source several rows may lead to one object: the first of
    /// them keeps its link.
    package var keepsFirst = false

    package init(
        entity: String, relationship: String, isInverted: Bool, changesForm: Bool, ended: Set<String> = [],
        isPartial: Bool = false
    ) {
        self.entity = entity
        self.relationship = relationship
        self.isInverted = isInverted
        self.changesForm = changesForm
        self.ended = ended
        self.isPartial = isPartial
    }

    /// Whether rows of an entity can have such links: those of an inverse that leads to subentities aren't the
    /// parent's, whatever stands in its column.
    package func canBe(of entity: String, in model: ManagedObjectModel) -> Bool {
        guard isInverted, let found = model.relationship(relationship, of: self.entity)?.relationship else {
            return true
        }
        return model.isKind(entity, of: found.destination)
    }
}
