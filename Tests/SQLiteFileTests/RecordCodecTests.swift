import CausewaySQLiteFile
import Testing

/// Composes one record.
func record(_ compose: (RecordWriter) throws -> Void) throws -> [UInt8] {
    let writer = RecordWriter(capacity: 4)
    let batch = RowBatch()
    try compose(writer)
    let expected = writer.byteCount
    try writer.finish(into: batch, rowid: 1)
    let bytes = unsafe Array(batch.record(at: 0))
    #expect(bytes.count == expected)
    return bytes
}

/// Bytes of texts and blobs that live as long as this does: the writer only refers to them.
@safe
private final class KeptBytes {
    private var buffers: [UnsafeMutableRawBufferPointer]

    init() {
        unsafe buffers = []
    }

    deinit {
        unsafe buffers.forEach { unsafe $0.deallocate() }
    }

    func append(_ value: CellValue, to writer: RecordWriter) throws {
        switch value {
        case .null: writer.appendNull()
        case .integer(let integer): writer.append(integer)
        case .real(let real): writer.append(real)
        case .text(let text): try unsafe writer.appendText(keep(Array(text.utf8)))
        case .blob(let blob): try unsafe writer.appendBlob(keep(blob))
        }
    }

    private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe copy.copyBytes(from: bytes)
        unsafe buffers.append(copy)
        return UnsafeRawBufferPointer(copy)
    }
}

func value(_ reader: RecordReader, _ index: Int) throws -> CellValue {
    let type = reader.serialType(at: index)
    if type.isNull { return .null }
    if type.isInteger { return .integer(try #require(reader.integer(at: index))) }
    if type.isReal { return .real(try #require(reader.real(at: index))) }
    let bytes = unsafe Array(reader.unsafeBytes(at: index))
    return type.isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
}

func load(_ bytes: [UInt8], into reader: RecordReader, _ body: () throws -> Void = {}) throws {
    try unsafe bytes.withUnsafeBytes { buffer in
        try unsafe reader.load(buffer)
        try body()
    }
}

@Suite("The record codec", .timeLimit(.minutes(60))) struct RecordCodecTests {
    @Test("a record that SQLite wrote is read as SQLite reads it", arguments: RecordVector.all)
    func reads(_ vector: RecordVector) throws {
        let reader = RecordReader(capacity: vector.cells.count)
        try load(vector.record, into: reader) {
            #expect(reader.count == vector.cells.count)
            for (index, cell) in vector.cells.enumerated() {
                let read = try value(reader, index)
                #expect(read == cell)
            }
        }
    }

    @Test("the same cells give SQLite's own bytes", arguments: RecordVector.all)
    func writes(_ vector: RecordVector) throws {
        let kept = KeptBytes()
        let written = try record { writer in
            for cell in vector.cells { try kept.append(cell, to: writer) }
        }
        #expect(written == vector.record)
    }

    @Test("cells encoded once give SQLite's own bytes", arguments: RecordVector.all)
    func writesEncoded(_ vector: RecordVector) throws {
        let cells = try EncodedCells(vector.cells)
        #expect(cells.count == vector.cells.count)
        #expect(try record { $0.append(cells) } == vector.record)
    }

    @Test("the header's length counts itself, also where its varint grows", arguments: RecordVector.wideHeaders)
    func wideHeaders(cells: Int, start: [UInt8]) throws {
        let bytes = try record { writer in for value in 0..<cells { writer.append(Int64(value)) } }
        #expect(Array(bytes.prefix(4)) == start)
        let reader = RecordReader(capacity: cells)
        try load(bytes, into: reader) {
            #expect(reader.count == cells)
            #expect(reader.integer(at: cells - 1) == Int64(cells - 1))
        }
    }

    @Test("a very wide record, whose header needs three bytes of length, reads back")
    func veryWide() throws {
        let count = 20_000
        let bytes = try record { writer in for value in 0..<count { writer.append(Int64(value)) } }
        let reader = RecordReader(capacity: count)
        try load(bytes, into: reader) {
            #expect((0..<count).allSatisfy { reader.integer(at: $0) == Int64($0) })
        }
    }

    @Test("carried runs are spliced verbatim, in any grouping, with new cells between them")
    func splices() throws {
        let vector = try #require(RecordVector.all.last)
        let reader = RecordReader(capacity: 8)
        try load(vector.record, into: reader) {
            let whole = try record { $0.append(cells: 0..<8, of: reader) }
            #expect(whole == vector.record)
            let single = try record { writer in for index in 0..<8 { writer.append(cell: index, of: reader) } }
            #expect(single == vector.record)
            let defaults = try EncodedCells([.integer(300), .null])
            let mixed = try record { writer in
                writer.append(cell: 0, of: reader)
                writer.append(Int64(9))
                writer.append(cells: 2..<2, of: reader)
                writer.append(cells: 2..<6, of: reader)
                writer.append(defaults)
                writer.append(cells: 6..<8, of: reader)
            }
            let second = RecordReader(capacity: 12)
            try load(mixed, into: second) {
                let cells = try (0..<second.count).map { try value(second, $0) }
                #expect(
                    cells == [
                        .integer(7), .integer(9), .integer(1), .null, .text("Name"), .real(3.5), .integer(300), .null,
                        .blob([0, 1]), .integer(0),
                    ])
            }
        }
    }

    @Test("an encoding that SQLite wouldn't choose is carried unchanged: 1 in two bytes")
    func carriesUnusualForms() throws {
        let bytes: [UInt8] = [2, 2, 0, 1]
        let reader = RecordReader(capacity: 1)
        try load(bytes, into: reader) {
            #expect(reader.integer(at: 0) == 1)
            let carried = try record { $0.append(cell: 0, of: reader) }
            #expect(carried == bytes)
        }
    }

    @Test("NaN becomes NULL, a real that is whole stays a real")
    func reals() throws {
        #expect(try record { $0.append(Double.nan) } == [2, 0])
        #expect(try record { $0.append(2.0) } == [2, 7, 0x40, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("a record with fewer cells than the table has columns gives its own cells")
    func shortRecord() throws {
        let reader = RecordReader(capacity: 5)
        try load([3, 8, 9], into: reader) { #expect(reader.count == 2) }
        try load([1], into: reader) { #expect(reader.count == 0) }
    }

    @Test("reading a cell as another storage class gives nil")
    func otherClass() throws {
        let reader = RecordReader(capacity: 3)
        try load([4, 8, 15, 0, 0x41], into: reader) {
            #expect(reader.real(at: 0) == nil)
            #expect(reader.integer(at: 1) == nil)
            #expect(reader.integer(at: 2) == nil)
            #expect(reader.isNull(at: 2))
        }
    }
}
