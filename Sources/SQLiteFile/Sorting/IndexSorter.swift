/// Makes an index out of its table's rows: forms the entries, sorts them within a bound of memory, and packs them.
///
/// Use: `add` all rows in the order of rowids, end with `sorted`, `fill` buffers from that until there are no more
/// entries, and hand them to a `TreeBuilder` in their order. The pages follow from the rows alone, not from the memory
/// or the batches.
///
/// Entries that don't fit in the memory go to a scratch file as sorted, compressed runs. What the file holds counts for
/// nothing in another process: after a crash the index is begun anew.
///
/// Used by one thread at a time; Sendable, so that it can be handed on. After a throw it isn't usable.
package struct IndexSorter: ~Copyable, @unchecked Sendable {
    /// What came in: count and digest.
    package private(set) var sum = EntrySum()

    private var former: EntryFormer
    private let order: EntryOrder
    private var buffer: EntryBuffer
    private var runs: RunFile?
    private let memory: Int
    private let scratchPath: String
    private var lastRowid: Int64?

    /// - Parameters:
    ///   - key: columns of the index.
    ///   - memory: bytes that it may take, at least 1 KiB; one entry that is longer takes what it needs. Beside it,
    ///     zstd and blocks of the scratch file take up to 4 MiB.
    ///   - scratchPath: a file that no other sorter uses. It is made, or emptied, when it is needed, and emptied at the
    ///     end; the caller removes it.
    /// - Throws: `.damagedRow` where a default is over SQLite's largest value.
    package init(_ key: IndexKey, memory: Int, scratchPath: String) throws(IndexSortError) {
        do throws(RecordError) {
            former = try EntryFormer(key)
        } catch {
            throw IndexSortError(.damagedRow(rowid: 0, error))
        }
        order = EntryOrder(key)
        buffer = EntryBuffer(order, budget: memory)
        self.memory = memory
        self.scratchPath = scratchPath
    }

    /// Adds the entries of rows: records of the table whose rowids ascend, also from batch to batch.
    ///
    /// - Throws: `.damagedRow`, `.unorderedRow`, `.tooLong`, `.scratch`, `.noMemory`.
    package mutating func add(_ rows: RowBatch) throws(IndexSortError) {
        for index in 0..<rows.count {
            let rowid = rows.rowid(at: index)
            if let lastRowid, rowid <= lastRowid { throw IndexSortError(.unorderedRow(rowid: rowid)) }
            lastRowid = rowid
            let length = try unsafe former.load(rows.record(at: index), rowid: rowid)
            if buffer.append(former, length: length, &sum) { continue }
            try spill()
            let isTaken = buffer.append(former, length: length, &sum)
            precondition(isTaken, "an empty buffer takes every entry")
        }
    }

    private mutating func spill() throws(IndexSortError) {
        buffer.sort()
        if runs == nil { runs = try RunFile(scratchPath, order, budget: memory) }
        try runs?.add(buffer)
        buffer.removeAll()
    }

    /// Ends the input.
    ///
    /// - Parameter pageSize: bytes, of the new file.
    /// - Returns: the sorted entries.
    /// - Throws: `.scratch`, `.scratchDamaged`, `.noMemory`.
    package consuming func sorted(pageSize: Int) throws(IndexSortError) -> SortedIndex {
        if runs != nil { try spill() }
        guard let file = runs.take() else {
            buffer.sort()
            return SortedIndex(order, isUnique: former.key.isUnique, pageSize: pageSize, sum, buffer, nil)
        }
        // The memory is the merge's now.
        buffer.release()
        let merged = try file.merged()
        return SortedIndex(order, isUnique: former.key.isUnique, pageSize: pageSize, sum, buffer, merged)
    }
}
