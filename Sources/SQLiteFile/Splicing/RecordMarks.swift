/// Where the cells of a record are: found once, with nothing decoded. As strict as `RecordReader`.
@unsafe
struct RecordMarks {
    /// The beginning of a cell.
    struct Mark {
        let type: UInt32
        /// Byte of its serial type in the record.
        let head: UInt32
        /// Byte of its value in the record.
        let body: UInt32
    }

    /// One more than there are cells: the last is the end of header and body.
    let marks: UnsafeMutablePointer<Mark>
    /// Cells of the record.
    private(set) var count = 0
    private(set) var hasReals = false
    /// SQLite reads one as NULL (https://www.sqlite.org/floatingpoint.html).
    private(set) var hasNaN = false
    private(set) var start: UnsafeRawPointer
    private let capacity: Int
    /// Bytes of a value by its serial type, as far as that is one byte.
    private let lengths: UnsafeMutablePointer<UInt8>

    /// - Parameter capacity: most cells that a record may have.
    init(capacity: Int) {
        unsafe self.capacity = capacity
        unsafe marks = .allocate(capacity: capacity + 1)
        unsafe marks.initialize(repeating: Mark(type: 0, head: 0, body: 0), count: capacity + 1)
        unsafe start = UnsafeRawPointer(marks)
        unsafe lengths = .allocate(capacity: 128)
        for type in 0..<128 {
            let length = SerialType(rawValue: UInt32(type)).length
            unsafe (lengths + type).initialize(to: UInt8(truncatingIfNeeded: length))
        }
    }

    func deallocate() {
        unsafe marks.deallocate()
        unsafe lengths.deallocate()
    }

    /// - Returns: false where the record is damaged; there are no cells then.
    @inline(__always) mutating func find(_ record: UnsafeRawBufferPointer) -> Bool {
        unsafe count = 0
        guard let base = record.baseAddress, record.count > 0, record.count <= Int(Int32.max) else { return false }
        let (headerLength, lengthOfLength) = unsafe Varint.read(base, before: base + record.count)
        guard lengthOfLength > 0, headerLength >= UInt64(lengthOfLength), headerLength <= UInt64(record.count) else {
            return false
        }
        let header = Int(headerLength)
        let (marks, lengths, capacity) = unsafe (marks, lengths, capacity)
        var cursor = lengthOfLength
        // Cells and their lengths are under 2³¹ each: no overflow.
        var body = header
        var index = 0
        var hasReals = false
        while cursor < header {
            if index == capacity { return false }
            let byte = unsafe base.load(fromByteOffset: cursor, as: UInt8.self)
            var type = UInt32(byte)
            var (size, length) = (0, 1)
            if byte < 0x80 {
                // The reserved types.
                if byte & 0xfe == 10 { return false }
                hasReals = hasReals || byte == 7
                size = unsafe Int(lengths[Int(byte)])
            } else {
                let (raw, bytes) = unsafe Varint.read(base + cursor, before: base + header)
                guard bytes > 0, let narrow = UInt32(exactly: raw), narrow >= 0x80 else { return false }
                (type, length) = (narrow, bytes)
                size = SerialType(rawValue: narrow).length
            }
            unsafe marks[index] = Mark(
                type: type, head: UInt32(truncatingIfNeeded: cursor), body: UInt32(truncatingIfNeeded: body))
            body &+= size
            cursor &+= length
            index &+= 1
        }
        guard body == record.count else { return false }
        unsafe marks[index] = Mark(
            type: 0, head: UInt32(truncatingIfNeeded: header), body: UInt32(truncatingIfNeeded: body))
        unsafe start = base
        unsafe count = index
        unsafe self.hasReals = hasReals
        unsafe hasNaN = hasReals && findsNaN()
        return true
    }

    private func findsNaN() -> Bool {
        for cell in unsafe 0..<count where unsafe marks[cell].type == SerialType.real.rawValue {
            let bits = unsafe UInt64(bigEndian: (start + Int(marks[cell].body)).loadUnaligned(as: UInt64.self))
            if bits & Double.infinity.bitPattern == Double.infinity.bitPattern, Double(bitPattern: bits).isNaN {
                return true
            }
        }
        return false
    }

    @inline(__always) func isNull(_ cell: Int) -> Bool { unsafe cell >= count || marks[cell].type == 0 }

    /// The integer of a cell; nil when it holds another storage class, or isn't there.
    @inline(__always) func integer(_ cell: Int) -> Int64? {
        guard unsafe cell < count else { return nil }
        let mark = unsafe marks[cell]
        return unsafe SerialType(rawValue: mark.type).integer(at: start + Int(mark.body))
    }

    /// Whether a cell holds a real that a column stores as an integer.
    @inline(__always) func isWhole(_ cell: Int, as form: RecordForm.Numbers) -> Bool {
        guard unsafe cell < count, unsafe marks[cell].type == SerialType.real.rawValue else { return false }
        let bits = unsafe (start + Int(marks[cell].body)).loadUnaligned(as: UInt64.self)
        return RecordFormer.stored(Double(bitPattern: UInt64(bigEndian: bits)), as: form) != nil
    }

    /// Whether a cell of a column of REAL affinity holds an integer that a new record doesn't get as it is stored.
    @inline(__always) func isRestored(_ cell: Int, as form: RecordForm.Numbers) -> Bool {
        guard let integer = unsafe integer(cell) else { return false }
        // Of eight bytes, the real isn't always the integer, and is stored as a real.
        return unsafe form != .real || marks[cell].type == 6 || marks[cell].type != SerialType.integer(integer).rawValue
    }
}
