import CausewaySQLiteFile
import Testing

@Suite("Damaged records", .timeLimit(.minutes(60))) struct DamagedRecordTests {
    static let damaged: [(bytes: [UInt8], code: RecordError.Code)] = [
        ([], .badHeader),
        // The header's length: zero, longer than the record, cut, enormous.
        ([0], .badHeader),
        ([5, 1, 1], .badHeader),
        ([0x81], .badHeader),
        ([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], .badHeader),
        // Shorter than its own varint.
        ([0x80, 0x01, 0], .badHeader),
        // A serial type that crosses the header's end.
        ([2, 0x81, 0x00], .badHeader),
        // Reserved types.
        ([2, 10], .badSerialType),
        ([2, 11], .badSerialType),
        // A serial type of 64 bits.
        ([10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], .badSerialType),
        // The largest type of 32 bits: a text of 2 GiB in a record of 6 bytes.
        ([6, 0x8f, 0xff, 0xff, 0xff, 0x7f], .badBody),
        // A body that is cut, or too long.
        ([2, 4, 0, 0, 0], .badBody),
        ([2, 1, 0, 0], .badBody),
        ([1, 0], .badBody),
        // More cells than there is room for.
        ([6, 0, 0, 0, 0, 0], .tooManyCells),
    ]

    @Test("is refused with its reason", arguments: damaged)
    func refused(bytes: [UInt8], code: RecordError.Code) {
        let reader = RecordReader(capacity: 4)
        let error = #expect(throws: RecordError.self) { try load(bytes, into: reader) }
        #expect(error?.code == code)
        #expect(reader.count == 0)
    }

    @Test("many huge cells can't overflow the sum of their lengths")
    func hugeCells() {
        var bytes: [UInt8] = [81]
        for _ in 0..<16 { bytes += [0x8f, 0xff, 0xff, 0xff, 0x7f] }
        let reader = RecordReader(capacity: 100)
        let error = #expect(throws: RecordError.self) { try load(bytes, into: reader) }
        #expect(error?.code == .badBody)
    }

    @Test(
        "every truncation is refused and every flipped byte read or refused, without a trap",
        arguments: RecordVector.all)
    func mutations(_ vector: RecordVector) throws {
        let reader = RecordReader(capacity: 8)
        for count in 0..<vector.record.count {
            #expect(throws: RecordError.self) { try load(Array(vector.record[..<count]), into: reader) }
        }
        for index in vector.record.indices {
            for pattern: UInt8 in [0x01, 0x80, 0xff, 0x0c] {
                var bytes = vector.record
                bytes[index] ^= pattern
                do {
                    try load(bytes, into: reader) {
                        for cell in 0..<reader.count { _ = try value(reader, cell) }
                    }
                } catch is RecordError {
                    #expect(reader.count == 0)
                }
            }
        }
    }
}
