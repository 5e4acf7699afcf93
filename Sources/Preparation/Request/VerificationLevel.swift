/// How much of a new store is checked before it may take the old one's place.
package enum VerificationLevel: String, Hashable, Sendable, CaseIterable, Codable {
    /// The number of rows written against rows read, at no cost, and SQLite's own errors.
    case none
    /// Everything except reading all rows again: counts, the passes' digests, metadata, hashes, structure, uniqueness,
    /// links where an index answers.
    case quick
    /// Also every carried cell, read again from source and new store by connections of its own; every link; and
    /// SQLite's integrity check, which compares the indexes with the rows.
    case full
}

extension VerificationLevel: Comparable {
    package static func < (one: VerificationLevel, other: VerificationLevel) -> Bool { one.depth < other.depth }

    private var depth: Int {
        switch self {
        case .none: 0
        case .quick: 1
        case .full: 2
        }
    }
}
