/// Where a cell is in its record: 16 bytes.
@usableFromInline package struct CellDescriptor: Sendable {
    @usableFromInline package let serialType: SerialType
    /// Byte of its serial type in the record.
    @usableFromInline package let headerOffset: UInt32
    /// Byte of its value in the record.
    @usableFromInline package let offset: UInt32
    /// Bytes of its value.
    @usableFromInline package let length: UInt32

    @inlinable package init(serialType: SerialType, headerOffset: UInt32, offset: UInt32, length: UInt32) {
        self.serialType = serialType
        self.headerOffset = headerOffset
        self.offset = offset
        self.length = length
    }
}

/// Finds the cells of one record after another without decoding them; values are decoded when asked for.
///
/// One reader per thread, for the whole pass: it owns room for the descriptors and allocates nothing per record. The
/// bytes of the record stay the caller's and must live until the next `load`.
///
/// A record may have fewer cells than its table has columns (`ALTER TABLE ADD COLUMN` rewrites no rows): cells from
/// `count` on have the column's default, which only the schema knows. Accessors of cells out of range are errors of the
/// caller and trap.
@safe
@usableFromInline package final class RecordReader {
    /// Most cells that a record may have: the columns of the table.
    @usableFromInline package let capacity: Int
    /// Cells of the loaded record.
    @inlinable package var count: Int { cellCount }

    @usableFromInline let cells: UnsafeMutablePointer<CellDescriptor>
    /// Mutable state is behind one pointer: properties of a class would cost a runtime exclusivity check for each
    /// access from another module.
    @usableFromInline let state: UnsafeMutablePointer<State>

    @unsafe @usableFromInline struct State {
        @usableFromInline var base: UnsafeRawPointer
        /// Bytes of header and of the whole record.
        @usableFromInline var headerEnd: UInt32 = 0
        @usableFromInline var recordEnd: UInt32 = 0
        @usableFromInline var cellCount = 0

        init(base: UnsafeRawPointer) {
            unsafe self.base = base
        }
    }

    package init(capacity: Int) {
        precondition(capacity >= 0)
        self.capacity = capacity
        unsafe cells = .allocate(capacity: max(1, capacity))
        // Replaced by the first record; with a count of 0 nothing reads through it.
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(base: UnsafeRawPointer(cells)))
    }

    deinit {
        unsafe cells.deallocate()
        unsafe state.deallocate()
    }
}

extension RecordReader {
    @inlinable var base: UnsafeRawPointer {
        get { unsafe state.pointee.base }
        set { unsafe state.pointee.base = newValue }
    }
    @inlinable var headerEnd: UInt32 {
        get { unsafe state.pointee.headerEnd }
        set { unsafe state.pointee.headerEnd = newValue }
    }
    @inlinable var recordEnd: UInt32 {
        get { unsafe state.pointee.recordEnd }
        set { unsafe state.pointee.recordEnd = newValue }
    }
    @inlinable var cellCount: Int {
        get { unsafe state.pointee.cellCount }
        set { unsafe state.pointee.cellCount = newValue }
    }

    /// Finds the cells of `record`. After a throw, the reader holds no cells.
    ///
    /// As strict as SQLite: the cells must fill the body to its last byte.
    @inlinable package func load(_ record: UnsafeRawBufferPointer) throws(RecordError) {
        cellCount = 0
        guard let start = record.baseAddress, record.count > 0 else {
            throw RecordError(code: .badHeader, offset: 0)
        }
        if record.count > Int(Int32.max) { throw RecordError(code: .tooLong, offset: 0) }
        let end = unsafe start + record.count
        let (headerLength, lengthOfLength) = unsafe Varint.read(start, before: end)
        guard lengthOfLength > 0, headerLength >= UInt64(lengthOfLength), headerLength <= UInt64(record.count) else {
            throw RecordError(code: .badHeader, offset: 0)
        }
        let header = Int(headerLength)
        let bodyStart = unsafe start + header
        var cursor = lengthOfLength
        // Stays far below overflow: checked against the record's length, under 2³¹, at each cell.
        var body = header
        var index = 0
        while cursor < header {
            let (raw, length) = unsafe Varint.read(start + cursor, before: bodyStart)
            if length == 0 { throw RecordError(code: .badHeader, offset: cursor) }
            if index == capacity { throw RecordError(code: .tooManyCells, offset: cursor) }
            guard let narrow = UInt32(exactly: raw) else { throw RecordError(code: .badSerialType, offset: cursor) }
            let type = SerialType(rawValue: narrow)
            if type.isReserved { throw RecordError(code: .badSerialType, offset: cursor) }
            let size = type.length
            unsafe cells[index] = CellDescriptor(
                serialType: type, headerOffset: UInt32(truncatingIfNeeded: cursor),
                offset: UInt32(truncatingIfNeeded: body), length: UInt32(truncatingIfNeeded: size))
            body &+= size
            if body > record.count { throw RecordError(code: .badBody, offset: cursor) }
            cursor &+= length
            index &+= 1
        }
        if body != record.count { throw RecordError(code: .badBody, offset: body) }
        unsafe base = start
        headerEnd = UInt32(truncatingIfNeeded: header)
        recordEnd = UInt32(truncatingIfNeeded: record.count)
        cellCount = index
    }

