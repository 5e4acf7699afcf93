/// The sorted entries of an index, given out as packed pages.
///
/// Used by one thread at a time; Sendable, so that it can be handed on. After a throw it isn't usable.
@safe
package struct SortedIndex: ~Copyable, @unchecked Sendable {
    /// What will come out: count and digest.
    package let sum: EntrySum

    private let packer: IndexPacker
    /// Where everything fitted in memory.
    private let buffer: EntryBuffer
    private var place = 0
    private var staging = EntryStaging()
    private var runs: MergedRuns?
    private var duplicates: DuplicateCheck?
    /// The entry that didn't fit in the buffer before.
    private var pending: UnsafeRawBufferPointer?
    private var given = EntrySum()
    private var isFinished = false

    init(
        _ order: EntryOrder, isUnique: Bool, pageSize: Int, _ sum: EntrySum, _ buffer: consuming EntryBuffer,
        _ runs: consuming MergedRuns?
    ) {
        self.sum = sum
        packer = IndexPacker(pageSize: pageSize)
        duplicates = isUnique ? DuplicateCheck(order) : nil
        self.buffer = buffer
        self.runs = runs
    }

    /// Fills a buffer with the index's next pages.
    ///
    /// - Returns: false where these are the last; of an index without entries there are none.
    /// - Throws: `.duplicate`, `.scratch`, `.scratchDamaged`, `.noMemory`.
    package mutating func fill(_ leaves: PackedLeaves) throws(IndexSortError) -> Bool {
        if isFinished {
            leaves.removeAll()
            return false
        }
        packer.begin(leaves)
        if let entry = unsafe pending, try unsafe !pack(entry) { preconditionFailure("an empty buffer takes an entry") }
        unsafe pending = nil
        if try packBuffer() { return true }
        if try packRuns() { return true }
        packer.finish()
        isFinished = true
        return false
    }

    /// - Returns: whether the pages are full before the entries' end.
    private mutating func packBuffer() throws(IndexSortError) -> Bool {
        while place < buffer.count {
            let entry = unsafe staging.entry(at: place, of: buffer)
            place &+= 1
            try unsafe duplicates?.add(entry)
            if try unsafe pack(entry) { continue }
            unsafe pending = entry
            return true
        }
        return false
    }

    /// - Returns: whether the pages are full before the entries' end.
    private mutating func packRuns() throws(IndexSortError) -> Bool {
        // Taken out of the optional once, not for every entry.
        guard var merged = runs.take() else { return false }
        while let entry = try unsafe merged.next() {
            unsafe given.add(entry)
            try unsafe duplicates?.add(entry)
            if try unsafe pack(entry) { continue }
            unsafe pending = entry
            runs = consume merged
            return true
        }
        runs = consume merged
        if given != sum { throw IndexSortError(.scratchDamaged) }
        return false
    }

    @unsafe @inline(__always) private func pack(_ entry: UnsafeRawBufferPointer) throws(IndexSortError) -> Bool {
        do throws(PageBuildError) {
            return try unsafe packer.append(entry)
        } catch {
            throw IndexSortError(.tooLong(rowid: 0))
        }
    }

    /// Empties the scratch file, when all entries are taken or none is needed any more.
    package consuming func discard() {
        runs?.discard()
    }
}
