/// Why a mapping between two versions can't be inferred: every reason at once.
package struct InferenceError: Error, Hashable, Sendable, CustomStringConvertible {
    package var refusals: [Refusal]

    package var description: String { refusals.map(\.description).joined(separator: "\n") }

    /// One change that Core Data's inference doesn't cover.
    package struct Refusal: Hashable, Sendable, CustomStringConvertible {
        package var reason: Reason
        /// Entity of the destination, or of the source where it exists only there.
        package var entity: String
        package var property: String?
        /// The source's property if it has another name, with its entity if that has another name too: `pending`,
        /// `Note.pending`.
        package var origin: String?

        package init(_ reason: Reason, entity: String, property: String? = nil, origin: String? = nil) {
            self.reason = reason
            self.entity = entity
            self.property = property
            self.origin = origin
        }

        package var description: String {
            let place = property.map { "\(entity).\($0)" } ?? entity
            return "\(place)\(origin.map { " (from \($0))" } ?? ""): \(reason.explanation(of: place))"
        }
    }

    /// The kinds of change that can't be inferred.
    package enum Reason: Hashable, Sendable {
        /// `expression` converts the values in a mapping model; nil if the language has none.
        case attributeTypeChanged(from: String, to: String, expression: String?)
        case attributeBecameRelationship
        case relationshipBecameAttribute
        case ambiguousRenaming(source: String, claimants: [String])
        case manyToManyBecameOneToOne
        /// Both sides of a one-to-one would keep links, but not the same ones; the other side's in the source.
        case inverseContinuesOther(String)
        /// Links of several source relationships, found through the inverse.
        case severalLinks([String])
        case hierarchiesMerged(roots: [String])

        fileprivate func explanation(of place: String) -> String {
            switch self {
            case .attributeTypeChanged(let from, let to, let expression):
                """
                source and destination attribute types are incompatible (\(from) → \(to)); convert the values in a \
                mapping model \(expression.map { "with \($0)" } ?? "whose policy does it"), or add a new attribute with \
                another name
                """
            case .attributeBecameRelationship:
                """
                was an attribute and is now a relationship: either it replaces the attribute, whose values go, or it is \
                made from them; --origin \(place)= means the first, a mapping model does the second; or give it another \
                name
                """
            case .relationshipBecameAttribute:
                """
                was a relationship and is now an attribute: either it replaces the relationship, whose links go, or it is \
                made from them; --origin \(place)= means the first, a mapping model does the second; or give it another \
                name
                """
            case .ambiguousRenaming(let source, let claimants):
                """
                \(claimants.joined(separator: " and ")) all mean \(source) by their renaming identifier, or by their \
                name where they have none: an old name keeps its meaning as long as an element has it as identifier; let \
                one of them mean it, and give the others an identifier that no element had; or say which one continues it \
                with --origin \(place)=\(source), or that \(place) is new with --origin \(place)=
                """
            case .manyToManyBecameOneToOne:
                """
                was a to-many with a to-many inverse, and both are to-one now: it isn't clear which links stay; make \
                one side to-one in a version in between, or use a mapping model
                """
            case .inverseContinuesOther(let other):
                """
                its inverse continues \(other), which wasn't its inverse: each side would keep other links; give one of \
                them another name, or use a mapping model
                """
            case .severalLinks(let relationships):
                """
                gets the links of \(relationships.joined(separator: " and ")) through its inverse: it isn't clear which \
                of them stay; use a mapping model
                """
            case .hierarchiesMerged(let roots):
                """
                joins the hierarchies of \(roots.joined(separator: " and ")), which have no common parent in the \
                source; their keys would collide; use a mapping model
                """
            }
        }
    }
}
