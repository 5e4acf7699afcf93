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

    @Test("a format that SQLite doesn't write is seen", arguments: [18, 19, 44, 45, 46, 47])
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

    @Test("what is no header is none")
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
