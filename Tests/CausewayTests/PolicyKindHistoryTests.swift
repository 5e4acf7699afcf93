import Causeway
import CausewayCheckers
import CausewayEngine
import CausewayPreparation
import Foundation
import Testing

/// A store with persistent history, through a step with a policy.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct PolicyKindHistoryTests {
    /// A model cache is a deflated `.mom`. A default that is an object of the app's class (`frontCover`'s) can be
    /// removed: it isn't part of the version hash.
    private static let inflating = """
        import plistlib, sqlite3, sys, zlib
        connection = sqlite3.connect(sys.argv[1])
        bytes = connection.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()[0]
        archive = plistlib.loads(zlib.decompress(bytes, -15))
        objects = archive["$objects"]
        for entry in objects if sys.argv[3] == "plain" else []:
            if isinstance(entry, dict) and "NSDefaultValue" in entry:
                if isinstance(objects[entry["NSDefaultValue"].data], dict):
                    entry["NSDefaultValue"] = plistlib.UID(0)
        with open(sys.argv[2], "wb") as file:
            plistlib.dump(archive, file, fmt=plistlib.FMT_BINARY)
        """

    private func makeModels(in folder: borrowing TemporaryFolder, plain: Bool = true) throws -> String {
        let models = folder.path("SampleModel2.momd")
        try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
        for version in ["V1", "V2"] {
            let store = try folder.copyStore(
                StoreRows.shared("coredataplus/SampleModel2_\(version).sqlite"), as: "model of \(version)")
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c", Self.inflating, store, "\(models)/\(version).mom", plain ? "plain" : "whole",
            ]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        return models
    }

    class TitlePolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            try made.first?.set("title", to: "\(sInstance.string("title") ?? "") again")
        }
    }

    /// Leaves out every second book.
    final class HalfPolicy: TitlePolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard sInstance.objectID.key % 2 == 1 else { return }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    private func request(
        _ models: String, _ policy: TitlePolicy.Type?, in folder: borrowing TemporaryFolder, as name: String
    ) throws -> MigrationRequest {
        var code = MigrationCode()
        if let policy {
            code.add(
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Book", policy: policy)
                    TransformEntity("GraphicNovel")
                    TransformEntity("Feedback")
                    TransformEntity("Page")
                    TransformEntity("Author")
                })
        }
        let source = try folder.copyStore(
            StoreRows.shared("coredataplus/SampleModel2_V1.sqlite"), as: "source of \(name)")
        var request = MigrationRequest(
            store: source, models: models, output: folder.path(name), target: "V2",
            options: EngineOptions(batchRows: 100, jobs: 3, now: 0))
        request.code = code
        return request
    }

    private static let house = ["ATRANSACTION", "ATRANSACTIONSTRING", "ACHANGE"]

    @Test("transactions and changes equal those of an inferred step where keys are kept")
    func history() throws {
        let folder = try TemporaryFolder()
        let models = try makeModels(in: folder)
        _ = try Migration(request(models, nil, in: folder, as: "inferred")).run()
        _ = try Migration(request(models, TitlePolicy.self, in: folder, as: "result")).run()
        let (inferred, result) = (try Office.dump(folder.path("inferred")), try Office.dump(folder.path("result")))
        #expect(inferred["ACHANGE"]?.count == 5_468)
        for table in Self.house { #expect(result[table] == inferred[table], "\(table)") }
        for table in ["ZPAGE", "ZFEEDBACK", "ZWRITER", "Z_PRIMARYKEY"] {
            #expect(result[table] == inferred[table], "\(table)")
        }
        let titles = "SELECT Z_PK || ' ' || ZTITLE FROM ZBOOK ORDER BY Z_PK"
        let found = try StoreRows.texts(folder.path("result"), titles)
        let expected = try StoreRows.texts(folder.path("inferred"), titles).map { title in
            // The one graphic novel has an entity mapping of its own, without a policy.
            title.contains("graphic novel") ? title : title + " again"
        }
        #expect(found == expected)
        let others = "SELECT Z_PK || ' ' || ifnull(ZAUTHOR, '') || hex(ZUNIQUEID) FROM ZBOOK ORDER BY Z_PK"
        #expect(
            try StoreRows.texts(folder.path("result"), others) == StoreRows.texts(folder.path("inferred"), others))
        let schema = try Checker.schema(folder.path("result"))
        #expect(schema.status == 0, "\(schema.text)")
    }

    @Test("transactions are kept although a policy leaves out their rows")
    func dropped() throws {
        let folder = try TemporaryFolder()
        let models = try makeModels(in: folder)
        _ = try Migration(request(models, nil, in: folder, as: "inferred")).run()
        var request = try request(models, HalfPolicy.self, in: folder, as: "result")
        request.violations = .reject
        request.rejects = folder.path("rejects.jsonl")
        let outcome = try Migration(request).run()
        #expect(outcome.dropped == 26)
        // A page must have a book.
        #expect(outcome.rejectedRows == 2_574)
        let (inferred, result) = (try Office.dump(folder.path("inferred")), try Office.dump(folder.path("result")))
        for table in Self.house { #expect(result[table] == inferred[table], "\(table)") }
        #expect(
            try StoreRows.texts(folder.path("result"), "SELECT count(*) || ' ' || sum(ZBOOK % 2) FROM ZPAGE")
                == ["2396 2396"])
    }

    /// `frontCover`'s default is an object of the app's class. It can't be written, and no row needs it.
    @Test("a default that can't be stored doesn't affect rows that have a value")
    func opaqueDefault() throws {
        let folder = try TemporaryFolder()
        let models = try makeModels(in: folder, plain: false)
        _ = try Migration(request(models, TitlePolicy.self, in: folder, as: "result")).run()
        func books(_ store: String, _ cover: String) throws -> [String] {
            try StoreRows.texts(
                folder.path(store),
                "SELECT Z_PK || ' ' || hex(\(cover)) || hex(ZUNIQUEID) || ZPRICE FROM ZBOOK ORDER BY Z_PK")
        }
        let carried = try books("source of result", "ZCOVER")
        #expect(carried.count == 52)
        #expect(try books("result", "ZFRONTCOVER") == carried)
    }
}
