import CausewayPlanning
import CausewayPlatform

/// One thing that a step from one version to the next changes: of an entity, an attribute or a relationship.
public struct ModelChange: Hashable, Codable, Sendable {
    /// The version that makes the change.
    public var version: String
    /// The entity that declares the property, by its new name; by the old one where it is dropped with it.
    public var entity: String
    /// An attribute, a composite's leaf as `composite.leaf`, or a relationship; nil for the entity itself.
    public var property: String?
    /// What happens.
    public var kind: Kind
    /// What it was before: a name, a type, an entity, a rule; for what is dropped, its type. nil where there was
    /// nothing.
    public var from: String?
    /// What it is now, in the same words; for what is new, its type.
    public var to: String?
    /// What the rows get: a default, an expression, a policy's name; of what is moved, those rows that didn't have it;
    /// of what is dropped, why its content may not be lost: the mapping model reads it, or a policy may. nil for
    /// nothing.
    public var value: String?
    /// How much the store holds of what is dropped; nil where nothing is, without a store, and where it can't be
    /// counted: behind a mapping model or a stage's handler, and what a policy may read. A migration tells its plan of
    /// a store over 256 MB before it has counted.
    public var count: Int?
    /// What `count` counts: `rows`, `values` that aren't NULL, or `links`.
    public var unit: String?

    /// What a step can change.
    public enum Kind: String, Hashable, Codable, Sendable {
        /// New: `to` is the type, `value` what existing rows get.
        case added
        /// Another name.
        case renamed
        /// A property of another entity of the hierarchy (pulled up or pushed down), or an entity with another parent.
        case moved
        /// Another type.
        case converted
        /// Gone, with what the store holds of it.
        case dropped
        /// Made by an expression of a mapping model.
        case transformed
        /// Made by a policy.
        case custom
        /// It may no longer be nil; `value` is what NULL becomes.
        case mandatory
        /// It may be nil now.
        case optional
        /// Another default, for rows to come.
        case defaultValue
        /// Computed otherwise, or no longer.
        case derivation
        /// Kept in the row or in files of its own.
        case storage
        /// Another value transformer: the bytes stay as they are.
        case transformer
        /// It leads to another entity.
        case destination
        /// `to-one`, `to-many` or `ordered to-many`.
        case cardinality
        /// It gets or loses its inverse.
        case inverse
        /// Another delete rule.
        case deleteRule
        /// The entity becomes abstract, or no longer is.
        case abstract
        /// A uniqueness constraint comes or goes.
        case constraint
        /// A fetch index comes, goes, or has another name or other elements. So do compound indexes and those of
        /// indexed attributes, which are fetch indexes, too.
        case index
        /// Another version hash modifier, which says that the app means something else by it.
        case hashModifier
    }
}

extension ModelChange {
    init(_ change: StepChange, version: String) {
        self.version = version
        entity = change.entity
        property = change.property
        kind = Kind(change.kind)
        from = change.from
        to = change.to
        value = change.value
        count = change.count
        unit = change.count == nil ? nil : change.content?.unit
    }

    /// The change in words, without entity and property: `renamed from title`, `dropped, String (53 values)`.
    public var words: String {
        switch kind {
        case .added: "added" + (to.map { ", \($0)" } ?? "") + (value.map { ", with \($0)" } ?? "")
        case .renamed: "renamed from \(from ?? "")"
        case .moved:
            property == nil
                ? "parent changed from \(from ?? "none") to \(to ?? "none")"
                : "moved from \(from ?? "") to \(to ?? "")" + (value.map { ", other rows get \($0)" } ?? "")
        case .converted: "converted from \(from ?? "") to \(to ?? "")"
        case .dropped: "dropped" + (from.map { ", \($0)" } ?? "") + counted + (value.map { ", \($0)" } ?? "")
        case .transformed: value.map { "transformed: \($0)" } ?? "transformed from \(from ?? "nothing")"
        case .custom: "custom, by \(value ?? "a policy")"
        case .mandatory: "mandatory now" + (value.map { ", NULL becomes \($0)" } ?? "")
        case .optional: "optional now"
        case .defaultValue: "default changed from \(from ?? "none") to \(to ?? "none")"
        case .derivation: "derivation changed from \(from ?? "none") to \(to ?? "none")"
        case .storage: "stored \(to ?? ""), before \(from ?? "")"
        case .transformer: "transformer changed from \(from ?? "none") to \(to ?? "none")"
        case .destination:
            "leads to \(to ?? "") instead of \(from ?? "")" + (value.map { "; \($0)" } ?? "") + counted
        case .cardinality: "\(to ?? "") instead of \(from ?? "")"
        case .inverse: to.map { "has the inverse \($0) now" } ?? "loses its inverse \(from ?? "")"
        case .deleteRule: "delete rule changed from \(from ?? "") to \(to ?? "")"
        case .abstract: "\(to ?? "") now"
        case .constraint: to.map { "unique now: \($0)" } ?? "no longer unique: \(from ?? "")"
        case .index:
            switch (from, to) {
            case (let from?, let to?): "index changed from \(from) to \(to)"
            case (nil, let to): "indexed now: \(to ?? "")"
            case (let from?, nil): "no longer indexed: \(from)"
            }
        case .hashModifier: "version hash modifier changed from \(from ?? "none") to \(to ?? "none")"
        }
    }

    private var counted: String {
        guard let count, let unit else { return "" }
        return count == 0 ? " (no \(unit))" : " (\(count.grouped) \(count == 1 ? String(unit.dropLast()) : unit))"
    }
}

extension ModelChange.Kind {
    fileprivate init(_ kind: StepChange.Kind) {
        self =
            switch kind {
            case .added: .added
            case .renamed: .renamed
            case .moved: .moved
            case .converted: .converted
            case .dropped: .dropped
            case .transformed: .transformed
            case .custom: .custom
            case .mandatory: .mandatory
            case .optional: .optional
            case .defaultValue: .defaultValue
            case .derivation: .derivation
            case .storage: .storage
            case .transformer: .transformer
            case .destination: .destination
            case .cardinality: .cardinality
            case .inverse: .inverse
            case .deleteRule: .deleteRule
            case .abstract: .abstract
            case .constraint: .constraint
            case .index: .index
            case .hashModifier: .hashModifier
            }
    }
}
