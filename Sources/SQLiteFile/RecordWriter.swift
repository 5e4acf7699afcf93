/// Composes one record after another from cells: carried ones, spliced from a source record without being decoded,
/// constants encoded once per pass, and new values.
///
/// One writer per thread, for the whole pass: it allocates nothing per record. Carried cells, texts and blobs are only
/// referred to until the record is finished: the caller keeps their bytes until then.
///
/// The same cells always give the same bytes: integers in the shortest form, reals as given (SQLite itself would store
/// the real 2.0 in a column of REAL affinity as the integer 2: a caller who wants that passes the integer), NaN as
/// NULL.
@safe
@usableFromInline package final class RecordWriter {
    /// Mutable state is behind one pointer: properties of a class would cost a runtime exclusivity check for each
    /// access from another module.
    @usableFromInline let state: UnsafeMutablePointer<State>

    @unsafe @usableFromInline struct State {
        @usableFromInline var runs: UnsafeMutablePointer<Run>
        @usableFromInline var runCapacity: Int
        @usableFromInline var runCount = 0
        /// Bytes of the serial types and of the values so far.
        @usableFromInline var headerLength = 0
        @usableFromInline var bodyLength = 0

        init(runCapacity: Int) {
            unsafe runs = .allocate(capacity: runCapacity)
            unsafe self.runCapacity = runCapacity
        }
    }

    /// Adjacent cells that are copied together.
    @unsafe @usableFromInline struct Run {
        /// Serial types to copy; nil: one cell of `serialType`.
        @usableFromInline let header: UnsafeRawPointer?
        /// Values to copy; nil: `bits` holds the value.
        @usableFromInline let body: UnsafeRawPointer?
        @usableFromInline let headerLength: Int32
        @usableFromInline let bodyLength: Int32
        /// The value of a number, its first byte in the highest.
        @usableFromInline let bits: UInt64
        @usableFromInline let serialType: UInt32

        @inlinable init(
            header: UnsafeRawPointer?, headerLength: Int32, body: UnsafeRawPointer?, bodyLength: Int32, bits: UInt64,
            serialType: UInt32
        ) {
            unsafe self.header = header
            unsafe self.headerLength = headerLength
            unsafe self.body = body
            unsafe self.bodyLength = bodyLength
            unsafe self.bits = bits
            unsafe self.serialType = serialType
        }
    }

    /// - Parameter capacity: Cells of a typical record; it grows when more come.
    package init(capacity: Int) {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(runCapacity: max(8, capacity)))
    }

    deinit {
        unsafe state.pointee.runs.deallocate()
        unsafe state.deallocate()
    }

    /// Drops what was appended; every record starts with it, `finish` ends with it.
    @inlinable package func begin() {
        runCount = 0
        headerLength = 0
        bodyLength = 0
    }

    @inline(never) @usableFromInline func grow() {
        let larger = UnsafeMutablePointer<Run>.allocate(capacity: runCapacity * 2)
        unsafe larger.moveInitialize(from: runs, count: runCount)
        unsafe runs.deallocate()
        unsafe runs = larger
        runCapacity *= 2
    }

    @inlinable func add(_ run: Run) {
        if runCount == runCapacity { grow() }
        unsafe (runs + runCount).initialize(to: run)
        runCount &+= 1
        headerLength &+= unsafe Int(run.headerLength)
        bodyLength &+= unsafe Int(run.bodyLength)
    }
}

extension RecordWriter {
    @inlinable var runs: UnsafeMutablePointer<Run> {
        get { unsafe state.pointee.runs }
        set { unsafe state.pointee.runs = newValue }
    }
    @inlinable var runCapacity: Int {
        get { unsafe state.pointee.runCapacity }
        set { unsafe state.pointee.runCapacity = newValue }
    }
    @inlinable var runCount: Int {
        get { unsafe state.pointee.runCount }
        set { unsafe state.pointee.runCount = newValue }
    }
    @inlinable var headerLength: Int {
        get { unsafe state.pointee.headerLength }
        set { unsafe state.pointee.headerLength = newValue }
    }
    @inlinable var bodyLength: Int {
        get { unsafe state.pointee.bodyLength }
        set { unsafe state.pointee.bodyLength = newValue }
    }

    @inlinable package func appendNull() {
        unsafe add(Run(header: nil, headerLength: 1, body: nil, bodyLength: 0, bits: 0, serialType: 0))
    }

    @inlinable package func append(_ value: Int64) {
        let type = SerialType.integer(value)
        let length = type.length
        // A length of 0 shifts everything out, which is right: there is no byte to write.
        let bits = UInt64(bitPattern: value) << UInt64(64 - 8 * length)
        unsafe add(
            Run(
                header: nil, headerLength: 1, body: nil, bodyLength: Int32(truncatingIfNeeded: length), bits: bits,
                serialType: type.rawValue))
    }

