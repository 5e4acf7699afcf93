import CausewaySQLiteFile
import Testing

@Suite("The header of a database file", .timeLimit(.minutes(60)))
struct DatabaseHeaderTests {
    /// A header as SQLite writes it: 4,096-byte pages, rollback mode, schema format 4.
    private static let sound: [UInt8] = {
        var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
        bytes[16] = 0x10
        (bytes[18], bytes[19]) = (1, 1)
        bytes[47] = 4
        return bytes
    }()

    @Test("a format that SQLite doesn't write is recognised", arguments: [18, 19, 44, 45, 46, 47])
    func formats(_ offset: Int) throws {
        #expect(try #require(DatabaseHeader(Self.sound)).hasKnownVersions)
        var bytes = Self.sound
        bytes[offset] = 5
        #expect(try !#require(DatabaseHeader(bytes)).hasKnownVersions)
    }

    @Test("a database without a table has no schema format yet")
    func empty() throws {
        var bytes = Self.sound
        bytes[47] = 0
        #expect(try #require(DatabaseHeader(bytes)).hasKnownVersions)
    }

    @Test(
        "both version bytes say WAL, or none", arguments: [(2, 2, true), (1, 2, false), (2, 1, false), (1, 1, false)])
    func wal(write: UInt8, read: UInt8, isWAL: Bool) throws {
        var bytes = Self.sound
        (bytes[18], bytes[19]) = (write, read)
        #expect(try #require(DatabaseHeader(bytes)).isWAL == isWAL)
    }

    @Test("every field is read from its own bytes")
    func fields() throws {
        var bytes = Self.sound
        for (offset, value) in [(24, 5), (32, 6), (36, 7), (52, 8), (92, 9)] { bytes[offset + 3] = UInt8(value) }
        (bytes[20], bytes[59]) = (12, 3)
        let header = try #require(DatabaseHeader(bytes))
        #expect(header.changeCounter == 5)
        #expect(header.firstFreelistTrunk == 6)
        #expect(header.freelistCount == 7)
        #expect(header.largestRootPage == 8)
        #expect(header.autoVacuum == .full)
        #expect(header.versionValidFor == 9)
        #expect(header.pageCount == nil)
        #expect(header.reservedBytes == 12)
        #expect(header.textEncoding == .utf16BigEndian)
        #expect(header.schemaFormat == 4)
    }

    @Test("vacuuming is incremental only where there is auto_vacuum", arguments: [0, 3], [0, 1])
    func autoVacuum(largestRoot: UInt8, isIncremental: UInt8) throws {
        var bytes = Self.sound
        (bytes[55], bytes[67]) = (largestRoot, isIncremental)
        let expected: DatabaseHeader.AutoVacuum =
            largestRoot == 0 ? .none : isIncremental == 0 ? .full : .incremental
        #expect(try #require(DatabaseHeader(bytes)).autoVacuum == expected)
    }

    @Test("other bytes aren't accepted as a header")
    func none() {
        #expect(DatabaseHeader([]) == nil)
        #expect(DatabaseHeader(Array(Self.sound.dropLast())) == nil)
        for (offset, value) in [(0, UInt8(0)), (16, 3), (16, 1), (16, 0x30)] {
            var bytes = Self.sound
            bytes[offset] = value
            #expect(DatabaseHeader(bytes) == nil, "\(offset)")
        }
    }
}