    /// Where a cell lies.
    @inlinable package subscript(index: Int) -> CellDescriptor {
        precondition(index >= 0 && index < cellCount, "no such cell in the record")
        return unsafe cells[index]
    }

    @inlinable package func serialType(at index: Int) -> SerialType {
        self[index].serialType
    }

    @inlinable package func isNull(at index: Int) -> Bool {
        self[index].serialType.isNull
    }

    /// The integer of a cell; nil when it holds another storage class.
    @inlinable package func integer(at index: Int) -> Int64? {
        let cell = self[index]
        return unsafe cell.serialType.integer(at: base + Int(cell.offset))
    }

    /// The number of a real cell; nil when it holds another storage class.
    ///
    /// In a column of REAL affinity SQLite stores a whole number as an integer: ask `integer(at:)` too.
    @inlinable package func real(at index: Int) -> Double? {
        let cell = self[index]
        guard cell.serialType.isReal else { return nil }
        let bits = unsafe (base + Int(cell.offset)).loadUnaligned(as: UInt64.self)
        return Double(bitPattern: UInt64(bigEndian: bits))
    }

    /// The bytes of the value in the record: of a text or blob its content, of a number its big-endian digits.
    @unsafe @inlinable package func unsafeBytes(at index: Int) -> UnsafeRawBufferPointer {
        let cell = self[index]
        return unsafe UnsafeRawBufferPointer(start: base + Int(cell.offset), count: Int(cell.length))
    }
    /// Serial types and values of neighbouring cells, at least one.
    @unsafe @inlinable func bytes(
        of cells: Range<Int>
    ) -> (header: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        precondition(!cells.isEmpty && cells.lowerBound >= 0 && cells.upperBound <= cellCount, "no such cells")
        let first = unsafe self.cells[cells.lowerBound]
        let isLast = cells.upperBound == cellCount
        let header = unsafe isLast ? headerEnd : self.cells[cells.upperBound].headerOffset
        let body = unsafe isLast ? recordEnd : self.cells[cells.upperBound].offset
        return unsafe (
            UnsafeRawBufferPointer(
                start: base + Int(first.headerOffset), count: Int(header &- first.headerOffset)),
            UnsafeRawBufferPointer(start: base + Int(first.offset), count: Int(body &- first.offset))
        )
    }

    /// Whether these cells are those of another record from its cell `first` on: every byte of serial types and values.
    @inlinable func isEqual(_ cells: Range<Int>, to other: RecordReader, at first: Int) -> Bool {
        if cells.isEmpty { return true }
        let (ours, theirs) = unsafe (bytes(of: cells), other.bytes(of: first..<first + cells.count))
        return unsafe Self.isEqual(ours.header, theirs.header) && Self.isEqual(ours.body, theirs.body)
    }

    /// Looks at all bytes, eight at a time: they are equal, and then the shortest loop is the fastest.
    @unsafe @inlinable static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let left = left.baseAddress, let other = right.baseAddress else { return true }
        var difference: UInt64 = 0
        var index = 0
        while index &+ 8 <= right.count {
            unsafe difference |=
                (left + index).loadUnaligned(as: UInt64.self) ^ (other + index).loadUnaligned(as: UInt64.self)
            index &+= 8
        }
        while index < right.count {
            unsafe difference |= UInt64((left + index).load(as: UInt8.self) ^ (other + index).load(as: UInt8.self))
            index &+= 1
        }
        return difference == 0
    }
}
