package import CausewayEvaluation
import CausewaySQLite

/// Which destination rows were made from which source rows, on disk: memory doesn't grow with the store.
///
/// Keeps only what the keys don't show: a mapping that gives every row its source's key needs no entry.
package final class Associations {
    /// What is recorded for a source row under a mapping, in order.
    struct Results {
        /// What its own hook made; nil where it made nothing. Empty where its key shows that.
        var own: [ObjectID?] = []
        /// What other hooks have associated with it besides.
        var further: [ObjectID] = []
    }

    /// Larger than the ordinal of any entry of a row's own hook; those of further ones follow.
    private static let lastOwnOrdinal: Int64 = 1 << 32

    let statements: StatementCache
    private var hasReverse = false
    var hasReverseRuns = false
    /// The last run of each mapping that has any.
    var lastRuns: [Int: AssociationRun] = [:]
    /// Z_ENT of the source rows that a mapping has entries for, by mapping that has any.
    private var recorded: [Int: Set<Int32>] = [:]
    /// Entries since it was last cleared, for a run that may be interrupted; nil if it isn't kept.
    package internal(set) var journal: AssociationJournal?

    /// - Parameter access: the scratch database's connection, inside a transaction.
    /// - Throws: `ObjectError` with `.store` where the tables can't be made.
    package init(_ access: StoreAccess) throws(ObjectError) {
        statements = StatementCache(access)
        try run(
            """
            CREATE TABLE association (sourceEntity INTEGER, source INTEGER, mapping INTEGER, ordinal INTEGER, \
            entity INTEGER, destination INTEGER, PRIMARY KEY (sourceEntity, source, mapping, ordinal)) WITHOUT ROWID
            """)
        try run(
            """
            CREATE TABLE run (mapping INTEGER, sourceEntity INTEGER, source INTEGER, entity INTEGER, \
            destination INTEGER, count INTEGER, PRIMARY KEY (mapping, sourceEntity, source)) WITHOUT ROWID
            """)
        try run(
            """
            CREATE TABLE shared (entity INTEGER, attribute TEXT, value, key INTEGER, \
            PRIMARY KEY (entity, attribute, value)) WITHOUT ROWID
            """)
    }

    func run(_ sql: String) throws(ObjectError) {
        try ObjectError.at("the associations") {
            try statements.statement(sql).statement.run()
        }
    }

    package func close() { statements.removeAll() }

    // MARK: - Journal

    /// From now on entries are also kept in the journal.
    package func keepJournal() {
        journal = AssociationJournal()
    }

    /// Entries that the journal holds.
    package var journalCount: Int { journal?.count ?? 0 }

    /// Bytes of the values that the journal holds.
    package var journalBytes: Int { journal?.sharedBytes ?? 0 }

    /// The journal's entries are saved: empties it.
    package func clearJournal() {
        if journal != nil { journal = AssociationJournal() }
    }

    /// Adds an earlier run's entries, in their order.
    package func replay(_ journal: AssociationJournal) throws(ObjectError) {
        for index in journal.columns[0].indices {
            let row = journal.columns.map { $0[index] }
            if row[5] > 0 {
                try insert(
                    AssociationRun(
                        mapping: Int(row[2]), sourceEntity: Int32(truncatingIfNeeded: row[0]), source: row[1],
                        entity: Int32(truncatingIfNeeded: row[3]), destination: row[4], count: row[5]))
                continue
            }
            try insert(
                source: ObjectID(side: .source, entity: Int32(truncatingIfNeeded: row[0]), key: row[1]),
                mapping: Int(row[2]), entity: row[3] == 0 ? nil : Int32(truncatingIfNeeded: row[3]), key: row[4],
                isFurther: row[5] == AssociationJournal.further)
        }
        for shared in journal.shared {
            try insertShared(shared.entity, shared.attribute, Cell(shared.value), key: shared.key)
        }
    }

    func noteEntries(of mapping: Int, from source: Int32) { recorded[mapping, default: []].insert(source) }

    /// Whether the mapping has entries at all.
    package func hasEntries(_ mapping: Int) -> Bool { recorded[mapping] != nil }

    /// Z_ENT of the source rows that a mapping has entries for.
    package func sourceEntities(of mapping: Int) -> Set<Int32> { recorded[mapping] ?? [] }

    /// Adds entries; `key` gives the keys of rows that were just written.
    func record(_ entries: [PendingAssociation], key: (ObjectID) -> Int64) throws(ObjectError) {
        for entry in entries {
            let destination = entry.destination
            let place = destination.map(key) ?? 0
            try insert(
                source: entry.source, mapping: entry.mapping, entity: destination?.entity, key: place,
                isFurther: entry.isFurther)
            journal?.append(
                source: entry.source, mapping: entry.mapping, entity: destination?.entity, key: place,
                isFurther: entry.isFurther)
        }
    }

    private func insert(
        source: ObjectID, mapping: Int, entity: Int32?, key: Int64, isFurther: Bool
    ) throws(ObjectError) {
        noteEntries(of: mapping, from: source.entity)
        try ObjectError.at("the associations") {
            let box = try statements.statement(
                """
                INSERT INTO association SELECT ?1, ?2, ?3, \
                (SELECT coalesce(max(ordinal), ?6) + 1 FROM association \
                WHERE sourceEntity = ?1 AND source = ?2 AND mapping = ?3 AND ordinal > ?6 AND ordinal <= ?7), ?4, ?5
                """, Int64(source.entity), source.key, Int64(mapping))
            try box.statement.bind(isFurther ? Self.lastOwnOrdinal : 0, at: 6)
            try box.statement.bind(isFurther ? Int64.max : Self.lastOwnOrdinal, at: 7)
            if let entity {
                try box.statement.bind(Int64(entity), at: 4)
                try box.statement.bind(key, at: 5)
            } else {
                try box.statement.bindNull(at: 4)
                try box.statement.bindNull(at: 5)
            }
            try box.statement.run()
        }
    }

    /// What is recorded for a source row under a mapping.
    func results(of source: ObjectID, mapping: Int) throws(ObjectError) -> Results {
        var results = Results()
        guard sourceEntities(of: mapping).contains(source.entity) else { return results }
        if let made = try runDestination(of: source, mapping: mapping) { results.own.append(made) }
        try ObjectError.at("the associations") {
            let box = try statements.statement(
                """
                SELECT entity, destination, ordinal FROM association \
                WHERE sourceEntity = ? AND source = ? AND mapping = ? ORDER BY ordinal
                """, Int64(source.entity), source.key, Int64(mapping))
            let entries = try box.statement.rows { row throws(SQLiteError) in
                (made: row.isNull(at: 1) ? nil : row.object(.destination, entity: 0, key: 1), ordinal: row.int64(at: 2))
            }
            for entry in entries {
                if let made = entry.made, entry.ordinal > Self.lastOwnOrdinal {
                    results.further.append(made)
                } else {
                    results.own.append(entry.made)
                }
            }
        }
        return results
    }

    /// The source rows recorded for a destination row under a mapping.
    func sources(of destination: ObjectID, mapping: Int) throws(ObjectError) -> [ObjectID] {
        let own = try runSource(of: destination, mapping: mapping).map { [$0] } ?? []
        return own + (try entrySources(of: destination, mapping: mapping))
    }

    private func entrySources(of destination: ObjectID, mapping: Int) throws(ObjectError) -> [ObjectID] {
        try indexDestinations()
        return try ObjectError.at("the associations") {
            let box = try statements.statement(
                """
                SELECT sourceEntity, source FROM association WHERE destination = ? AND entity = ? AND mapping = ? \
                ORDER BY sourceEntity, source, ordinal
                """, destination.key, Int64(destination.entity), Int64(mapping))
            return try box.statement.rows { row throws(SQLiteError) in row.object(.source, entity: 0, key: 1) }
        }
    }

    /// Whether a row of these entities with this key has been made of a source row.
    func hasResult(withKey key: Int64, of entities: ClosedRange<Int>) throws(ObjectError) -> Bool {
        try indexDestinations()
        return try ObjectError.at("the associations") {
            let box = try statements.statement(
                "SELECT 1 FROM association WHERE destination = ? AND entity BETWEEN ? AND ? LIMIT 1", key,
                Int64(entities.lowerBound), Int64(entities.upperBound))
            return try box.number() != nil
        }
    }

    private func indexDestinations() throws(ObjectError) {
        guard !hasReverse else { return }
        try run("CREATE INDEX byDestination ON association (destination, entity, mapping)")
        hasReverse = true
    }

    /// Up to `limit` entries of a mapping after a place, including those without a result.
    package func everyEntry(
        of mapping: Int, after place: (entity: Int32, source: Int64, ordinal: Int64), limit: Int
    ) throws(ObjectError) -> [(source: ObjectID, destination: ObjectID?, ordinal: Int64)] {
        let rows = try everyRow(of: mapping, after: place, limit: limit)
        let entries = try recordedEntries(of: mapping, after: place, limit: limit)
        if rows.isEmpty || entries.isEmpty { return rows + entries }
        return Array(
            (rows + entries).sorted {
                ($0.source.entity, $0.source.key, $0.ordinal) < ($1.source.entity, $1.source.key, $1.ordinal)
            }.prefix(limit))
    }

    private func recordedEntries(
        of mapping: Int, after place: (entity: Int32, source: Int64, ordinal: Int64), limit: Int
    ) throws(ObjectError) -> [(source: ObjectID, destination: ObjectID?, ordinal: Int64)] {
        try ObjectError.at("the associations") {
            let box = try statements.statement(
                """
                SELECT sourceEntity, source, ordinal, entity, destination FROM association \
                WHERE mapping = ?1 AND (sourceEntity, source, mapping, ordinal) > (?2, ?3, ?1, ?4) \
                ORDER BY sourceEntity, source, mapping, ordinal LIMIT ?5
                """, Int64(mapping), Int64(place.entity), place.source)
            try box.statement.bind(place.ordinal, at: 4)
            try box.statement.bind(limit, at: 5)
            return try box.statement.rows { row throws(SQLiteError) in
                let destination = row.isNull(at: 4) ? nil : row.object(.destination, entity: 3, key: 4)
                return (row.object(.source, entity: 0, key: 1), destination, row.int64(at: 2))
            }
        }
    }

    /// The key of a shared row; nil where there is none yet.
    func sharedKey(_ entity: Int32, _ attribute: String, _ value: Cell) throws(ObjectError) -> Int64? {
        if case .null = value {
            throw ObjectError(.type, "rows can't be shared by NULL in “\(attribute)”: look at the value before")
        }
        return try ObjectError.at("the associations") {
            let box = try statements.statement(
                "SELECT key FROM shared WHERE entity = ? AND attribute = ? AND value = ?", Int64(entity))
            try box.statement.bind(attribute, at: 2)
            try box.statement.bind(value, at: 3)
            return try box.number()
        }
    }

    func rememberShared(_ entity: Int32, _ attribute: String, _ value: Cell, key: Int64) throws(ObjectError) {
        try insertShared(entity, attribute, value, key: key)
        if let value = value.stored {
            journal?.append(.init(entity: entity, attribute: attribute, value: value, key: key))
        }
    }

    private func insertShared(_ entity: Int32, _ attribute: String, _ value: Cell, key: Int64) throws(ObjectError) {
        try ObjectError.at("the associations") {
            let box = try statements.statement("INSERT OR REPLACE INTO shared VALUES (?, ?, ?, ?)", Int64(entity))
            try box.statement.bind(attribute, at: 2)
            try box.statement.bind(value, at: 3)
            try box.statement.bind(key, at: 4)
            try box.statement.run()
        }
    }
}
