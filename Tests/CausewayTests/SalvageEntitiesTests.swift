import Causeway
import CausewaySQLite
import Foundation
import Testing

/// Salvage of stores that have lost their model and the list of their entities: the tables are still there.
@Suite("Salvage without a list of entities", .timeLimit(.minutes(60)))
struct SalvageEntitiesTests {
    /// What is lost besides the model.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case oneRow = "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 2"
        case lastRows = "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT > 3"
        case wholeList = "DELETE FROM Z_PRIMARYKEY"
        case listAndMetadata = "DELETE FROM Z_PRIMARYKEY; UPDATE Z_METADATA SET Z_PLIST = x'00112233'"
        case table = "DROP TABLE Z_PRIMARYKEY"
        case numbers = "UPDATE Z_PRIMARYKEY SET Z_SUPER = 77"

        var testDescription: String { rawValue }

        func inflict(on path: String) throws {
            let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00112233'; \(rawValue); VACUUM")
        }
    }

    @Test("every row is there, in files of its table's entity", arguments: Loss.allCases)
    func generated(loss: Loss) throws {
        let folder = try TemporaryFolder()
        let store = try SalvageTests.store(in: folder, rows: 2_000)
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        try loss.inflict(on: store)
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.rowCount == whole.rowCount && summary.modelOrigin == .unknown && summary.unmatchedRows == 0)
        // Subentities may have other names: tables and rows are the same.
        #expect(summary.entities.map(\.rows).filter { $0 > 0 } == whole.entities.map(\.rows).filter { $0 > 0 })
        #expect(summary.warnings.contains { $0.contains("the list of entities can't be read whole") })
        #expect(summary.links.map(\.rows).sorted() == whole.links.map(\.rows).sorted())
    }

    @Test(
        "real stores give every row, whatever is lost",
        .enabled(if: SharedStores.isThere, "\(SharedStores.missing)"), arguments: ExportTests.stores,
        [Loss.oneRow, .listAndMetadata])
    func real(name: String, loss: Loss) throws {
        let folder = try TemporaryFolder()
        let store = try folder.copyStore(SharedStores.path(name), as: "Store.sqlite")
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        do {
            let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
            // Older stores have no cache.
            guard (try? connection.execute("SELECT 1 FROM Z_MODELCACHE")) != nil else { return }
        }
        try loss.inflict(on: store)
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.rowCount == whole.rowCount)
    }

    @Test("an entity that lost all of its rows is in the report, with none")
    func lost() throws {
        let folder = try TemporaryFolder()
        let store = try SalvageTests.store(in: folder, rows: 2_000)
        let size = try Data(contentsOf: URL(filePath: store)).count
        let file = try FileHandle(forUpdating: URL(filePath: store))
        try file.truncate(atOffset: UInt64(size / 3))
        try file.close()
        var export = StoreExport(store: store, output: folder.path("Out"))
        export.models = [
            SharedStores.project.appending(path: "Fixtures/Orchard/Orchard.xcdatamodeld").path(percentEncoded: false)
        ]
        let summary = try export.salvage()
        let damaged = summary.damage.compactMap(\.entity)
        #expect(!damaged.isEmpty)
        for name in damaged { #expect(summary.entities.contains { $0.name == name }) }
        #expect(summary.entities.contains { $0.rows == 0 && $0.file == nil })
    }
}
