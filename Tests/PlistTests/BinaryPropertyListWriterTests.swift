import CausewayPlist
import Foundation
import Testing

@Suite("Writing binary property lists", .timeLimit(.minutes(60)))
struct BinaryPropertyListWriterTests {
    /// Made with CPython 3.11: `plistlib.dumps(value, fmt=FMT_BINARY, sort_keys=True).hex()`.
    private static let goldenFiles: [(value: PropertyList, hex: String)] = [
        (.dictionary([:]), "62706c6973743030d0080000000000000101000000000000000100000000000000000000000000000009"),
        (
            .dictionary([
                "b": .array([
                    .integer(1), .integer(-1), .integer(300), .integer(70_000), .integer(1 << 40),
                    .unsigned((1 << 63) + 5),
                ]),
                "a": .boolean(true), "real": .real(1.5), "text": .string("héllo"), "data": .data([1, 2]),
                "uid": .uid(300), "same": .string("a"), "emoji": .string("😀"), "date": .date(86_400),
            ]),
            """
            62706c6973743030d90102030405060708090a0b12131415011617516151625464617461546461746555656d6f6a6954
            7265616c5473616d6554746578745375696409a60c0d0e0f1011100113ffffffffffffffff11012c1200011170130000
            01000000000014000000000000000080000000000000054201023340f518000000000062d83dde00233ff80000000000
            0065006800e9006c006c006f81012c081b1d1f24292f34393e42434a4c55585d66777a8388919c000000000000010100
            000000000000180000000000000000000000000000009f
            """
        ),
    ]

    @Test("the bytes are those that Python's plistlib writes", arguments: goldenFiles)
    func golden(_ sample: (value: PropertyList, hex: String)) throws {
        #expect(try BinaryPropertyListWriter.bytes(of: sample.value) == [UInt8](hex: sample.hex))
    }

    private static let values: [PropertyList] = [
        .integer(.min), .integer(.max), .integer(255), .integer(256), .integer(65_536), .integer(1 << 32),
        .unsigned(.max), .real(-0.0), .real(.infinity), .real(.leastNonzeroMagnitude), .date(-1e9), .uid(.max),
        .string(""), .string(String(repeating: "a", count: 15)),
        .data([]), .data([UInt8](repeating: 7, count: 300)), .string("e\u{301}"), .boolean(false),
        .array([.real(0), .real(-0.0), .integer(0), .boolean(false)]),
        .dictionary(["": .array([]), "x": .dictionary([:])]),
    ]

    @Test("every value reads back as it was", arguments: values)
    func roundTrip(_ value: PropertyList) throws {
        #expect(try PropertyList(parsing: BinaryPropertyListWriter.bytes(of: value)) == value)
    }

    @Test("more than 15, 256 and 65,536 items, characters and objects", arguments: [16, 300, 70_000])
    func widths(count: Int) throws {
        let values: [PropertyList] = [
            .array((0..<count).map { .string("\($0)") }), .string(String(repeating: "ü", count: count)),
            .data([UInt8](repeating: 7, count: count)),
        ]
        for value in values {
            // Compared outside of the macro, because that would print the values.
            let isSame = try PropertyList(parsing: BinaryPropertyListWriter.bytes(of: value)) == value
            #expect(isSame)
        }
    }

    @Test("not-a-number keeps its bits and is one object")
    func notANumber() throws {
        let bytes = try BinaryPropertyListWriter.bytes(of: .array([.real(.nan), .real(.nan)]))
        let list = try BinaryPropertyList(parsing: bytes)
        #expect(list.objects.count == 2)
        #expect(try list.tree().array?.first?.real?.isNaN == true)
    }

    @Test("equal scalars are one object, equal containers are not")
    func uniquing() throws {
        let value = PropertyList.array([.string("a"), .string("a"), .array([.integer(1)]), .array([.integer(1)])])
        #expect(try BinaryPropertyList(parsing: BinaryPropertyListWriter.bytes(of: value)).objects.count == 5)
    }

    @Test("texts that differ only in normalisation keep their bytes")
    func normalisation() throws {
        let value = PropertyList.array([.string("\u{E9}"), .string("e\u{301}")])
        let texts = try PropertyList(parsing: BinaryPropertyListWriter.bytes(of: value)).array?.compactMap(\.string)
        #expect(texts?.map { $0.unicodeScalars.count } == [1, 2])
    }

    @Test("512 levels are written and read back, one more is refused")
    func depth() throws {
        var value = PropertyList.integer(1)
        for _ in 1..<PropertyListLimits.treeDepth { value = .array([value]) }
        #expect(try PropertyList(parsing: BinaryPropertyListWriter.bytes(of: value)) == value)
        let deeper = PropertyList.array([.array([value])])
        let error = #expect(throws: PropertyListError.self) { try BinaryPropertyListWriter.bytes(of: deeper) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("Foundation reads what is written")
    func foundation() throws {
        let value = PropertyList.dictionary([
            "n": .integer(-5), "big": .unsigned(.max), "on": .boolean(true), "t": .string("ä😀"), "d": .data([1, 2, 3]),
            "list": .array([.real(2.5), .date(0)]),
        ])
        let data = Data(try BinaryPropertyListWriter.bytes(of: value))
        let tree = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
        let read = try #require(tree as? [String: Any])
        #expect((read["n"] as? NSNumber)?.int64Value == -5)
        #expect((read["big"] as? NSNumber)?.uint64Value == .max)
        #expect(read["on"] as? Bool == true)
        #expect(read["t"] as? String == "ä😀")
        #expect(read["d"] as? Data == Data([1, 2, 3]))
        #expect((read["list"] as? [Any])?.count == 2)
    }
}
