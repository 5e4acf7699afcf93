import Causeway
import Foundation
import Testing

/// `rollback` and `purge-backup`.
@Suite("Backups", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct BackupTests {
    private let folder: WorkFolder
    private let store: String
    private let original: Data

    init() throws {
        folder = try WorkFolder()
        store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        original = try Data(contentsOf: URL(fileURLWithPath: store))
    }

    /// Migrates, and returns the backup's name.
    private func migrate() throws -> String {
        let run = try ToolProcess(
            ["migrate", store, "--models", SharedStores.models, "--to", "CoreDataMigration_Example 2", "--quiet"])
        #expect(run.status == 0, "\(run.errors)")
        return try #require(try folder.backup(of: "Store.sqlite"))
    }

    /// Runs, and expects a refusal that changes nothing.
    private func expectRefusal(_ status: Int32, _ arguments: [String]) throws -> String {
        let before = try folder.content()
        let run = try ToolProcess(arguments)
        #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)")
        #expect(run.errors.contains("the store is untouched"))
        #expect(try folder.content() == before)
        return run.errors
    }

    @Test("a rollback restores the original's bytes and keeps the new store; the store can be migrated again")
    func roundTrip() throws {
        let backup = try migrate()
        let new = try folder.content()["Store.sqlite"]
        let run = try ToolProcess(["rollback", store, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let outcome = try JSONDecoder().decode(StoreBackup.Rollback.self, from: Data(run.output.utf8))
        #expect(URL(fileURLWithPath: outcome.restored).lastPathComponent == backup)
        let kept = URL(fileURLWithPath: try #require(outcome.keptAt)).lastPathComponent
        let content = try folder.content()
        #expect(content["Store.sqlite"] == original)
        #expect(content[kept] == new)
        #expect(Set(content.keys) == ["Store.sqlite", kept])
        _ = try migrate()
    }

    @Test("the original of a broken or missing store is restored", arguments: [true, false])
    func lost(isGone: Bool) throws {
        let backup = try migrate()
        if isGone {
            try FileManager.default.removeItem(atPath: store)
        } else {
            _ = try folder.write([], as: "Store.sqlite")
        }
        let run = try ToolProcess(["rollback", store])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("the original is back (it was ") && run.output.contains(backup))
        #expect(run.output.contains("The store that was there is kept as ") == !isGone)
        #expect(run.errors.contains(isGone ? "no store was there" : "the file is empty"))
        #expect(try folder.content()["Store.sqlite"] == original)
    }

    @Test("without a backup there is nothing to roll back, and nothing to purge")
    func noBackup() throws {
        _ = try expectRefusal(66, ["rollback", store])
        let run = try ToolProcess(["purge-backup", store])
        #expect(run.status == 0)
        #expect(run.output.contains("there is no backup"))
    }

    @Test("with several backups, a rollback needs the name of one")
    func several() throws {
        let backup = try migrate()
        let other = try folder.copy(folder.path(backup), as: "Store.sqlite.premigration-00000000")
        let errors = try expectRefusal(64, ["rollback", store])
        #expect(errors.contains(backup) && errors.contains(other))
        let run = try ToolProcess(["rollback", store, "--backup", folder.path(backup)])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try folder.content()["Store.sqlite"] == original)
    }

    @Test("a file that isn't the store's backup is neither restored nor removed")
    func foreign() throws {
        _ = try migrate()
        for name in ["Other.sqlite", "Store.sqlite.premigration-notes"] {
            let other = try folder.copy(SharedStores.version1, as: name)
            for command in ["rollback", "purge-backup"] {
                _ = try expectRefusal(64, [command, store, "--backup", other])
            }
        }
        let run = try ToolProcess(["purge-backup", store])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try Set(folder.content().keys) == ["Store.sqlite", "Other.sqlite", "Store.sqlite.premigration-notes"])
    }

    @Test("a damaged backup doesn't replace a sound store")
    func damaged() throws {
        let backup = folder.path(try migrate())
        try original.prefix(original.count / 2).write(to: URL(fileURLWithPath: backup))
        _ = try expectRefusal(65, ["rollback", store])
    }

    @Test("a purge reports the removed file and its size")
    func purge() throws {
        let backup = try migrate()
        let run = try ToolProcess(["purge-backup", store])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("removed /"))
        #expect(run.output.contains(backup + "\n1 backup, "))
        #expect(try Set(folder.content().keys) == ["Store.sqlite"])
    }

    @Test("a backup that may be the only good copy is not purged", arguments: [true, false])
    func lastCopy(isDamaged: Bool) throws {
        _ = try migrate()
        if isDamaged {
            _ = try folder.write([], as: "Store.sqlite")
        } else {
            try FileManager.default.removeItem(atPath: store)
        }
        _ = try expectRefusal(isDamaged ? 65 : 66, ["purge-backup", store])
    }
}
