/// The unit of the pipeline: rows as the file holds them, (rowid, record), in one contiguous buffer, the arena.
///
/// A record is copied or written behind the last one, or it lies inside space that was taken before, such as a leaf
/// page that was read there (`takeSpace`, `appendRow(rowid:at:length:)`).
///
/// Recycled: `removeAll(keepingCapacity:)` keeps the memory, so that a pass allocates only until its batches have grown
/// to their size. When to close a batch is the caller's decision, by `count` and `byteCount`.
///
/// Sendable although it is mutable: exactly one thread holds a batch at a time; it is handed over through a queue whose
/// lock orders the accesses, and the sender doesn't touch it again.
@safe
@usableFromInline package final class RowBatch: @unchecked Sendable {
    /// Mutable state is behind one pointer: properties of a class would cost a runtime exclusivity check for each
    /// access from another module.
    @usableFromInline let state: UnsafeMutablePointer<State>

    @unsafe @usableFromInline struct State {
        @usableFromInline var arena: UnsafeMutableRawPointer
        @usableFromInline var arenaCapacity: Int
        @usableFromInline var arenaCount = 0
        /// End of the space that was taken for more than one row: never given back with a row.
        @usableFromInline var spaceEnd = 0
        @usableFromInline var rows: UnsafeMutablePointer<Row>
        @usableFromInline var rowCapacity: Int
        @usableFromInline var rowCount = 0

        init(rowCapacity: Int, arenaCapacity: Int) {
            unsafe self.rowCapacity = rowCapacity
            unsafe self.arenaCapacity = arenaCapacity
            unsafe rows = .allocate(capacity: rowCapacity)
            unsafe arena = .allocate(byteCount: arenaCapacity + RowBatch.slack, alignment: 16)
        }
    }

    @usableFromInline struct Row {
        @usableFromInline let rowid: Int64
        @usableFromInline let offset: UInt32
        @usableFromInline let length: UInt32

        @inlinable init(rowid: Int64, offset: UInt32, length: UInt32) {
            self.rowid = rowid
            self.offset = offset
            self.length = length
        }
    }

    /// Bytes that a row may have and a batch may hold; over it, offsets would not fit. A batch that is closed before it
    /// holds 2 GiB never meets it, whatever record (under 2³¹ bytes) comes next.
    @inlinable package static var maximumByteCount: Int { Int(UInt32.max) }
    /// Bytes after the last record that a writer of whole words may overwrite.
    @inlinable static var slack: Int { 8 }

    package init(rows: Int = 0, bytes: Int = 0) {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(rowCapacity: max(16, rows), arenaCapacity: max(256, bytes)))
    }

    deinit {
        unsafe state.pointee.rows.deallocate()
        unsafe state.pointee.arena.deallocate()
        unsafe state.deallocate()
    }

    @inlinable package var count: Int { rowCount }
    @inlinable package var isEmpty: Bool { rowCount == 0 }
    /// Bytes of all records together; where records lie inside taken space, of that space.
    @inlinable package var byteCount: Int { arenaCount }
    /// Bytes of memory that the batch holds.
    package var footprint: Int { arenaCapacity + Self.slack + rowCapacity * MemoryLayout<Row>.stride }

    /// Makes room ahead, so that appending does not allocate.
    package func reserve(rows: Int, bytes: Int) {
        if rows > rowCapacity { growRows(to: rows) }
        if bytes > arenaCapacity { growArena(to: bytes) }
    }

    /// Empties the batch. Memory over `keepingCapacity` bytes is given back: the memory of one huge row must not stay
    /// in every recycled batch.
    package func removeAll(keepingCapacity limit: Int = .max) {
        rowCount = 0
        arenaCount = 0
        spaceEnd = 0
        if arenaCapacity > limit {
            unsafe arena.deallocate()
            arenaCapacity = max(256, limit)
            unsafe arena = .allocate(byteCount: arenaCapacity + Self.slack, alignment: 16)
        }
    }

    /// Copies a record.
    /// - Throws: `.tooLong` when it is over SQLite's limit of 2³¹−1 bytes.
    @inlinable package func append(rowid: Int64, record: UnsafeRawBufferPointer) throws(RecordError) {
        if record.count > Int(Int32.max) { throw RecordError(code: .tooLong, offset: 0) }
        let target = unsafe appendRow(rowid: rowid, length: record.count)
        if let source = record.baseAddress {
            unsafe target.copyMemory(from: source, byteCount: record.count)
        }
    }

    /// Adds a row whose `length` bytes the caller writes at once; up to 8 bytes after them may be overwritten.
    @unsafe @inlinable package func appendRow(rowid: Int64, length: Int) -> UnsafeMutableRawPointer {
        let end = arenaCount &+ length
        if end > arenaCapacity { growArena(to: end) }
        if rowCount == rowCapacity { growRows(to: rowCount &+ 1) }
        unsafe (rows + rowCount).initialize(
            to: Row(
                rowid: rowid, offset: UInt32(truncatingIfNeeded: arenaCount), length: UInt32(truncatingIfNeeded: length)
            ))
        let target = unsafe arena + arenaCount
        arenaCount = end
        rowCount &+= 1
        return unsafe target
    }

    /// Removes the last row, if it turns out to be dropped.
    @inlinable package func removeLast() {
        precondition(rowCount > 0, "the batch is empty")
        rowCount &-= 1
        let offset = unsafe Int(rows[rowCount].offset)
        if offset >= spaceEnd { arenaCount = offset }
    }

    /// Takes space behind the last record, which the caller fills, and in which rows may lie afterwards.
    ///
    /// - Returns: where it begins; `space(at:)` gives the memory.
    func takeSpace(_ length: Int) -> Int {
        let offset = arenaCount
        let end = offset + length
        if end > arenaCapacity { growArena(to: end) }
        arenaCount = end
        spaceEnd = end
        return offset
    }

    /// Memory from `offset` on. Valid until the batch grows.
    @unsafe func space(at offset: Int) -> UnsafeMutableRawPointer {
        precondition(offset >= 0 && offset <= arenaCount, "no such space in the batch")
        return unsafe arena + offset
    }

    /// Adds a row whose record lies in space that was taken: nothing is copied.
    @inline(__always) func appendRow(rowid: Int64, at offset: Int, length: Int) {
        precondition(offset >= 0 && length >= 0 && offset &+ length <= spaceEnd, "a row in place lies in taken space")
        if rowCount == rowCapacity { growRows(to: rowCount &+ 1) }
        unsafe (rows + rowCount).initialize(
            to: Row(
                rowid: rowid, offset: UInt32(truncatingIfNeeded: offset), length: UInt32(truncatingIfNeeded: length)))
        rowCount &+= 1
    }

    /// The record of a row. Valid until the batch changes.
    @unsafe @inlinable package func record(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < rowCount, "no such row in the batch")
        let row = unsafe rows[index]
        return unsafe UnsafeRawBufferPointer(start: arena + Int(row.offset), count: Int(row.length))
    }

    @inlinable package func rowid(at index: Int) -> Int64 {
        precondition(index >= 0 && index < rowCount, "no such row in the batch")
        return unsafe rows[index].rowid
    }

    @inline(never) @usableFromInline func growArena(to needed: Int) {
        precondition(needed >= 0 && needed <= Self.maximumByteCount, "close a batch before it holds 2 GiB")
        let capacity = max(needed, min(MemoryGrowth.next(arenaCapacity), Self.maximumByteCount))
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity + Self.slack, alignment: 16)
        unsafe larger.copyMemory(from: arena, byteCount: arenaCount)
        unsafe arena.deallocate()
        unsafe arena = larger
        arenaCapacity = capacity
    }

    @inline(never) @usableFromInline func growRows(to needed: Int) {
        let stride = MemoryLayout<Row>.stride
        let capacity = max(needed, MemoryGrowth.next(rowCapacity * stride) / stride)
        let larger = UnsafeMutablePointer<Row>.allocate(capacity: capacity)
        unsafe larger.moveInitialize(from: rows, count: rowCount)
        unsafe rows.deallocate()
        unsafe rows = larger
        rowCapacity = capacity
    }
}

/// The state's fields under their own names.
extension RowBatch {
    @inlinable var arena: UnsafeMutableRawPointer {
        get { unsafe state.pointee.arena }
        set { unsafe state.pointee.arena = newValue }
    }
    @inlinable var arenaCapacity: Int {
        get { unsafe state.pointee.arenaCapacity }
        set { unsafe state.pointee.arenaCapacity = newValue }
    }
    @inlinable var arenaCount: Int {
        get { unsafe state.pointee.arenaCount }
        set { unsafe state.pointee.arenaCount = newValue }
    }
    @inlinable var spaceEnd: Int {
        get { unsafe state.pointee.spaceEnd }
        set { unsafe state.pointee.spaceEnd = newValue }
    }
    @inlinable var rows: UnsafeMutablePointer<Row> {
        get { unsafe state.pointee.rows }
        set { unsafe state.pointee.rows = newValue }
    }
    @inlinable var rowCapacity: Int {
        get { unsafe state.pointee.rowCapacity }
        set { unsafe state.pointee.rowCapacity = newValue }
    }
    @inlinable var rowCount: Int {
        get { unsafe state.pointee.rowCount }
        set { unsafe state.pointee.rowCount = newValue }
    }
}
