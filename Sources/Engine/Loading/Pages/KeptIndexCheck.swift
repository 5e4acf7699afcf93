import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Compares indexes that a copy of the source has kept with the rows of their tables: an index of the source may be
/// stale, and a store that is made anew gets fresh ones. Counts the rows, too.
///
/// Indexes on plain columns are compared by count, order, uniqueness and digest, in the pages of the new store; all
/// others by SQLite.
struct KeptIndexCheck {
    let step: StepPlan
    /// What was copied: kept pages have their numbers in it, and messages name it.
    let source: SourceStore
    /// The new store; no connection is open on it.
    let file: StagingFile
    let options: EngineOptions
    let cancellation: Cancellation

    /// An index whose entries aren't those of the rows.
    struct Stale: Hashable, Sendable {
        var index: TableIndex
        /// What is wrong with those that it has.
        var reason: String
        /// The name of the rowid of its table; nil where it has none, or where only SQLite knows the entries.
        var rowID: String?
    }

    /// What came of it.
    struct Outcome: Sendable {
        var stale: [Stale] = []
        /// The trees that were read; nil where there are none.
        var reading: KeptReading?
    }

    /// - Parameters:
    ///   - includingKept: also tables of which no byte was changed, with their indexes.
    ///   - hasHouse: false before the step has made Core Data's own tables.
    ///   - findsUnknownEntities: whether numbers of entities that a copy would have refused are still unknown: a clone
    ///     doesn't read what stays.
    /// - Returns: the stale indexes.
    /// - Throws: `.sourceData` for a damaged table; with `isMisfit` for a damaged index. `.verification` with
    ///   `isMisfit` for an unknown entity.
    func compare(
        includingKept: Bool, hasHouse: Bool = true, findsUnknownEntities: Bool = false
    ) throws(EngineError) -> Outcome {
        var tables: [KeptIndexReading.Table] = []
        var plain: [KeptIndexReading.Index] = []
        var others: [(table: String, indexes: [TableIndex])] = []
        // Tables that SQLite has to read.
        var partly: Set<String> = []
        let schema = try file.schema(hasHouse: hasHouse)
        let kept = findsUnknownEntities ? step.schemaEdit(of: source.schema).kept.filter { $0.kind == .table } : []
        let origins = Dictionary(kept.map { ($0.newName, $0) }, uniquingKeysWith: { first, _ in first })
        let records = KeptRecords(step: step, schema: source.schema)
        let roots = Dictionary(
            schema.objects.filter { $0.kind == .index }.map { ($0.name, Int($0.rootPage)) },
            uniquingKeysWith: { first, _ in first })
        for work in step.works where work.method == .patch || includingKept && work.method == .keep {
            let indexes = work.indexes.filter { $0.method == .keep || $0.method == .patch }.map(\.index)
            guard let table = schema.table(work.table) else { throw EngineError(missing: work.table, in: file.path) }
            var own: [KeptIndexReading.Index] = []
            var rest: [TableIndex] = []
            for index in indexes {
                guard let root = roots[index.name] else {
                    // The key of a WITHOUT ROWID table is the table.
                    if table.isWithoutRowID { continue }
                    throw EngineError(missing: index.name, in: file.path)
                }
                if let key = Self.key(of: index, table) {
                    own.append(KeptIndexReading.Index(index: index, key: key, table: tables.count, root: root))
                } else {
                    rest.append(index)
                }
            }
            if !rest.isEmpty || table.isWithoutRowID || indexes.count < work.indexes.count { partly.insert(work.table) }
            if !table.isWithoutRowID {
                let known = work.method == .keep ? origins[work.table].map { records.patch(of: $0, table.tree) } : nil
                tables.append(
                    KeptIndexReading.Table(
                        table: table, entities: known.flatMap { $0.columns.isEmpty ? nil : $0 } ?? entities(of: table)))
                plain += own
            }
            if !rest.isEmpty { others.append((work.table, rest)) }
        }
        var outcome = try byPages(tables, plain)
        for table in partly { outcome.reading?.rows.tables[table] = nil }
        outcome.stale += try bySQLite(others)
        return outcome
    }

    /// The entity numbers that the rows of an entity's table have now.
    private func entities(of table: StoreSchema.Table) -> TreePatch? {
        guard let layout = step.layout.table(named: table.name),
            let place = table.position(of: KeptRecords.entityColumn),
            let numbers = step.layout.numbers(ofTree: layout.rootEntity)
        else { return nil }
        let same = Dictionary(uniqueKeysWithValues: numbers.map { (Int64($0), Int64($0)) })
        guard let map = try? IntegerMap(same, others: .stay) else { return nil }
        return try? TreePatch(table.tree, [ColumnPatch(column: place, map: map)])
    }

    /// nil where only SQLite knows the entries.
    private static func key(of index: TableIndex, _ table: StoreSchema.Table) -> IndexKey? {
        guard !table.isWithoutRowID, !table.columns.contains(where: { $0.isGenerated || $0.hasDefault }) else {
            return nil
        }
        return IndexKey(index, of: table)
    }

