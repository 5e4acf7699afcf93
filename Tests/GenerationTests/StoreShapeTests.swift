import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

@Suite("Shape of generated stores", .timeLimit(.minutes(60)))
struct StoreShapeTests {
    @Test("the file is as Core Data leaves a fresh store", arguments: ModelCase.fixtures)
    func fileLevel(_ model: ModelCase) throws {
        let store = try GeneratedStore(model.model, GenerationOptions(rows: 100, seed: 3))
        defer { store.remove() }
        let header = try store.bytes().prefix(100)
        // InsideStoreFormat §1: page size 4096, WAL for reading and writing, incremental vacuum.
        #expect(Array(header[16..<20]) == [16, 0, 2, 2])
        #expect(header[67] == 1)
        for suffix in ["-wal", "-shm", "-journal"] {
            #expect(!FileManager.default.fileExists(atPath: store.path + suffix))
        }
        #expect(try store.texts("PRAGMA auto_vacuum") == ["2"])
        #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
        let statements = try store.number("SELECT COUNT(*) FROM sqlite_master WHERE sql NOT NULL")
        #expect(try store.number("PRAGMA schema_version") == statements)
    }

    @Test("the rows are as many as asked for", arguments: [0, 1, 5, 9, 10, 11, 100, 999], ModelCase.fixtures)
    func rowCount(_ rows: Int, _ model: ModelCase) throws {
        let store = try GeneratedStore(model.model, GenerationOptions(rows: rows, seed: 3))
        defer { store.remove() }
        #expect(store.counts.values.reduce(0, +) == rows)
        var found: Int64 = 0
        for table in store.layout.tables {
            let count = try store.number("SELECT COUNT(*) FROM \(table.name)")
            found += count
            let root = "FROM Z_PRIMARYKEY WHERE Z_NAME = '\(table.rootEntity)'"
            #expect(try store.number("SELECT Z_MAX \(root)") == count)
        }
        #expect(found == rows)
        for (entity, count) in store.counts {
            let number = try #require(store.layout.entityNumbers[entity])
            let table = try #require(store.layout.table(of: entity))
            #expect(try store.number("SELECT COUNT(*) FROM \(table.name) WHERE Z_ENT = \(number)") == count)
            if rows >= store.counts.count { #expect(count > 0, "\(entity) has no row") }
        }
    }

    @Test("rows of a table's entities alternate")
    func interleaved() throws {
        let store = try GeneratedStore(try ModelCase.fixture("Orchard/v1"), GenerationOptions(rows: 500, seed: 3))
        defer { store.remove() }
        let changes = try store.number(
            "SELECT COUNT(*) FROM ZPLANT a JOIN ZPLANT b ON b.Z_PK = a.Z_PK + 1 WHERE a.Z_ENT <> b.Z_ENT")
        #expect(try changes > store.number("SELECT COUNT(*) / 3 FROM ZPLANT"))
    }

    @Test("Z_OPT is at least 1")
    func optimisticLock() throws {
        let store = try GeneratedStore(try ModelCase.fixture("Orchard/v1"), GenerationOptions(rows: 500, seed: 3))
        defer { store.remove() }
        for table in store.layout.tables {
            #expect(try store.number("SELECT COUNT(*) FROM \(table.name) WHERE Z_OPT IS NULL OR Z_OPT < 1") == 0)
        }
    }

    @Test("the model cache reads back as the model", arguments: ModelCase.fixtures)
    func modelCache(_ model: ModelCase) throws {
        let store = try GeneratedStore(model.model, GenerationOptions(rows: 10, seed: 3))
        defer { store.remove() }
        let hex = try #require(try store.texts("SELECT HEX(Z_CONTENT) FROM Z_MODELCACHE").first ?? nil)
        var bytes: [UInt8] = []
        var rest = Substring(hex)
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        #expect(VersionHashes(try ModelReader.model(cache: bytes)) == VersionHashes(model.model))
    }
}
