/// Sums the entries that rows of a table have in some of its indexes: one per worker, for the whole pass.
///
/// It allocates nothing per row and touches no reference count.
@safe
package final class EntrySummer {
    @unsafe private struct State {
        /// As many as there are indexes.
        let formers: UnsafeMutablePointer<EntryFormer>
        let sums: UnsafeMutablePointer<EntrySum>
        /// Room for an entry.
        var room: UnsafeMutableRawPointer
        var roomLength = 256

        init(count: Int) {
            unsafe formers = .allocate(capacity: count)
            unsafe sums = .allocate(capacity: count)
            unsafe sums.initialize(repeating: EntrySum(), count: count)
            unsafe room = .allocate(byteCount: roomLength + EntryFormer.slack, alignment: 8)
        }
    }

    /// Behind one pointer: properties of a class can cost a runtime exclusivity check for each access.
    private let state: UnsafeMutablePointer<State>
    private let count: Int
    /// Bytes that stay from batch to batch.
    private static let largestRoom = 1 << 20

    /// - Parameter keys: of the indexes, without defaults.
    package init(_ keys: [IndexKey]) {
        count = keys.count
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(count: max(1, keys.count)))
        for (place, key) in keys.enumerated() {
            do throws(RecordError) {
                unsafe (state.pointee.formers + place).initialize(to: try EntryFormer(key))
            } catch {
                preconditionFailure("only a default can be too long, and the key has none")
            }
        }
    }

    deinit {
        unsafe state.pointee.formers.deinitialize(count: count).deallocate()
        unsafe state.pointee.sums.deallocate()
        unsafe state.pointee.room.deallocate()
        unsafe state.deallocate()
    }

    /// Adds records of the table.
    /// - Throws: `.damagedRow`, `.tooLong`.
    package func add(_ rows: RowBatch) throws(IndexSortError) {
        for index in 0..<rows.count { try unsafe add(rows.record(at: index), rowid: rows.rowid(at: index)) }
    }

    /// Adds a record of the table.
    /// - Throws: `.damagedRow`, `.tooLong`.
    @unsafe @inline(__always) func add(_ record: UnsafeRawBufferPointer, rowid: Int64) throws(IndexSortError) {
        let (formers, sums) = unsafe (state.pointee.formers, state.pointee.sums)
        var place = 0
        while place < count {
            let length = try unsafe formers[place].load(record, rowid: rowid)
            let room = unsafe length <= state.pointee.roomLength ? state.pointee.room : self.room(of: length * 2)
            unsafe formers[place].write(to: room)
            unsafe sums[place].add(UnsafeRawBufferPointer(start: room, count: length))
            place &+= 1
        }
    }

    /// The sums since the last call, one for each key.
    package func take() -> [EntrySum] {
        let found = (0..<count).map { unsafe state.pointee.sums[$0] }
        unsafe state.pointee.sums.update(repeating: EntrySum(), count: count)
        // The memory of one huge entry must not stay.
        if unsafe state.pointee.roomLength > Self.largestRoom { _ = unsafe room(of: Self.largestRoom) }
        return found
    }

    @unsafe @inline(never) private func room(of length: Int) -> UnsafeMutableRawPointer {
        unsafe state.pointee.room.deallocate()
        unsafe state.pointee.room = .allocate(byteCount: length + EntryFormer.slack, alignment: 8)
        unsafe state.pointee.roomLength = length
        return unsafe state.pointee.room
    }
}
