/// The sorted entries of an index, given out as packed pages.
///
/// Used by one thread at a time. After a throw it isn't usable.
@safe
package struct SortedIndex: ~Copyable {
    /// What will come out: count and digest.
    package let sum: EntrySum

    private let packer: IndexPacker
    /// Where everything fitted in memory.
    private let buffer: EntryBuffer
    private var place = 0
    private var runs: RunFile?
    private var duplicates: DuplicateCheck?
    /// The entry that didn't fit in the buffer before.
    private var pending: UnsafeRawBufferPointer?
    private var given = EntrySum()
    private var isFinished = false

    init(
        _ order: EntryOrder, isUnique: Bool, pageSize: Int, _ sum: EntrySum, _ buffer: consuming EntryBuffer,
        _ runs: consuming RunFile?
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
        while let entry = try unsafe next() {
            if try unsafe !pack(entry) {
                unsafe pending = entry
                return true
            }
        }
        packer.finish()
        isFinished = true
        if place == 0, given != sum { throw IndexSortError(.scratchDamaged) }
        return false
    }

    @unsafe @inline(__always) private mutating func next() throws(IndexSortError) -> UnsafeRawBufferPointer? {
        let entry: UnsafeRawBufferPointer
        if place < buffer.count {
            unsafe entry = buffer.entry(at: place)
            place &+= 1
        } else {
            guard let merged = try unsafe runs?.next() else { return nil }
            unsafe entry = merged
            unsafe given.add(entry)
        }
        try unsafe duplicates?.add(entry)
        return unsafe entry
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
