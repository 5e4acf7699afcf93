import CausewayPlist
import Foundation
import Testing

@Suite("Hostile property lists", .timeLimit(.minutes(60)))
struct HostilePropertyListTests {
    @Test("28 lists of ten references to the next are 10²⁸ leaves for a tree, and 29 objects for the table")
    func sharedReferenceBomb() throws {
        let levels = 28
        var objects = (1...levels).map { [0xAA] + [UInt8](repeating: UInt8($0), count: 10) }
        objects.append([0x51, 0x61])
        let list = try BinaryPropertyList(parsing: RawPropertyList(objects: objects).bytes)
        #expect(list.objects.count == levels + 1)
        let error = #expect(throws: PropertyListError.self) { try list.tree() }
        #expect(error?.code == .limitExceeded)
    }

    @Test("an array that contains itself is read as a table and refused as a tree")
    func cycles() throws {
        let cyclic: [[[UInt8]]] = [
            [[0xA1, 0]],
            [[0xA1, 1], [0xA1, 0]],
            [[0xD1, 1, 0], [0x51, 0x61]],
            [[0xA2, 1, 2], [0x51, 0x61], [0xC1, 0]],
        ]
        for objects in cyclic {
            let list = try BinaryPropertyList(parsing: RawPropertyList(objects: objects).bytes)
            let error = #expect(throws: PropertyListError.self) { try list.tree() }
            #expect(error?.code == .cycle)
        }
    }

    @Test("deep nesting is refused without using the stack")
    func nesting() throws {
        let depth = 60_000
        var objects = (1...depth).map { [0xA1] + RawPropertyList.bigEndian(UInt64($0), size: 4) }
        objects.append([0x09])
        let bytes = RawPropertyList(objects: objects, offsetSize: 4, referenceSize: 4).bytes
        let error = #expect(throws: PropertyListError.self) { try PropertyList(parsing: bytes) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("a thousand objects at the same place can't multiply its content")
    func overlap() {
        let array = [0xAF, 0x11, 0x03, 0xE8] + [UInt8](repeating: 0, count: 1_000)
        let bytes = RawPropertyList(objects: [array], offsets: [Int](repeating: 8, count: 1_000)).bytes
        let error = #expect(throws: PropertyListError.self) { try BinaryPropertyList(parsing: bytes) }
        #expect(error?.code == .malformed)
    }

    @Test("absurd counts are refused before anything is allocated", arguments: [0x4F, 0x5F, 0x6F, 0xAF, 0xCF, 0xDF])
    func absurdCounts(marker: Int) {
        let counts: [UInt64] = [.max, 1 << 63, (1 << 63) - 1, 1 << 62, 1 << 61, 1 << 60, 1 << 32, 40]
        for count in counts {
            let object = [UInt8(marker), 0x13] + RawPropertyList.bigEndian(count, size: 8)
            for size in [1, 2, 8] {
                let bytes = RawPropertyList(objects: [object], referenceSize: size).bytes
                let error = #expect(throws: PropertyListError.self) { try BinaryPropertyList(parsing: bytes) }
                #expect(error?.code == .malformed)
            }
        }
    }

    @Test("a trailer with false numbers is refused")
    func trailers() {
        let good: [[UInt8]] = [[0x09]]
        let lies = [
            RawPropertyList(objects: good, count: 0), RawPropertyList(objects: good, count: 2),
            RawPropertyList(objects: good, count: .max), RawPropertyList(objects: good, count: 1 << 61),
            RawPropertyList(objects: good, root: 1), RawPropertyList(objects: good, root: .max),
            RawPropertyList(objects: good, table: 0), RawPropertyList(objects: good, table: 8),
            RawPropertyList(objects: good, table: .max), RawPropertyList(objects: good, table: 1 << 63),
            RawPropertyList(objects: good, offsetSize: 0), RawPropertyList(objects: good, offsetSize: 9),
            RawPropertyList(objects: good, referenceSize: 0), RawPropertyList(objects: good, referenceSize: 255),
            RawPropertyList(objects: good, offsets: [0]), RawPropertyList(objects: good, offsets: [9]),
            RawPropertyList(objects: good, offsets: [65_535]),
        ]
        for lie in lies {
            let error = #expect(throws: PropertyListError.self) { try BinaryPropertyList(parsing: lie.bytes) }
            #expect(error?.code == .malformed || error?.code == .notBinaryPropertyList)
        }
    }

    @Test("a tree refuses keys that aren't strings and repeated keys")
    func keys() {
        let bad: [[[UInt8]]] = [
            [[0xD1, 1, 1], [0x10, 1]],
            [[0xD2, 1, 2, 1, 1], [0x51, 0x61], [0x51, 0x61]],
        ]
        for objects in bad {
            let error = #expect(throws: PropertyListError.self) {
                try PropertyList(parsing: RawPropertyList(objects: objects).bytes)
            }
            #expect(error?.code == .malformed)
        }
    }

    @Test("a file over the limit is refused unread")
    func size() {
        let bytes = [UInt8](repeating: 0, count: PropertyListLimits.fileSize + 1)
        let error = #expect(throws: PropertyListError.self) { try BinaryPropertyList(parsing: bytes) }
        #expect(error?.code == .limitExceeded)
    }
}

@Suite("Damaged archives", .timeLimit(.minutes(60)), .enabled(if: TestFiles.areThere, "shared/stores is missing"))
struct DamagedArchiveTests {
    private static let sample = "coredataplus/SampleModel3.momd/SampleModel3.mom"

    /// Reads everything that can be read. The values don't matter; only a trap is a failure.
    private func exercise(_ bytes: [UInt8]) -> Bool {
        _ = try? PropertyList(parsing: bytes)
        guard let archive = try? KeyedArchive(parsing: bytes) else { return false }
        for index in 0..<archive.count {
            let reference = archive.reference(at: index)
            guard let value = reference.flatMap({ try? archive.value(at: $0) }) else { continue }
            _ = try? archive.string(value)
            _ = try? archive.array(value)
            _ = try? archive.pairs(value)
            _ = try? archive.date(value)
            _ = try? archive.decimal(value)
            _ = try? archive.integer(value)
            if let object = value.reference {
                for name in archive.fieldNames(of: object) { _ = try? archive.field(name, of: object) }
            }
        }
        return true
    }

    @Test("a truncated archive is refused, wherever it ends")
    func truncations() throws {
        let bytes = try TestFiles.bytes(Self.sample)
        for length in 0..<bytes.count {
            #expect(throws: PropertyListError.self) { try KeyedArchive(parsing: Array(bytes[..<length])) }
        }
        #expect(exercise(bytes))
    }

    @Test("every single byte changed: refused or read, never a trap")
    func singleBytes() throws {
        let bytes = try TestFiles.bytes(Self.sample)
        for position in bytes.indices {
            for value in [0xFF, bytes[position] ^ 0x10, bytes[position] &+ 1] {
                var changed = bytes
                changed[position] = value
                _ = exercise(changed)
            }
        }
    }

    @Test("random damage: refused or read, never a trap", arguments: 1...4)
    func randomDamage(seed: UInt64) throws {
        var random = LinearCongruentialGenerator(seed: seed)
        let bytes = try TestFiles.bytes(Self.sample)
        var refused = 0
        for _ in 0..<250 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if !exercise(changed) { refused += 1 }
        }
        #expect(refused > 0)
    }
}
