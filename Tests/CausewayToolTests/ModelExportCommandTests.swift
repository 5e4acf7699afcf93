import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `causeway models --export`.
@Suite("Exporting a model", .timeLimit(.minutes(60)))
struct ModelExportCommandTests {
    private struct Outcome: Decodable {
        var path: String
        var version: String
        var checksum: String
        var entityHashes: [String: String]
        var leftOut: [String]
        var unknown: [String]
    }

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures").path
    private static let orchard = fixtures + "/Orchard/Orchard.xcdatamodeld"
    private static let store = fixtures + "/Orchard/Orchard-v1.sqlite"

    @Test("a store's cached model becomes a source that serves as --models")
    func store() throws {
        let folder = try WorkFolder()
        let path = folder.path("Orchard.xcdatamodel")
        let store = try folder.copy(Self.store, as: "Store.sqlite")
        let run = try ToolProcess(["models", store, "--export", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("checksum "))
        #expect(run.output.contains("Not known from a store or a compiled model"))
        #expect(!run.output.contains("Left out"))
        #expect(!FileManager.default.fileExists(atPath: path + ".tmp"))
        let report = try ModelsReport(models: path)
        #expect(report.versions.map(\.checksum) == (try ModelsReport(models: store).versions.map(\.checksum)))
        #expect(run.output.contains(report.versions[0].checksum))
        let inspected = try ToolProcess(["inspect", store, "--models", path])
        #expect(inspected.status == 0, "\(inspected.errors)")
    }

    @Test("a version of a bundle is exported by name, the current one without a word, as JSON too")
    func versions() throws {
        let folder = try WorkFolder()
        let report = try ModelsReport(models: Self.orchard)
        for (name, version) in [("A", nil), ("B", report.versions[0].name)] as [(String, String?)] {
            let path = folder.path(name + ".xcdatamodel")
            let run = try ToolProcess(
                ["models", Self.orchard, "--export", path, "--json"] + (version.map { ["--version", $0] } ?? []))
            #expect(run.status == 0, "\(run.errors)")
            let outcome = try JSONDecoder().decode(Outcome.self, from: Data(run.output.utf8))
            let expected = try #require(report.versions.first { $0.name == version ?? report.currentVersion })
            #expect(outcome.version == expected.name)
            #expect(outcome.checksum == expected.checksum)
            #expect(outcome.entityHashes == expected.entityHashes)
            #expect(outcome.leftOut == [])
            #expect(outcome.unknown == ModelExport.unknown)
            #expect(try ModelsReport(models: outcome.path).versions.map(\.entityHashes) == [expected.entityHashes])
        }
    }

    @Test(
        "a place that can't be written exits with 73, whoever writes, and leaves nothing",
        arguments: ["missing", "file", "closed"])
    func noPlace(kind: String) throws {
        let folder = try WorkFolder()
        _ = try folder.write([1], as: "file")
        let store = try folder.copy(Self.store, as: "Store.sqlite")
        try FileManager.default.createDirectory(atPath: folder.path("closed"), withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path("closed"))
        // Root may write everywhere.
        if kind == "closed", FileManager.default.isWritableFile(atPath: folder.path("closed")) { return }
        let place = folder.path(kind) + "/"
        for arguments in [
            ["models", Self.orchard, "--export", place + "X.xcdatamodel"],
            ["generate", Self.orchard, place + "X.sqlite", "--rows", "10", "--seed", "1"],
            ["export", store, "--output", place + "X"],
            ["export", store, "--output", place + "X.sqlite", "--as", "sqlite"],
        ] {
            let run = try ToolProcess(arguments)
            #expect(run.status == 73, "\(arguments): \(run.errors)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("closed"))
        #expect(left == [])
    }

    @Test("what exists already is refused and left as it is; so are a wrong name and an unknown version")
    func refusals() throws {
        let folder = try WorkFolder()
        let path = folder.path("A.xcdatamodel")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let before = try folder.content()
        let exists = try ToolProcess(["models", Self.orchard, "--export", path])
        #expect(exists.status == 73)
        #expect(exists.errors.contains("A.xcdatamodel exists already"))
        #expect(try ToolProcess(["models", Self.orchard, "--export", folder.path("A.xml")]).status == 64)
        let unknown = try ToolProcess(
            ["models", Self.orchard, "--export", folder.path("B.xcdatamodel"), "--version", "v99"])
        #expect(unknown.status == 78)
        #expect(unknown.errors.contains("v99"))
        #expect(try ToolProcess(["models", Self.orchard, "--version", "v1"]).status == 64)
        #expect(try ToolProcess(["models", Self.orchard, "--export", folder.path("none/B.xcdatamodel")]).status == 73)
        #expect(try folder.content() == before)
    }

    @Test("a store without a cache is refused with what to give instead, not with an option that isn't taken")
    func noCache() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(Self.store, as: "Store.sqlite")
        try Connection(path: store, mode: .readWrite, hardening: .own).execute("DROP TABLE Z_MODELCACHE")
        for arguments in [["models", store], ["models", store, "--export", folder.path("X.xcdatamodel")]] {
            let run = try ToolProcess(arguments)
            #expect(run.status == 78, "\(run.errors)")
            #expect(run.errors.contains("give the app's models instead: an .xcdatamodeld"), "\(run.errors)")
            #expect(!run.errors.contains("--models"), "\(run.errors)")
        }
    }

    @Test("an export that was killed doesn't stop the next one; a foreign folder of that name does")
    func leftover() throws {
        let folder = try WorkFolder()
        let path = folder.path("A.xcdatamodel")
        try FileManager.default.createDirectory(atPath: path + ".tmp", withIntermediateDirectories: true)
        try Data("half".utf8).write(to: URL(fileURLWithPath: path + ".tmp/contents.tmp"))
        try ModelExport(models: Self.orchard).write(to: path)
        #expect(try folder.content().keys.sorted() == ["A.xcdatamodel", "A.xcdatamodel/contents"])
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path + ".tmp", withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + ".tmp/notes"))
        #expect(throws: MigrationError.self) { try ModelExport(models: Self.orchard).write(to: path) }
        #expect(try folder.content()["A.xcdatamodel.tmp/notes"] == Data("mine".utf8))
    }
}
