/// Forms the entries of an index from the records of its table: the cells of the key as they are stored, and the rowid.
///
/// The bytes are those of CREATE INDEX: a whole number in a REAL column stays the integer that it is stored as.
/// Integers that aren't stored in their shortest form, which old versions and other programs write, get it.
///
/// One per worker. It allocates nothing per entry.
@safe
package struct EntryFormer: ~Copyable, @unchecked Sendable {
    package let key: IndexKey

    /// A column's place in the entry, and its cell in the table's record.
    private struct Step {
        let cell: Int
        let place: Int
    }

    /// A cell of the entry that is being formed.
    @unsafe private struct Field {
        var type: SerialType = .null
        /// A number's digits, the first in the highest byte.
        var bits: UInt64 = 0
        /// A text's or blob's bytes; nil for a number.
        var start: UnsafeRawPointer?
    }

    /// Behind one pointer: a value that is lent to a hot loop's callee is copied for it.
    private let state: UnsafeMutablePointer<State>
    private let defaultCells: [EncodedCells]

    @unsafe private struct State {
        /// Cells to take from the record, in its order.
        let steps: UnsafeMutablePointer<Step>
        let stepCount: Int
        /// The entry's columns, and the rowid.
        let fields: UnsafeMutablePointer<Field>
        let fieldCount: Int
        /// By place.
        let defaults: UnsafeMutablePointer<Field>
        /// Bytes of a value by its serial type, as far as that is one byte.
        let lengths: UnsafeMutablePointer<UInt8>
        var typesLength = 0

        init(stepCount: Int, columnCount: Int) {
            unsafe self.stepCount = stepCount
            unsafe fieldCount = columnCount + 1
            unsafe steps = .allocate(capacity: max(1, stepCount))
            unsafe fields = .allocate(capacity: fieldCount)
            unsafe fields.initialize(repeating: Field(), count: fieldCount)
            unsafe defaults = .allocate(capacity: fieldCount)
            unsafe lengths = .allocate(capacity: 128)
            for type in 0..<128 {
                let length = SerialType(rawValue: UInt32(type)).length
                unsafe (lengths + type).initialize(to: UInt8(truncatingIfNeeded: length))
            }
        }
    }

    /// - Throws: `.tooLong` where a default is.
    package init(_ key: IndexKey) throws(RecordError) {
        var steps: [Step] = []
        var cells: [EncodedCells] = []
        for (place, column) in key.columns.enumerated() {
            var value = CellValue.null
            if case .cell(let cell, let whenMissing) = column.source {
                precondition(cell >= 0, "no such column in the table")
                steps.append(Step(cell: cell, place: place))
                value = whenMissing
            }
            cells.append(try EncodedCells([value]))
        }
        steps.sort { $0.cell < $1.cell }
        self.key = key
        defaultCells = cells
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State(stepCount: steps.count, columnCount: key.columns.count))
        for (index, step) in steps.enumerated() { unsafe (state.pointee.steps + index).initialize(to: step) }
        for (place, cell) in cells.enumerated() {
            let (type, _) = unsafe Varint.read(cell.header, before: cell.header + cell.headerLength)
            let field = unsafe Self.field(SerialType(rawValue: UInt32(truncatingIfNeeded: type)), at: cell.body)
            unsafe (state.pointee.defaults + place).initialize(to: field)
        }
    }

    deinit {
        unsafe state.pointee.steps.deallocate()
        unsafe state.pointee.fields.deallocate()
        unsafe state.pointee.defaults.deallocate()
        unsafe state.pointee.lengths.deallocate()
        unsafe state.deallocate()
    }

    /// Bytes after an entry that `write` may overwrite.
    static let slack = 8

    /// Takes the key's cells of a row. The record's bytes must live until the entry is written.
    ///
    /// - Returns: bytes of the entry.
    /// - Throws: `.damagedRow`, `.tooLong`.
    @unsafe @inline(__always) func load(
        _ record: UnsafeRawBufferPointer, rowid: Int64
    ) throws(IndexSortError) -> Int {
        do throws(RecordError) {
            try unsafe takeCells(record)
        } catch {
            throw IndexSortError(.damagedRow(rowid: rowid, error))
        }
        let (fields, fieldCount) = unsafe (state.pointee.fields, state.pointee.fieldCount)
        if unsafe state.pointee.stepCount < fieldCount - 1 {
            for (place, column) in key.columns.enumerated() where column.source == .rowid {
                unsafe fields[place] = Self.field(rowid)
            }
        }
        unsafe fields[fieldCount &- 1] = Self.field(rowid)
        var (typesLength, bodyLength) = (0, 0)
        var place = 0
        while place < fieldCount {
            let type = unsafe fields[place].type
            typesLength &+= Varint.length(of: UInt64(type.rawValue))
            bodyLength &+= type.length
            place &+= 1
        }
        unsafe state.pointee.typesLength = typesLength
        let length = RecordWriter.lengthWithPrefix(typesLength) &+ bodyLength
        if length > Int(Int32.max) { throw IndexSortError(.tooLong(rowid: rowid)) }
        return length
    }

    @unsafe @inline(__always) private func takeCells(_ record: UnsafeRawBufferPointer) throws(RecordError) {
        guard let start = record.baseAddress, record.count > 0, record.count <= Int(Int32.max) else {
            throw RecordError(code: .badHeader, offset: 0)
        }
        let (headerLength, lengthOfLength) = unsafe Varint.read(start, before: start + record.count)
        guard lengthOfLength > 0, headerLength >= UInt64(lengthOfLength), headerLength <= UInt64(record.count) else {
            throw RecordError(code: .badHeader, offset: 0)
        }
        let (steps, stepCount) = unsafe (state.pointee.steps, state.pointee.stepCount)
        let (fields, lengths) = unsafe (state.pointee.fields, state.pointee.lengths)
        let header = Int(headerLength)
        let bodyStart = unsafe start + header
        var cursor = lengthOfLength
        // Cells and their lengths are under 2³¹ each: no overflow.
        var body = header
        var cell = 0
        var type = SerialType.null
        var typeCell = -1
        var typeBody = 0
        var step = 0
        while step < stepCount {
            let wanted = unsafe steps[step]
            while cell <= wanted.cell, cursor < header {
                let byte = unsafe start.load(fromByteOffset: cursor, as: UInt8.self)
                typeBody = body
                if byte < 0x80 {
                    type = SerialType(rawValue: UInt32(byte))
                    body &+= unsafe Int(lengths[Int(byte)])
                    cursor &+= 1
                } else {
                    type = try unsafe Self.longType(start, &cursor, before: bodyStart)
                    body &+= type.length
                }
                typeCell = cell
                cell &+= 1
            }
            if typeCell == wanted.cell {
                if type.isReserved { throw RecordError(code: .badSerialType, offset: cursor) }
                if body > record.count { throw RecordError(code: .badBody, offset: cursor) }
                unsafe fields[wanted.place] = Self.field(type, at: start + typeBody)
            } else {
                unsafe fields[wanted.place] = state.pointee.defaults[wanted.place]
            }
            step &+= 1
        }
    }

    /// A serial type of more than one byte.
    @unsafe @inline(never) private static func longType(
        _ start: UnsafeRawPointer, _ cursor: inout Int, before end: UnsafeRawPointer
    ) throws(RecordError) -> SerialType {
        let (raw, length) = unsafe Varint.read(start + cursor, before: end)
        guard length > 0 else { throw RecordError(code: .badHeader, offset: cursor) }
        guard let narrow = UInt32(exactly: raw) else { throw RecordError(code: .badSerialType, offset: cursor) }
        cursor += length
        return SerialType(rawValue: narrow)
    }

    @unsafe @inline(__always) private static func field(_ type: SerialType, at start: UnsafeRawPointer) -> Field {
        if type.rawValue >= 12 { return unsafe Field(type: type, start: start) }
        if type.isReal {
            let bits = UInt64(bigEndian: unsafe start.loadUnaligned(as: UInt64.self))
            // SQLite reads it as NULL.
            if Double(bitPattern: bits).isNaN { return unsafe Field() }
            return unsafe Field(type: type, bits: bits)
        }
        return type.isNull ? unsafe Field() : unsafe field(type.integer(at: start))
    }

    @unsafe @inline(__always) private static func field(_ value: Int64) -> Field {
        let type = SerialType.integer(value)
        // A length of 0 shifts everything out: there is no byte to write.
        return unsafe Field(type: type, bits: UInt64(bitPattern: value) << UInt64(64 - 8 * type.length))
    }

    /// Writes the entry that was loaded, and up to `slack` bytes after it.
    @unsafe @inline(__always) func write(to target: UnsafeMutableRawPointer) {
        let (fields, fieldCount) = unsafe (state.pointee.fields, state.pointee.fieldCount)
        var cursor = unsafe target
        let typesLength = unsafe state.pointee.typesLength
        unsafe cursor += Varint.write(UInt64(RecordWriter.lengthWithPrefix(typesLength)), to: cursor)
        var place = 0
        while place < fieldCount {
            unsafe cursor += Varint.write(UInt64(fields[place].type.rawValue), to: cursor)
            place &+= 1
        }
        place = 0
        while place < fieldCount {
            let field = unsafe fields + place
            let length = unsafe field.pointee.type.length
            if let start = unsafe field.pointee.start {
                unsafe cursor.copyMemory(from: start, byteCount: length)
            } else {
                unsafe cursor.storeBytes(of: field.pointee.bits.bigEndian, as: UInt64.self)
            }
            unsafe cursor += length
            place &+= 1
        }
    }
}
