import CausewayPlanning
package import CausewayStores

/// What a plan says about a store that CloudKit mirrors.
package struct MirrorReport: Hashable, Sendable {
    package var counts: CloudKitCounts
    package var leftOut: [LeftOut] = []

    /// Rows among these that no pass reads, and so none counts as dropped.
    package var unreadRows: Int {
        leftOut.reduce(0) { $0 + ([.relationship, .owner].contains($1.reason) ? $1.rows : 0) }
    }

    /// Rows of a table of the mirror, or of the history that it sends, that a step doesn't carry.
    package struct LeftOut: Hashable, Sendable {
        package enum Reason: String, Hashable, Sendable {
            /// The entity is gone.
            case entity
            /// The relationship is gone.
            case relationship
            /// The row to which they belong isn't carried.
            case owner
            /// They name an entity that the store's version doesn't have.
            case unknownEntity
        }

        /// The versions that the step leads through.
        package var versions: [String]
        package var table: String
        package var rows: Int
        package var reason: Reason
        /// `Entity` or `Entity.relationship`; nil for the other reasons.
        package var subject: String?

        var loss: Loss { Loss(step: Loss.title(of: versions), .other(sentence)) }

        /// For people.
        private var sentence: String {
            let what = "\(rows) \(rows == 1 ? "row" : "rows") of \(table)"
            let areLeftOut = rows == 1 ? "is left out" : "are left out"
            return switch reason {
            case .entity:
                "\(what) about \(subject ?? "") objects \(areLeftOut): the entity is gone; their records stay in "
                    + "the cloud"
            case .relationship:
                "\(what) about \(subject ?? "") \(areLeftOut): the relationship is gone; their records stay in the "
                    + "cloud"
            case .owner: "\(what) \(areLeftOut) with the rows to which they belong"
            case .unknownEntity: "\(what) \(areLeftOut): the store's version has no entity of their number"
            }
        }
    }
}
