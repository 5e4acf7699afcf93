import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Backups that are open in another program, or were written to, when they are put back.
@Suite("Rollback", .timeLimit(.minutes(60)))
struct BackupRollbackTests {
    private func migrated(wal: Bool = false) throws -> Scenario {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, wal: wal, rows: FailureTests.rows)
        try scenario.migrate()
        return scenario
    }

    private func header(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)).prefix(20).suffix(2))
    }

    /// All files except the -shm, which any reader may rebuild.
    private func everything(_ scenario: Scenario) throws -> [String: String] {
        try snapshot(scenario.folder).filter { !$0.key.hasSuffix("-shm") }
    }

    /// Leaves a -wal, like a program that opens the backup and crashes.
    private func writeToWAL(of path: String) throws {
        let writer = try Connection(path: path, mode: .readWrite, hardening: .own)
        try writer.setJournalMode(.wal)
        try writer.setNoCheckpointOnClose(true)
        try writer.execute("UPDATE ZTHING SET ZTEXT = 'late'")
        try writer.close()
    }

    private func names(_ scenario: Scenario) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scenario.folder).sorted()
    }

    /// A file without its header's journal mode, change counter and SQLite version (sqlite.org/fileformat).
    private func withoutMode(_ file: Data) -> Data {
        var bytes = file
        for place in [18..<20, 24..<28, 92..<100] { bytes.replaceSubrange(place, with: Data(count: place.count)) }
        return bytes
    }

    @Test(
        "an unchanged backup is restored byte for byte, in the original's mode; setting WAL mode writes the header",
        arguments: [true, false])
    func untouched(wal: Bool) throws {
        let scenario = try migrated(wal: wal)
        let backup = try Data(contentsOf: URL(filePath: scenario.backup))
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.warnings.isEmpty)
        let store = try Data(contentsOf: URL(filePath: scenario.store))
        #expect(withoutMode(store) == withoutMode(backup))
        #expect(wal || store == backup)
        #expect(try header(scenario.store) == (wal ? [2, 2] : [1, 1]))
        let kept = URL(filePath: try #require(outcome.keptAt)).lastPathComponent
        #expect(try names(scenario) == ["Model.xcdatamodeld", "Store.sqlite", kept])
    }

    @Test("rows that are only in the backup's -wal are restored with it, and so is its mode")
    func rowsInWAL() throws {
        let scenario = try migrated()
        let backup = scenario.backup
        try writeToWAL(of: backup)
        #expect(FileManager.default.fileExists(atPath: backup + "-wal"))
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.warnings.isEmpty)
        #expect(try header(scenario.store) == [2, 2])
        let kept = URL(filePath: try #require(outcome.keptAt)).lastPathComponent
        #expect(try names(scenario) == ["Model.xcdatamodeld", "Store.sqlite", kept])
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'late'", "'late'"])
    }

    @Test("a backup that is open elsewhere in WAL mode is busy, and nothing changes")
    func busyBackup() throws {
        let scenario = try migrated()
        let other = try Connection(path: scenario.backup, mode: .readWrite, hardening: .own)
        try other.setJournalMode(.wal)
        try other.execute("UPDATE ZTHING SET ZTEXT = 'late'")
        let before = try everything(scenario)
        #expect(try failure { _ = try BackupRollback(store: scenario.store).run() }.kind == .busy)
        #expect(try everything(scenario) == before)
        try other.execute("UPDATE ZTHING SET ZTEXT = 'later'")
        try other.close()
        _ = try BackupRollback(store: scenario.store).run()
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'later'", "'later'"])
    }

    @Test("a program that has the backup open in rollback mode can't write to the restored store")
    func idleConnection() throws {
        let scenario = try migrated()
        let other = try Connection(path: scenario.backup, mode: .readWrite, hardening: .own)
        #expect(try other.pragmaInteger("schema_version") > 0)
        _ = try BackupRollback(store: scenario.store).run()
        let bytes = try Data(contentsOf: URL(filePath: scenario.store))
        #expect(throws: SQLiteError.self) { try other.execute("UPDATE ZTHING SET ZTEXT = 'late'") }
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == bytes)
    }

    @Test("a store that is open elsewhere is busy; store and backup keep their modes")
    func busyStore() throws {
        let scenario = try migrated(wal: true)
        let writer = try Connection(path: scenario.backup, mode: .readWrite, hardening: .own)
        try writer.setJournalMode(.wal)
        try writer.close()
        let other = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try other.execute("UPDATE ZTHING SET ZTEXT = 'new'")
        #expect(try failure { _ = try BackupRollback(store: scenario.store).run() }.kind == .busy)
        #expect(try header(scenario.backup) == [2, 2])
        #expect(try header(scenario.store) == [2, 2])
        #expect(try !names(scenario).contains { $0.contains("rolledback") })
        try other.close()
        let outcome = try BackupRollback(store: scenario.store).run()
        let kept = try #require(outcome.keptAt)
        #expect(try Database.rows("SELECT ZTEXT FROM ZTHING", in: kept) == ["'new'", "'new'"])
    }

    @Test("the store itself, or a link, isn't accepted as a backup")
    func otherNames() throws {
        let scenario = try migrated()
        let backup = scenario.backup
        try FileManager.default.removeItem(atPath: backup)
        try FileManager.default.linkItem(atPath: scenario.store, toPath: backup)
        var before = try everything(scenario)
        #expect(try failure { _ = try BackupRollback(store: scenario.store).run() }.kind == .undecided)
        #expect(try everything(scenario) == before)
        try FileManager.default.removeItem(atPath: backup)
        try FileManager.default.createSymbolicLink(atPath: backup, withDestinationPath: "Store.sqlite")
        before = try everything(scenario)
        #expect(try failure { _ = try BackupRollback(store: scenario.store).run() }.kind == .undecided)
        #expect(try everything(scenario) == before)
    }

    @Test("a store with a far too large schema is set aside before SQLite parses it")
    func hugeSchema() throws {
        let scenario = try migrated()
        let connection = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        let comment = String(repeating: "x", count: 950_000)
        try connection.begin(.immediate)
        for table in 0..<60 { try connection.execute("CREATE TABLE t\(table) (a /* \(comment) */)") }
        try connection.commit()
        try connection.close()
        let size = try scenario.bytes(scenario.store).count
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.warnings.contains { $0.contains("schema") && $0.hasSuffix("the file is kept as it is") })
        #expect(try scenario.bytes(try #require(outcome.keptAt)).count == size)
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'a'", "'a'"])
    }

    /// Ways in which a store is damaged before its backup is put back.
    enum Damage: CaseIterable {
        case empty, short, truncated, noDatabase, schemaPage

        func apply(to data: inout Data) {
            switch self {
            case .empty: data = Data()
            case .short: data = data.prefix(50)
            case .truncated: data = data.prefix(8_192)
            case .noDatabase: data = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
            case .schemaPage: data[100] = 0xFF
            }
        }
    }

    @Test(
        "a store that SQLite can't read is set aside unchanged, and the backup is restored",
        arguments: Damage.allCases,
        [true, false])
    func broken(damage: Damage, wal: Bool) throws {
        let scenario = try migrated(wal: wal)
        let backup = try scenario.bytes(scenario.backup)
        try scenario.change(scenario.store) { damage.apply(to: &$0) }
        let broken = try scenario.bytes(scenario.store)
        let outcome = try BackupRollback(store: scenario.store).run()
        let kept = try #require(outcome.keptAt)
        #expect(try scenario.bytes(kept) == broken)
        #expect(try withoutMode(scenario.bytes(scenario.store)) == withoutMode(backup))
        #expect(outcome.warnings.count == 1)
        #expect(outcome.warnings.allSatisfy { $0.hasPrefix(scenario.store) && $0.hasSuffix("is kept as it is") })
        let name = URL(filePath: kept).lastPathComponent
        #expect(try names(scenario) == ["Model.xcdatamodeld", "Store.sqlite", name])
        #expect(try scenario.migrate().rows == 2)
    }

    @Test(
        "sidecars of a broken or missing store are never used with the backup", arguments: ["-wal", "-journal"],
        [true, false])
    func sidecars(suffix: String, isGone: Bool) throws {
        let scenario = try migrated()
        if suffix == "-wal" {
            try scenario.leaveWAL(["UPDATE ZTHING SET ZTEXT = 'new'"])
        } else {
            try scenario.leaveHotJournal()
        }
        let sidecar = try scenario.bytes(scenario.store + suffix)
        if isGone {
            try FileManager.default.removeItem(atPath: scenario.store)
        } else {
            try scenario.change(scenario.store) { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        }
        let kept = scenario.store + ".rolledback-" + String(scenario.backup.suffix(8))
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.keptAt == (isGone ? nil : kept))
        #expect(try scenario.bytes(kept + suffix) == sidecar)
        #expect(outcome.warnings.contains { $0.hasSuffix("is kept as \(kept)\(suffix)") })
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'a'", "'a'"])
        let left = try names(scenario).filter { $0.hasPrefix("Store.sqlite") }
        #expect(left.count == (isGone ? 2 : 3), "\(left)")
    }

    /// What is run after a rollback that was killed.
    enum Next: CaseIterable { case rollback, migration, purge }

    @Test(
        "a rollback that is killed between the sidecars and the rename is undone, or done, by the next command",
        arguments: ["-wal", "-journal"], Next.allCases)
    func killedBetween(suffix: String, next: Next) async throws {
        let scenario = try migrated()
        if suffix == "-wal" {
            try scenario.leaveWAL(["UPDATE ZTHING SET ZTEXT = 'new'"])
        } else {
            try scenario.leaveHotJournal()
        }
        try scenario.change(scenario.store) { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let (before, sidecar) = (try everything(scenario), try scenario.bytes(scenario.store + suffix))
        try await killRollback(scenario)
        let kept = scenario.store + ".rolledback-" + String(scenario.backup.suffix(8))
        #expect(try scenario.bytes(kept + suffix) == sidecar)
        switch next {
        case .rollback:
            let outcome = try BackupRollback(store: scenario.store).run()
            #expect(outcome.warnings.contains { $0.hasSuffix("is kept as \(kept)\(suffix)") })
            #expect(try scenario.bytes(kept + suffix) == sidecar)
            #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'a'", "'a'"])
        case .migration where suffix == "-journal":
            // It has the store's first page: with it the store can be read, and is new already.
            #expect(try scenario.migrate().prepared.steps.isEmpty)
        case .migration:
            #expect(try failure { try scenario.migrate() }.kind == .sourceData)
            #expect(try everything(scenario) == before)
        case .purge:
            #expect(
                try failure { _ = try BackupPurge(store: scenario.store, removesRolledBack: true).run() }.kind
                    == .sourceData)
            #expect(try scenario.bytes(kept + suffix) == sidecar)
        }
    }

    @Test("a rollback to a place without a store, killed in between, tells of the -wal when it is done")
    func killedWithoutStore() async throws {
        let scenario = try migrated()
        try scenario.leaveWAL(["UPDATE ZTHING SET ZTEXT = 'new'"])
        let sidecar = try scenario.bytes(scenario.wal)
        try FileManager.default.removeItem(atPath: scenario.store)
        try await killRollback(scenario)
        let kept = scenario.store + ".rolledback-" + String(scenario.backup.suffix(8))
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.warnings.contains { $0.hasSuffix("is kept as \(kept)-wal") })
        #expect(try scenario.bytes(kept + "-wal") == sidecar)
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'a'", "'a'"])
    }

    @Test("a store that was restored since a killed rollback doesn't get the old log back")
    func killedAndRestored() async throws {
        let scenario = try migrated()
        let good = try scenario.bytes(scenario.store)
        try scenario.leaveWAL(["UPDATE ZTHING SET ZTEXT = 'new'"])
        try scenario.change(scenario.store) { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        try await killRollback(scenario)
        try scenario.change(scenario.store) { $0 = good }
        #expect(throws: EngineError.self) { try scenario.migrate() }
        #expect(try scenario.bytes(scenario.store) == good)
        #expect(!FileManager.default.fileExists(atPath: scenario.wal))
    }

    @Test("a log that a program has made since a killed rollback isn't replaced")
    func killedAndWritten() async throws {
        let scenario = try migrated()
        try scenario.leaveWAL(["UPDATE ZTHING SET ZTEXT = 'new'"])
        try scenario.change(scenario.store) { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        try await killRollback(scenario)
        try Data([1]).write(to: URL(filePath: scenario.wal))
        func files() throws -> [String: String] {
            try everything(scenario).filter { $0.key.hasPrefix("Store.sqlite") }
        }
        let before = try files()
        let error = try failure { _ = try BackupRollback(store: scenario.store).run() }
        #expect(error.kind == .undecided && error.remedy.hasPrefix("move one of them away"))
        #expect(try files() == before)
    }

    private func killRollback(_ scenario: Scenario) async throws {
        let store = scenario.store
        await #expect(processExitsWith: .signal(SIGKILL)) { [store = store as String] in
            unsafe setenv("CAUSEWAY_HARNESS", "1", 1)
            unsafe setenv("CAUSEWAY_KILL_AT", "sidecarsMoved", 1)
            _ = try BackupRollback(store: store).run()
        }
    }

    @Test("the -wal of a store with a damaged schema is kept separately")
    func unfoldedLog() throws {
        let scenario = try migrated()
        try scenario.leaveWAL(["UPDATE ZTHING SET ZTEXT = 'new'"])
        try scenario.change(scenario.store) { $0[100] = 0xFF }
        let (store, log) = (try scenario.bytes(scenario.store), try scenario.bytes(scenario.wal))
        let kept = try #require(try BackupRollback(store: scenario.store).run().keptAt)
        #expect(try scenario.bytes(kept) == store)
        #expect(try scenario.bytes(kept + "-wal") == log)
    }

    @Test("a store that was removed is restored; one that never existed is reported missing")
    func gone() throws {
        let scenario = try migrated()
        let backup = try scenario.bytes(scenario.backup)
        try FileManager.default.removeItem(atPath: scenario.store)
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.keptAt == nil)
        #expect(outcome.warnings == ["\(scenario.store): no store was there"])
        #expect(try scenario.bytes(scenario.store) == backup)
        #expect(try names(scenario) == ["Model.xcdatamodeld", "Store.sqlite"])
        let error = try failure { _ = try BackupRollback(store: scenario.folder + "/Other.sqlite").run() }
        #expect(error.kind == .missing && error.message.contains("no such store"))
    }

    private static let sqlite = "/usr/bin/sqlite3"

    @Test(
        "a broken store that another program writes to is busy, and nothing changes",
        .enabled(if: FileManager.default.isExecutableFile(atPath: Self.sqlite), "needs the sqlite3 command"))
    func busyBrokenStore() throws {
        let scenario = try migrated()
        let writer = Process()
        writer.executableURL = URL(filePath: Self.sqlite)
        writer.arguments = [scenario.store]
        let (input, output) = (Pipe(), Pipe())
        (writer.standardInput, writer.standardOutput) = (input, output)
        try writer.run()
        try input.fileHandleForWriting.write(contentsOf: Data("BEGIN IMMEDIATE; SELECT 'ready';\n".utf8))
        _ = output.fileHandleForReading.availableData
        try scenario.change(scenario.store) { $0 = Data() }
        let before = try everything(scenario)
        let error = try failure { _ = try BackupRollback(store: scenario.store).run() }
        #expect(error.kind == .busy && error.state == .untouched, "\(error)")
        #expect(try everything(scenario) == before)
        try input.fileHandleForWriting.write(contentsOf: Data(".quit\n".utf8))
        writer.waitUntilExit()
    }

    @Test("a work folder that can't be removed afterwards is only a warning: the rollback is done")
    func workFolder() throws {
        for isPurge in [true, false] {
            let scenario = try migrated()
            let backup = scenario.backup
            try FileManager.default.createDirectory(
                atPath: scenario.workDirectory, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            try FileManager.default.createDirectory(
                atPath: scenario.workFile("seg-folder"), withIntermediateDirectories: false)
            let warnings =
                try isPurge
                ? BackupPurge(store: scenario.store).run().warnings
                : BackupRollback(store: scenario.store).run().warnings
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains(".migration") == true)
            #expect(!FileManager.default.fileExists(atPath: backup))
        }
    }

    @Test("a purge removes a backup's sidecars too")
    func purge() throws {
        let scenario = try migrated()
        try writeToWAL(of: scenario.backup)
        let outcome = try BackupPurge(store: scenario.store).run()
        #expect(outcome.removed.count == 1)
        #expect(try names(scenario) == ["Model.xcdatamodeld", "Store.sqlite"])
    }
}