    private func byPages(
        _ tables: [KeptIndexReading.Table], _ indexes: [KeptIndexReading.Index]
    ) throws(EngineError) -> Outcome {
        guard !tables.isEmpty else { return Outcome() }
        let pages = try file.pages()
        let claims = PageClaims(pageCount: pages.layout.pageCount, checksPointerMap: true)
        let found = try KeptIndexReading(
            file: pages, path: source.location.path, tables: tables, indexes: indexes, options: options,
            cancellation: cancellation
        ).compare(claims)
        let stale = zip(indexes, found.disagreements).compactMap { index, reason in
            reason.map { Stale(index: index.index, reason: $0, rowID: tables[index.table].table.rowIDName) }
        }
        let trees =
            tables.map(\.table.tree) + indexes.map { TreeRoot($0.root, .index) }
        return Outcome(
            stale: stale, reading: KeptReading(rows: found.rows, trees: Set(trees), claims: claims))
    }

    /// Makes indexes from the rows, durably, each in a transaction. Rare: SQLite does it.
    ///
    /// - Throws: `.sourceData` where rows break a unique one.
    func remake(_ stale: [Stale]) throws(EngineError) {
        let connection = try EngineError.writing(file.path) {
            try Connection(path: file.path, mode: .readWrite, hardening: .untrusted)
        }
        let journal = StagingJournal(of: file.path)
        try journal.keep(on: connection)
        try EngineError.writing(file.path) {
            try connection.setPragma("synchronous", to: "FULL")
            try connection.setPragma("secure_delete", to: 1)
            try cancellation.interrupting(connection.interruptHandle) {
                for index in stale {
                    try cancellation.check()
                    do throws(SQLiteError) {
                        // A name without that of its database may be a collating sequence's.
                        try connection.execute("REINDEX main.\(try SQLIdentifier(index.index.name))")
                    } catch {
                        guard error.code.primary == .constraint else { throw error }
                        throw try Self.broken(index, connection)
                            ?? EngineError(reading: error, during: index.index.title)
                    }
                }
            }
        }
        try journal.remove(on: connection)
    }

    /// Names two rows that break a unique index; nil where only SQLite knows what it compares.
    private static func broken(
        _ stale: Stale, _ connection: borrowing Connection
    ) throws(SQLiteError) -> EngineError? {
        let index = stale.index
        guard let rowID = stale.rowID else { return nil }
        let key = try SQLIdentifier(rowID)
        let columns = try index.columns.compactMap(\.name).map { (name) throws(SQLiteError) in
            try SQLIdentifier(name).quoted
        }
        var statement = try connection.prepare(
            """
            SELECT min(\(key)), max(\(key)) FROM \(try SQLIdentifier(index.table)) NOT INDEXED \
            WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) \
            GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1
            """)
        guard try statement.step() else { return nil }
        return EngineError(rows: statement.int64(at: 0), statement.int64(at: 1), areEqualIn: index)
    }

    /// SQLite's findings are about all indexes of the table: each names one at its end, or is about the table.
    private static func stale(_ indexes: [TableIndex], _ findings: [String]) -> [Stale] {
        // There may be more of them.
        let areAll = findings.count < StructureCheck.namedFindings
        return indexes.compactMap { index in
            let reason = findings.first { !areAll || $0.hasSuffix("index \(index.name)") || !$0.contains(" index ") }
            return reason.map { Stale(index: index, reason: $0) }
        }
    }

    /// SQLite looks up every row in every index of its table.
    private func bySQLite(_ tables: [(table: String, indexes: [TableIndex])]) throws(EngineError) -> [Stale] {
        guard !tables.isEmpty else { return [] }
        return try EngineError.reading(file.path) { () throws -> [Stale] in
            let connection = try Connection(path: file.path, mode: .readOnly, hardening: .untrusted)
            return try cancellation.interrupting(connection.interruptHandle) { () throws -> [Stale] in
                var stale: [Stale] = []
                for (table, indexes) in tables {
                    try cancellation.check()
                    // Nobody but the app can compare what its own collating sequences order.
                    guard indexes.allSatisfy(\.hasKnownOrder) else { continue }
                    let findings = try StructureCheck.findings(connection, withIndexes: true, of: table)
                    stale += Self.stale(indexes, findings)
                }
                return stale
            }
        }
    }
}

extension TableIndex {
    /// For messages.
    var title: String { "\(table), index \(name)" }

    /// Whether SQLite has the collating sequences of its columns.
    fileprivate var hasKnownOrder: Bool {
        columns.allSatisfy { ["BINARY", "NOCASE", "RTRIM"].contains($0.collation.uppercased()) }
    }
}

extension StoreSchema.Table {
    /// Of a table that isn't WITHOUT ROWID.
    fileprivate var tree: TreeRoot { TreeRoot(Int(rootPage), .table) }
}

extension EngineError {
    fileprivate init(missing name: String, in path: String) {
        self.init(.verification, "\(path): the copy hasn't got \(name)", remedy: "please report this")
    }
}
