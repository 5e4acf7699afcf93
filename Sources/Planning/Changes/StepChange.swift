/// One thing that a step of the path changes in the model: of an entity, an attribute or a relationship.
package struct StepChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        // Where the rows and values come from.
        case added, renamed, moved, converted, dropped
        /// A mapping model makes the rows or the value: by an expression.
        case transformed
        /// A mapping model makes the rows: by a policy.
        case custom

        // What the new version asks for.
        case mandatory, optional, defaultValue, derivation, storage, transformer
        case destination, cardinality, inverse, deleteRule
        case abstract, constraint, index, hashModifier
    }

    /// The step's position on the path (0 is the first step).
    package var step: Int
    /// The entity that declares the property in the new version, that of the old version where it is dropped.
    package var entity: String
    /// An attribute, a composite's leaf as `composite.leaf`, or a relationship; nil for the entity itself.
    package var property: String?
    package var kind: Kind
    /// What it was before.
    package var from: String?
    /// What it is now.
    package var to: String?
    /// What the rows get: a default, an expression, a policy's name; of what is moved, those rows that didn't have it;
    /// of what is dropped, why its content may not be lost.
    package var value: String?
    /// Where the store has what is dropped; nil where nothing is, or where it can't be followed.
    package var content: StoreContent?
    /// How much the store has of it; nil where it isn't counted.
    package var count: Int?

    package init(
        step: Int, entity: String, property: String? = nil, _ kind: Kind, from: String? = nil, to: String? = nil,
        value: String? = nil, content: StoreContent? = nil
    ) {
        self.step = step
        self.entity = entity
        self.property = property
        self.kind = kind
        self.from = from
        self.to = to
        self.value = value
        self.content = content
    }
}

extension [StepChange] {
    /// Everything about one entity stands together, in the order of the entities' first changes.
    func groupedByEntity() -> [StepChange] {
        var places: [String: Int] = [:]
        for change in self where places[change.entity] == nil { places[change.entity] = places.count }
        return enumerated().sorted {
            (places[$0.element.entity] ?? 0, $0.offset) < (places[$1.element.entity] ?? 0, $1.offset)
        }.map(\.element)
    }
}
