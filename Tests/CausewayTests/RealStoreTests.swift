import Causeway
import CausewayCheckers
import CausewaySQLite
import Foundation
import Testing

/// Other apps' stores, compared with what Core Data made of them.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct RealStoreTests {
    private func migrate(
        _ store: String, _ models: String, to target: String?, frameworkVersion: Int? = nil,
        in folder: borrowing TemporaryFolder
    ) async throws -> String {
        var options = MigrationOptions()
        options.target = target
        options.frameworkVersion = frameworkVersion
        options.output = folder.path("result.sqlite")
        let source = try folder.copyStore(SharedStores.path(store), as: "source.sqlite")
        let before = try folder.snapshot()
        try await Migrator(store: source, models: models, options: options).migrate()
        // Only the -shm of a WAL store may be new: it holds no data.
        let after = try folder.snapshot().filter { !$0.key.hasPrefix("result") && !$0.key.hasSuffix("-shm") }
        #expect(after == before)
        return folder.path("result.sqlite")
    }

    private func expectSchema(_ store: String) throws {
        let check = try Checker.schema(store)
        #expect(check.status == 0, "\(check.text)")
        let hashes = try Checker.hashes(store)
        #expect(hashes.status == 0, "\(hashes.text)")
    }

    @Test("Colourful Posts 1 → 2: a rename keeps keys and values")
    func colourfulPosts() async throws {
        let folder = try TemporaryFolder()
        let result = try await migrate(
            "colourful-posts/CoreDataMigration_Example_1.sqlite",
            SharedStores.path("colourful-posts/CoreDataMigration_Example.xcdatamodeld"),
            to: "CoreDataMigration_Example 2", in: folder)
        try expectSchema(result)
        let reference = try folder.copyStore(
            SharedStores.path("colourful-posts/CoreDataMigration_Example_2.sqlite"), as: "reference")
        // The table stays, with its columns where they are.
        #expect(try Checker.compare(result, reference).filter { $0.kind != "column order" }.isEmpty)
    }

    @Test(
        "CoreDataPlus V1 → V2: from source and from compiled models",
        arguments: ["coredataplus/SampleModel.xcdatamodeld", "coredataplus/SampleModel.momd"])
    func coreDataPlus(_ models: String) async throws {
        let folder = try TemporaryFolder()
        let result = try await migrate(
            "coredataplus/SampleModel_V1.sqlite", SharedStores.path(models), to: "SampleModel2", in: folder)
        try expectSchema(result)
        let reference = try folder.copyStore(
            SharedStores.path("coredataplus/SampleModel_V2.sqlite"), as: "reference")
        // Core Data left the old name of a renamed entity in Z_PRIMARYKEY; the fresh store has the new one.
        let found = try Checker.compare(result, reference).filter {
            $0.kind != "Z_PRIMARYKEY" || !["ExpensiveSportCar", "LuxuryCar"].contains($0.where)
        }
        #expect(found.isEmpty)
    }

    @Test("Photos 10.15.4 → 10.16: models from the stores' own caches, every row kept")
    func photos() async throws {
        let folder = try TemporaryFolder()
        let target = try folder.copyStore(SharedStores.path("photos/Photos-10.16.0.sqlite"), as: "target.sqlite")
        var options = MigrationOptions()
        options.output = folder.path("result.sqlite")
        options.frameworkVersion = 1030
        let source = try folder.copyStore(SharedStores.path("photos/Photos-10.15.4.sqlite"), as: "source.sqlite")
        let summary = try await Migrator(store: source, models: target, options: options).migrate()
        #expect(summary.droppedRows == 0)
        let found = try Checker.compare(folder.path("result.sqlite"), target)
        // Photos used its library afterwards: rows differ, but layout and metadata must be equal.
        #expect(found.filter { !["rows", "column order"].contains($0.kind) }.isEmpty)
        let check = try Checker.schema(folder.path("result.sqlite"))
        // Photos' own indexes are carried with the new names of their columns.
        #expect(check.text.contains("'missing': []"), "\(check.text)")
        #expect(check.text.contains("'diff': []"), "\(check.text)")
        #expect(
            check.text.contains(
                "'extra': ['RADAR_22158684_INDEX', 'RADAR_10322662_INDEX', 'RADAR_45737537_UNIQUE_INDEX'"))
        try expectTriggers(folder.path("result.sqlite"), of: source)
    }

    /// Photos' triggers mention Z_ENT, and its entities are renumbered; ZGENERICASSET becomes ZASSET.
    private func expectTriggers(_ result: String, of source: String) throws {
        func triggers(_ path: String) throws -> [String: Int] {
            let connection = try Connection(path: path, mode: .readOnly, hardening: .own)
            var statement = try connection.prepare(
                """
                SELECT replace(tbl_name, 'ZGENERICASSET', 'ZASSET'), count(*) FROM sqlite_schema \
                WHERE type = 'trigger' AND name GLOB 'ZT_*' GROUP BY 1
                """)
            var result: [String: Int] = [:]
            while try statement.step() { result[try statement.string(at: 0) ?? ""] = Int(statement.int64(at: 1)) }
            return result
        }
        let (before, carried) = (try triggers(source), try triggers(result))
        #expect(carried.values.reduce(0, +) == 56)
        #expect(carried == before)
    }

    /// The store has the current version, but the layout of another framework, so it is written anew.
    @Test("rows that exist only in the -wal are migrated")
    func writeAheadLog() async throws {
        let folder = try TemporaryFolder()
        let result = try await migrate(
            "posts-and-colors/CoreDataMigration_Example_WAL.sqlite",
            SharedStores.path("posts-and-colors/CoreDataMigration_Example.xcdatamodeld"),
            to: nil, frameworkVersion: 1145, in: folder)
        try expectSchema(result)
        let inspection = try StoreInspection(store: result)
        #expect(inspection.entities.reduce(0) { $0 + $1.rows } == 168)
    }
}
