/// What is done about the unfinished work of an earlier run on the same store.
public enum UnfinishedWorkPolicy: String, Hashable, Sendable, CaseIterable {
    /// Resume it. Work of another plan, or of a store that was written to since, is refused.
    case resume
    /// Refuse it, so that the user can look at it first.
    case refuse
    /// Discard it and start over.
    case restart
}

/// What happens to a bad row: one that lacks a value which the new version requires and has no default for, or
/// whose entity is abstract in the new version or unknown to the old one.
public enum BadRowPolicy: String, Hashable, Sendable, CaseIterable {
    /// The migration stops; the error names the row.
    case fail
    /// The row is left out and written to the rejects file. One that only refers to an external file that is
    /// missing or can't be read is kept, and listed there too.
    case quarantine

    /// Rows that one step may leave out. The keys of all are kept in memory, 8 bytes each, until the links to them have
    /// ended; more of them stop the run: then the problem isn't a few bad rows.
    package static let maximumRows = 1_000_000
    /// The advice for more rows.
    package static let remedy = "find out why: the models may not be the store's, or files may be missing"
}

/// What is done with a store that CloudKit mirrors (tables `ANSCK…`).
public enum CloudKitPolicy: String, Hashable, Sendable, CaseIterable {
    /// It isn't migrated.
    case refuse
    /// It is migrated by inferred steps that a CloudKit schema can follow. Keys, the tables of the mirror and the
    /// history stay; rows about removed entities and relationships are left out.
    case carry
}

/// What happens to rows that break a rule of the destination's model: a mandatory property without value, a bound, a
/// pattern, the count of a relationship, uniqueness.
public enum OnViolation: String, Hashable, Sendable, CaseIterable {
    /// The migration stops; the error lists the first violations by entity, property and row.
    case stop
    /// A missing or invalid value is replaced by the attribute's default; a value without a default stops the
    /// migration.
    case useDefault = "default"
    /// The row is left out and written to the rejects file.
    case reject
}

/// How much of the new store is checked before it takes the old one's place.
public enum VerificationLevel: String, Hashable, Sendable, CaseIterable, Codable {
    /// The rows that were written against those that were read, which costs nothing. Of tables that came with a copy of
    /// the source nothing is read, but for patched ones that keep indexes: these are compared with the rows.
    case none
    /// Also row counts, metadata, hashes, the structure of every page, links that an index counts, and every index that
    /// came with a copy against the rows. Uniqueness is kept by the indexes: SQLite, or the sorting, refuses equal
    /// keys. Where the file system shares the source's pages with the new store, unchanged tables aren't read.
    case quick
    /// Also those tables; every carried value, read again from both stores by connections of its own; every link; and
    /// SQLite's integrity check, which compares all indexes with the rows.
    case full
}

extension VerificationLevel: Comparable {
    /// A level is less than those that check more.
    public static func < (one: VerificationLevel, other: VerificationLevel) -> Bool { one.depth < other.depth }

    private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What makes the tables and indexes of a step.
public enum EngineChoice: String, Hashable, Sendable, CaseIterable {
    /// The cheapest method for each table and index: pages where the store's form allows them, statements elsewhere.
    case auto
    /// As `auto` in this version.
    case pages
    /// SQL statements, for every table and index.
    case statements
}
