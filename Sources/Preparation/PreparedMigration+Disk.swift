import CausewayPlanning

extension PreparedMigration {
    /// Bytes of disk at the peak of all steps, beside the store.
    package var diskBytes: Int { steps.indices.map(diskBytes(ofStep:)).max() ?? 0 }

    /// Bytes of disk that a step needs at its peak: the staging store that it makes and the one that it reads, each as
    /// large as the store plus a twentieth, but for what shares the store's extents; room for sorting indexes, its
    /// associations, and a reserve for journals.
    package func diskBytes(ofStep index: Int) -> Int {
        // The first step reads the store itself; a later one, what the step before has made.
        let stores = stagingBytes(ofStep: index) + (index == 0 ? 0 : stagingBytes(ofStep: index - 1))
        // A handler may change every row in one transaction: its journal then holds the old pages.
        let journal = handlers[index].isEmpty ? 0 : storeBytes
        return stores + sortingBytes(ofStep: index) + journal + associationBytes(ofStep: index)
            + reserve
    }

    /// Bytes that a step writes to its staging store.
    private func stagingBytes(ofStep index: Int) -> Int {
        // A handler may change every row.
        let shared = index == 0 && handlers[index].isEmpty ? sharedBytes : 0
        let made = max(0, storeBytes - shared)
        return made + made / 20
    }

    /// Bytes of the indexes that are sorted on disk before they are built: the largest takes about as much as it takes
    /// in the store, a tenth. SQLite sorts one at a time; of those that pages make, every worker has one, and one is
    /// written. A carried one is sorted where it is stale, one at a time. Where most of the store stays on shared
    /// extents, only indexes that are known to be made count.
    private func sortingBytes(ofStep index: Int) -> Int {
        let indexes = steps[index].works.flatMap(\.indexes)
        let sorted = min(jobs + 1, indexes.count { $0.method == .sort })
        let stale = indexes.contains { $0.method == .carry } ? 1 : 0
        let ofPages = min(stagingBytes(ofStep: index), (sorted + stale) * (stagingBytes(ofStep: index) / 10))
        let ofStatements = indexes.contains { $0.method == .statements } || sharedBytes == 0 ? storeBytes / 10 : 0
        return max(ofPages, ofStatements)
    }

    /// Bytes of the associations of a step, for rows whose keys don't tell their destination. The rows of a later step
    /// aren't counted yet: it assumes as many as in the first, if any mapping needs them.
    private func associationBytes(ofStep index: Int) -> Int {
        guard let objects = steps[index].objects else { return 0 }
        guard index == 0 else {
            let isNeeded = objects.mappings.contains { $0.keeping != .always }
            return isNeeded ? rowsToRead * PreparedMigration.associationBytes : 0
        }
        let rows = zip(objects.mappings, objectRows).filter { $0.0.keeping != .always }.reduce(0) { $0 + $1.1 }
        return rows * PreparedMigration.associationBytes
    }

    /// Bytes of an entry of six small integers in a b-tree that is three quarters full.
    private static let associationBytes = 40

    /// Bytes for what no other number counts: journals beside a handler's, checkpoints, pages of tables and indexes
    /// that are new, directory entries, rounding (InsideCrashSafety §2.2). An eighth of the store, within bounds.
    package var reserve: Int { Self.reserve(storeBytes: storeBytes) }

    /// The reserve of a store with that many bytes.
    package static func reserve(storeBytes: Int) -> Int { min(max(storeBytes / 8, leastReserve), mostReserve) }

    /// Bytes. The longest journal that doesn't grow with the store is that of free pages, which go 4 MiB at a time; as
    /// much holds the first pages of a thousand new tables and indexes.
    package static let leastReserve = 4 << 20
    /// Bytes. What it is for grows with tables and workers, not with rows: a checkpoint has 64 MiB at most.
    package static let mostReserve = 64 << 20
}
