import CausewayPlatform

/// One thing that a step drops of the store's content, for plans and summaries.
package struct Loss: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// An entity with its rows and the links to them.
        case entity(String)
        /// Rows of an entity that none of these predicates selects.
        case filtered(entity: String, by: [String])
        /// An attribute by the entity that loses it; a composite's leaf as `composite.leaf`.
        case attribute(entity: String, path: String)
        /// A relationship, with its inverse where both end: they are one set of links. Each as `Entity.relationship`.
        case relationship([String])
        /// Links beyond the first one of each row, where a relationship becomes a to-one.
        case furtherLinks(String)
        /// Links beyond the first one to each object, where a to-many has no inverse: an object then has one owner.
        case furtherOwners(String)
        /// Links of a one-to-one relationship that its inverse doesn't have, where the inverse's are kept.
        case unconfirmed(String, inverse: String)
        /// The order of a relationship's objects.
        case order(String)
        /// The order of an ordered relationship whose links come through its inverse alone.
        case unreadOrder(String)
        /// Something that the sentence names itself.
        case other(String)
    }

    /// The step's versions as the sentence names them: `V1 → V2`.
    package var step: String
    package var kind: Kind
    /// Where it is in the store; nil where that can't be said before the step runs.
    package var content: StoreContent?
    /// Where it is in the source of its own step, where the store can't say.
    package var contentOfStep: StoreContent?
    /// How much the store has of it; nil where it isn't counted.
    package var count: Int?
    /// Policies that may read it, and so keep it.
    package var policies: [String] = []

    package init(step: String, _ kind: Kind, content: StoreContent? = nil) {
        self.step = step
        self.kind = kind
        self.content = content
    }

    /// A step's versions as its losses name them: of a long run, the first and the last.
    package static func title(of versions: [String]) -> String {
        let isLong = versions.count > 4
        return (isLong ? [versions[0], "…", versions[versions.count - 1]] : versions).joined(separator: " → ")
    }

    /// As a plan says it.
    package var description: String { sentence(isDone: false) }

    /// The loss as a sentence that begins with the step: `V1 → V2: will drop Harvest.scratch (53 values)`, and `dropped
    /// Harvest.scratch (53 values)` when it is done.
    package func sentence(isDone: Bool) -> String {
        let drop = isDone ? "dropped" : "will drop"
        let keep = isDone ? "kept" : "will keep"
        let text =
            switch kind {
            case .entity(let entity): "\(drop) entity \(entity)\(counted("row", "rows")) and the links to its rows"
            case .filtered(let entity, let predicates):
                "\(drop) the rows of \(entity), if any, that aren't selected by \(predicates.joined(separator: " or "))"
            case .attribute(let entity, let path): "\(drop) \(entity).\(path)\(counted("value", "values"))"
            case .relationship(let ends):
                "\(drop) the links of \(ends.joined(separator: " and "))\(counted("link", "links"))"
            case .furtherLinks(let place):
                "\(keep) only the first of several links of \(place), which becomes a to-one\(dropping)"
            case .furtherOwners(let place):
                """
                \(keep) only the first of an object's several owners in \(place), a to-many without inverse\(dropping)
                """
            case .unconfirmed(let place, let inverse):
                """
                \(drop) the links of \(place) that its inverse \(inverse) doesn't have\(counted("link", "links")): the \
                inverse's are kept
                """
            case .order(let place): "\(drop) the order of \(place), which is no longer ordered"
            case .unreadOrder(let place): "\(drop) the order of \(place): the mapping models read only its inverse"
            case .other(let sentence): sentence
            }
        return "\(step): \(text)" + (exception.map { ", \($0)" } ?? "")
    }

    /// When it isn't lost; nil where it always is.
    var exception: String? {
        policies.isEmpty
            ? nil : "unless \(policies.joined(separator: " or ")) reads it"
    }

    /// What isn't kept, as a clause.
    private var dropping: String {
        count.map { ": \($0.grouped) \($0 == 1 ? "link is" : "links are") dropped" } ?? ""
    }

    private func counted(_ singular: String, _ plural: String) -> String {
        guard let count else { return "" }
        return count == 1 ? " (1 \(singular))" : " (\(count.grouped) \(plural))"
    }
}