    @inlinable package func append(_ value: Double) {
        if value.isNaN { return appendNull() }
        unsafe add(
            Run(
                header: nil, headerLength: 1, body: nil, bodyLength: 8, bits: value.bitPattern,
                serialType: SerialType.real.rawValue))
    }

    /// UTF-8 in a database of that encoding.
    /// - Throws: `.tooLong` for a text over `SerialType.maximumValueLength`.
    @inlinable package func appendText(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        try unsafe appendValue(bytes, type: .text(length: bytes.count))
    }

    /// - Throws: `.tooLong` for a blob over `SerialType.maximumValueLength`.
    @inlinable package func appendBlob(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        try unsafe appendValue(bytes, type: .blob(length: bytes.count))
    }

    @inlinable func appendValue(_ bytes: UnsafeRawBufferPointer, type: SerialType) throws(RecordError) {
        if bytes.count > SerialType.maximumValueLength { throw RecordError(code: .tooLong, offset: 0) }
        unsafe add(
            Run(
                header: nil, headerLength: Int32(truncatingIfNeeded: Varint.length(of: UInt64(type.rawValue))),
                body: bytes.baseAddress, bodyLength: Int32(truncatingIfNeeded: bytes.count), bits: 0,
                serialType: type.rawValue))
    }

    /// Carries a run of cells of the reader's record, bytes unchanged, with two copies however many there are.
    @inlinable package func append(cells range: Range<Int>, of reader: RecordReader) {
        if range.isEmpty { return }
        let (header, body) = unsafe reader.bytes(of: range)
        unsafe add(
            Run(
                header: header.baseAddress, headerLength: Int32(truncatingIfNeeded: header.count),
                body: body.baseAddress, bodyLength: Int32(truncatingIfNeeded: body.count), bits: 0, serialType: 0))
    }

    /// Carries one cell of the reader's record.
    @inlinable package func append(cell index: Int, of reader: RecordReader) {
        append(cells: index..<index + 1, of: reader)
    }

    /// Appends cells that were encoded before; the writer refers to them until the record is finished.
    @inlinable package func append(_ cells: EncodedCells) {
        unsafe add(
            Run(
                header: cells.header, headerLength: Int32(truncatingIfNeeded: cells.headerLength), body: cells.body,
                bodyLength: Int32(truncatingIfNeeded: cells.bodyLength), bits: 0, serialType: 0))
    }

    /// Bytes of the record if it were finished now.
    @inlinable package var byteCount: Int {
        Self.lengthWithPrefix(headerLength) &+ bodyLength
    }

    /// A header's length counts the varint that gives it (SQLite: vdbeaux.c, sqlite3VdbeSerialPut's callers).
    @inlinable static func lengthWithPrefix(_ length: Int) -> Int {
        if length <= 126 { return length &+ 1 }
        let prefix = Varint.length(of: UInt64(length))
        let total = length &+ prefix
        return prefix < Varint.length(of: UInt64(total)) ? total &+ 1 : total
    }

    /// Adds the record to `batch` and begins the next.
    /// - Throws: `.tooLong` when the record is over 2³¹−1 bytes; the writer then starts a new record too.
    @inlinable package func finish(into batch: RowBatch, rowid: Int64) throws(RecordError) {
        let length = byteCount
        if length > Int(Int32.max) {
            begin()
            throw RecordError(code: .tooLong, offset: 0)
        }
        unsafe write(to: batch.appendRow(rowid: rowid, length: length))
        begin()
    }

    /// Writes the record, `byteCount` bytes, where up to 8 bytes after it are overwritten too.
    @unsafe @inlinable func write(to target: UnsafeMutableRawPointer) {
        var cursor = unsafe target
        unsafe cursor += Varint.write(UInt64(Self.lengthWithPrefix(headerLength)), to: cursor)
        var index = 0
        while index < runCount {
            let run = unsafe runs + index
            if let header = unsafe run.pointee.header {
                unsafe cursor.copyMemory(from: header, byteCount: Int(run.pointee.headerLength))
                unsafe cursor += Int(run.pointee.headerLength)
            } else {
                unsafe cursor += Varint.write(UInt64(run.pointee.serialType), to: cursor)
            }
            index &+= 1
        }
        index = 0
        while index < runCount {
            let run = unsafe runs + index
            if let body = unsafe run.pointee.body {
                unsafe cursor.copyMemory(from: body, byteCount: Int(run.pointee.bodyLength))
            } else {
                // Always all eight: extra bytes are overwritten by the next cell, or are in the arena's slack.
                unsafe cursor.storeBytes(of: run.pointee.bits.bigEndian, as: UInt64.self)
            }
            unsafe cursor += Int(run.pointee.bodyLength)
            index &+= 1
        }
    }
}
