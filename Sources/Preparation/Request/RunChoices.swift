/// What is done about the unfinished work of an earlier run on the same store.
public enum UnfinishedWorkPolicy: String, Hashable, Sendable, CaseIterable {
    /// It is resumed where it ended; work of another plan, and of a store that was written to since, is refused.
    case resume
    /// Any is refused, so that one can look at it first.
    case refuse
    /// It is discarded, and the run begins anew.
    case restart
}

/// What becomes of a source row that no pass can make anything of: one that lacks a value which the new version
/// demands and has no default for, or whose entity is abstract in the new version or unknown to the old one.
public enum BadRowPolicy: String, Hashable, Sendable, CaseIterable {
    /// The migration stops; the error names the row.
    case fail
    /// The row is left out and written to the file of rejected rows. One that only refers to an external file that
    /// is missing or can't be read is kept, and written down too.
    case quarantine

    /// Rows that one step may leave out. The keys of all are kept in memory, 8 bytes each, until the links to them have
    /// ended; a store with more of them ends the run: it isn't a few rows that are bad.
    package static let maximumRows = 1_000_000
    /// What to do about more.
    package static let remedy =
        "look at what is wrong with them: the models may not be the store's, or files may be missing"
}

/// What becomes of rows that break a rule of the destination's model: a mandatory property without value, a bound, a
/// pattern, the count of a relationship, uniqueness.
public enum OnViolation: String, Hashable, Sendable, CaseIterable {
    /// The migration stops; the error lists the first violations by entity, property and row.
    case stop
    /// A missing or invalid value is replaced by the attribute's default; what has none stops.
    case useDefault = "default"
    /// The row is left out and written to the file of rejected rows.
    case reject
}

/// How much of the new store is checked before it takes the old one's place.
public enum VerificationLevel: String, Hashable, Sendable, CaseIterable, Codable {
    /// The rows that were written against those that were read, which costs nothing.
    case none
    /// Also counts and digests of the passes, metadata, hashes, the structure of every page, uniqueness and links.
    case quick
    /// Also every carried value, read again from both stores by connections of its own; every link; and SQLite's
    /// integrity check, which compares the indexes with the rows.
    case full
}

extension VerificationLevel: Comparable {
    /// A level is less than those that check more.
    public static func < (one: VerificationLevel, other: VerificationLevel) -> Bool { one.depth < other.depth }

    private var depth: Int {
        switch self {
        case .none: 0
        case .quick: 1
        case .full: 2
        }
    }
}
