import Causeway
import CausewaySQLite
import Foundation
import Testing

/// Exports of real stores.
@Suite("Export of real stores", .enabled(if: SharedStores.isThere, "\(SharedStores.missing)"), .timeLimit(.minutes(60)))
struct ExportTests {
    /// Every store in the shared folder; each holds its own model.
    static let stores: [String] = {
        let folder = SharedStores.folder.path(percentEncoded: false)
        return ((try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []).sorted().filter { name in
            guard let file = FileHandle(forReadingAtPath: SharedStores.path(name)) else { return false }
            defer { try? file.close() }
            return (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
        }
    }()

    @Test("the counts are those of an inspection, and each object has one line", arguments: stores)
    func counts(name: String) throws {
        let folder = try TemporaryFolder()
        let store = SharedStores.path(name)
        let inspection = try StoreInspection(store: store)
        let expected = Dictionary(uniqueKeysWithValues: inspection.entities.map { ($0.name, $0.rows) })
        let summary = try StoreExport(store: store, output: folder.path("Out")).run()
        #expect(summary.rowCount == inspection.rowCount)
        for entity in summary.entities {
            #expect(entity.rows == expected[entity.name], "\(entity.name)")
            let file = try #require(entity.place)
            let data = try Data(contentsOf: URL(filePath: folder.path("Out/" + file)))
            #expect(data.count { $0 == 10 } == entity.rows, "\(entity.name)")
        }
    }

    #if os(Linux)
        @Test("no file stays open")
        func closed() throws {
            let folder = try TemporaryFolder()
            let name = try #require(Self.stores.first)
            _ = try StoreExport(store: SharedStores.path(name), output: folder.path("Out")).run()
            _ = try StoreExport(store: SharedStores.path(name), output: folder.path("Salvaged")).salvage()
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            }
            #expect(!open.isEmpty && !open.contains { $0.hasPrefix(folder.path("")) })
        }
    #endif

    @Test("a database holds every row, and its foreign keys hold", arguments: stores)
    func database(name: String) throws {
        let folder = try TemporaryFolder()
        let store = SharedStores.path(name)
        let inspection = try StoreInspection(store: store)
        let summary = try StoreExport(store: store, output: folder.path("Out.sqlite"), format: .sqlite).run()
        #expect(summary.rowCount == inspection.rowCount)
        let connection = try Connection(path: folder.path("Out.sqlite"), mode: .readOnly, hardening: .own)
        var check = try connection.prepare("PRAGMA foreign_key_check")
        let isBroken = try check.step()
        #expect(!isBroken)
        let roots = inspection.entities.filter { $0.parent == nil }.map(\.name)
        var rows = 0
        for root in roots {
            var count = try connection.prepare("SELECT count(*) FROM \(try SQLIdentifier(root))")
            if try count.step() { rows += Int(count.int64(at: 0)) }
        }
        #expect(rows == inspection.rowCount)
    }
}
