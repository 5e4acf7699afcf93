import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Reads the tables again whose rows were spliced, and compares count and digest of their records with those of the
/// records that were packed. So every page, from the roots down, is on the disk as it was meant.
///
/// Done when the tables are finished and no connection is open: what comes later may change rows, as handlers do.
/// Tables that were read to sort their indexes have been read before the last of these were written.
struct RecordRecheck {
    /// The schema of the new store.
    let schema: StoreSchema
    /// What passes have moved.
    let passes: [PassCount]
    let jobs: Int
    let cancellation: Cancellation

    private struct Table {
        let name: String
        let root: Int
        var expected: EntrySum
    }

    /// A batch in flight.
    private struct Work: Sendable {
        let rows = RowBatch()
        /// Its table's place.
        var table = 0
        var sum = EntrySum()
    }

    /// Compares all of them.
    ///
    /// - Parameters:
    ///   - file: the new store.
    ///   - summed: what was found in tables that were read since their rows were written: they aren't read again.
    /// - Returns: the names of the tables.
    /// - Throws: `.verification` where a table differs or its pages are damaged; `.inputOutput`.
    func run(_ file: PageFile, summed: [String: EntrySum]) throws(EngineError) -> Set<String> {
        let all = tables
        let unread = all.filter { summed[$0.name] == nil }
        let found = summed.merging(zip(unread.map(\.name), try sums(of: unread, file))) { $1 }
        let findings = all.compactMap { table in
            found[table.name] == table.expected
                ? nil
                : """
                \(table.name): of \(table.expected.count) rows, \(found[table.name]?.count ?? 0) or other ones are on the \
                disk
                """
        }
        guard findings.isEmpty else {
            throw EngineError(
                .verification, "the new store's pages aren't those that were written", details: findings,
                remedy: "check the disk and the memory, then run again with --restart")
        }
        return Set(all.map(\.name))
    }

    private func sums(of tables: [Table], _ file: PageFile) throws(EngineError) -> [EntrySum] {
        var found = tables.map { _ in EntrySum() }
        if tables.isEmpty { return found }
        let bytes = EngineOptions.pageBatchBytes(pageSize: file.layout.pageSize)
        try OrderedPipeline(
            workers: jobs, batches: (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in Work() },
            cancellation: cancellation
        ).run(
            reading: { every throws(EngineError) in
                let claims = PageClaims(pageCount: file.layout.pageCount)
                var place = 0
                var reader = TableReader(file, root: tables[place].root, claims: claims)
                try every { (work: inout Work) throws(EngineError) in
                    work.table = place
                    do throws(PageReadError) {
                        if try reader.fill(work.rows, rows: .max, bytes: bytes) { return true }
                    } catch {
                        throw EngineError(rereading: error, during: tables[place].name)
                    }
                    place += 1
                    if place == tables.count { return false }
                    reader = TableReader(file, root: tables[place].root, claims: claims)
                    return true
                }
            },
            working: { _, every throws(EngineError) in
                _ = try every { (work: inout Work) throws(EngineError) in
                    work.sum = EntrySum()
                    work.sum.add(work.rows)
                    work.rows.removeAll(keepingCapacity: bytes * 2)
                }
            },
            take: { work throws(EngineError) in found[work.table].add(work.sum) })
        return found
    }

    /// Those all of whose rows are in a sum of records.
    private var tables: [Table] {
        var result: [Table] = []
        for name in Set(passes.map(\.pass.destinationTable)).sorted() {
            let counts = passes.filter { $0.pass.destinationTable == name && $0.written > 0 }
            // Rows of passes that splice nothing were compared cell by cell.
            guard !counts.isEmpty, counts.allSatisfy({ !$0.digest.isSummed || $0.digest.records.count > 0 }),
                let root = schema.table(name)?.rootPage
            else { continue }
            var expected = EntrySum()
            for count in counts { expected.add(count.digest.records) }
            result.append(Table(name: name, root: Int(root), expected: expected))
        }
        return result
    }
}
