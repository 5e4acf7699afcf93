import Causeway
import Foundation
import Testing

/// `backups`, and `purge-backup --all`.
@Suite("The list of backups", .timeLimit(.minutes(60)))
struct BackupListTests {
    private let folder: WorkFolder
    /// Removed with the test; apart from the store, so that its folder's content is the store's.
    private let modelFolder: WorkFolder
    private let models: String
    private let store: String

    init() throws {
        folder = try WorkFolder()
        let models = try WorkFolder()
        modelFolder = models
        self.models = models.path("App.xcdatamodeld")
        store = folder.path("Store.sqlite")
        // Only the first version has an identifier.
        for (number, identifier) in [(1, "first"), (2, ""), (3, "")] {
            let attributes = (1...number).map { "<attribute name='a\($0)' optional='YES' attributeType='String'/>" }
            let version = "\(self.models)/v\(number).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            let text = """
                <model type='com.apple.IDECoreDataModeler.DataModel' userDefinedModelVersionIdentifier='\(identifier)'>
                <entity name='Thing'>\(attributes.joined())</entity></model>
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
        }
        _ = try run("generate", self.models, store, "--version", "v1", "--rows", "20", "--seed", "7")
    }

    private func run(_ arguments: String..., status: Int32 = 0) throws -> ToolProcess {
        let run = try ToolProcess(arguments)
        #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)")
        return run
    }

    private func migrate(to version: String) throws {
        _ = try run("migrate", store, "--models", models, "--to", version, "--quiet")
    }

    private func list(_ more: String...) throws -> BackupList {
        let run = try ToolProcess(["backups", store, "--json"] + more)
        #expect(run.status == 0, "\(run.errors)")
        return try JSONDecoder().decode(BackupList.self, from: Data(run.output.utf8))
    }

    private func names() throws -> [String] { try folder.content().keys.sorted() }

    @Test("originals and rolled back stores are listed with their versions; --all removes both")
    func whole() throws {
        #expect(try run("backups", store).output.hasSuffix("Store.sqlite: there is no backup\n"))
        try migrate(to: "v2")
        let one = try list("--models", models)
        #expect(one.storeExists)
        #expect(one.backups.map(\.kind) == [.premigration])
        #expect(one.backups.map(\.version) == ["v1"])
        #expect(one.backups[0].problem == nil)
        _ = try run("rollback", store)
        try migrate(to: "v3")
        let before = try folder.content()
        let two = try list("--models", models)
        #expect(two.backups.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.premigration, .rolledback])
        #expect(two.backups.first { $0.kind == .premigration }?.version == "v1")
        #expect(two.backups.first { $0.kind == .rolledback }?.version == "v2")
        let report = try ModelsReport(models: models)
        for backup in two.backups {
            #expect(backup.checksum == report.versions.first { $0.name == backup.version }?.checksum)
            #expect(backup.bytes == before[URL(fileURLWithPath: backup.path).lastPathComponent]?.count)
        }
        #expect(try folder.content() == before)
        _ = try run("purge-backup", store)
        #expect(try names().count == 2)
        #expect(try run("purge-backup", store).output.contains("--all removes 1 store that rollbacks have kept"))
        let purged = try run("purge-backup", store, "--all")
        #expect(purged.output.contains("\n1 rolled back store, "))
        #expect(try names() == ["Store.sqlite"])
        #expect(try run("purge-backup", store, "--all").output.contains("there is no backup"))
    }

    @Test("without models a backup's own metadata names the version, or else its checksum")
    func withoutModels() throws {
        try migrate(to: "v2")
        #expect(try list().backups.map(\.version) == ["first"])
        #expect(try run("backups", store).output.contains("  first  "))
        _ = try run("rollback", store)
        let backup = try #require(list().backups.first)
        #expect(backup.version == nil)
        let checksum = try #require(backup.checksum)
        #expect(try run("backups", store).output.contains("  checksum \(checksum.prefix(8))…  "))
    }

    @Test("the text is a table, oldest first, with a sum")
    func text() throws {
        try migrate(to: "v2")
        let text = try run("backups", store, "--models", models).output
            .replacing(folder.url.resolvingSymlinksInPath().path, with: "FOLDER")
            .replacing(#/-[0-9a-f]{8} /#, with: "-01234567 ")
            .replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d/#, with: "2026-01-02 03:04")
            .replacing(#/[\d.,]+ [kMG]?B/#, with: "SIZE")
            .replacing(#/ +SIZE/#, with: " SIZE")
        #expect(
            text == """
                Store  FOLDER/Store.sqlite

                  FILE                                KIND          VERSION  CHANGED SIZE
                  Store.sqlite.premigration-01234567  premigration  v1       2026-01-02 03:04 SIZE

                1 backup, SIZE

                """, "\(text)")
    }

    @Test("the backups of a store that is gone are listed, and not removed")
    func gone() throws {
        try migrate(to: "v2")
        try FileManager.default.removeItem(atPath: store)
        let before = try folder.content()
        #expect(try !list().storeExists)
        #expect(try run("backups", store).output.contains("the store itself is missing"))
        _ = try run("purge-backup", store, "--all", status: 66)
        #expect(try folder.content() == before)
        _ = try run("backups", folder.path("Other.sqlite"), status: 66)
    }

    @Test("a backup that can't be read is listed with the reason; other files aren't")
    func damaged() throws {
        try migrate(to: "v2")
        for name in ["premigration-00000000", "rolledback-0000000x", "rolledback-00000000-wal", "premigration-notes"] {
            _ = try folder.write([1, 2, 3], as: "Store.sqlite." + name)
        }
        let broken = try list().backups.filter { $0.problem != nil }
        #expect(broken.map(\.path).map { $0.hasSuffix("Store.sqlite.premigration-00000000") } == [true])
        #expect(try list().backups.count == 2)
        #expect(try run("backups", store).output.contains("Store.sqlite.premigration-00000000 can't be read: "))
        _ = try run("purge-backup", store, "--all")
        #expect(
            try names() == [
                "Store.sqlite", "Store.sqlite.premigration-notes", "Store.sqlite.rolledback-00000000-wal",
                "Store.sqlite.rolledback-0000000x",
            ])
    }

    @Test("contradicting arguments are refused")
    func arguments() throws {
        _ = try run("purge-backup", store, "--all", "--backup", store, status: 64)
        _ = try run("backups", store, "--format", "markdown", status: 64)
    }
}
