import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

@Suite("A hot journal is copied before it is played back", .timeLimit(.minutes(60)))
struct HotJournalTests {
    private static let copy = "kept-journal-1"

    private func scenario() throws -> Scenario {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try scenario.leaveHotJournal()
        return scenario
    }

    @Test("the transaction is rolled back, the store migrated, and nothing is left of the copy")
    func migrated() throws {
        let scenario = try scenario()
        let run = try scenario.rerun()
        #expect(run.outcome.warnings.contains { $0.contains("unfinished transaction") })
        #expect(try scenario.rows("SELECT Z_PK FROM ZTHING ORDER BY 1") == ["1", "2"])
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite", try backupName(scenario)])
    }

    private func backupName(_ scenario: Scenario) throws -> String {
        URL(filePath: scenario.backup).lastPathComponent
    }

    @Test("the copy is there before SQLite touches the store")
    func copied() async throws {
        let scenario = try scenario()
        let before = try snapshot(scenario.folder)
        try await scenario.kill(at: .sidecarCopied)
        let after = try snapshot(scenario.folder)
        #expect(before.allSatisfy { after[$0.key] == $0.value })
        #expect(try scenario.bytes(scenario.workDirectory + "/" + Self.copy) == scenario.bytes(scenario.journal))
        _ = try scenario.rerun()
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite", try backupName(scenario)])
    }

    @Test("a run that fails afterwards says that the store isn't untouched, and keeps the copy")
    func failed() throws {
        let scenario = try scenario()
        let journal = try scenario.bytes(scenario.journal)
        let error = try failure { _ = try Migration(scenario.request(to: "V9")).run() }
        let copy = scenario.workDirectory + "/" + Self.copy
        guard case .settled(let what) = error.state else {
            Issue.record("\(error.state)")
            return
        }
        #expect(what.contains("rolled back") && what.contains(copy))
        #expect(try scenario.bytes(copy) == journal)
        #expect(try scenario.names(scenario.workDirectory) == [Self.copy])
        // The copy doesn't count as unfinished work.
        #expect(try MigrationStatus(of: StoreLocation(existing: scenario.store)).state == .none)
        #expect(try scenario.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'unfinished'") == ["0"])
        // The next run finds nothing to roll back, and touches nothing until it can plan.
        let before = try snapshot(scenario.folder)
        #expect(try failure { _ = try Migration(scenario.request(to: "V9")).run() }.state == .untouched)
        #expect(try snapshot(scenario.folder) == before)
        _ = try scenario.rerun()
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite", try backupName(scenario)])
    }

    @Test("a store that needs no migration is rolled back, and the run says so")
    func current() throws {
        let scenario = try scenario()
        let outcome = try Migration(scenario.request(to: "V1")).run()
        #expect(outcome.prepared.steps.isEmpty)
        #expect(outcome.hasRolledBack)
        #expect(outcome.warnings.contains { $0.contains("rolled back") })
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite"])
    }

    @Test("a rollback copies it, too, and says that it was played back", arguments: [true, false])
    func rollback(besideBackup: Bool) throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try scenario.migrate()
        let place = besideBackup ? scenario.backup : scenario.store
        try scenario.leaveHotJournal(beside: place)
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(outcome.warnings.count == 1)
        #expect(outcome.warnings.allSatisfy { $0.hasPrefix(place + ":") && $0.contains("rolled back") })
        let keptAt = try #require(outcome.keptAt)
        let kept = URL(filePath: keptAt).lastPathComponent
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite", kept])
        for path in [scenario.store, keptAt] {
            let query = "SELECT count(*) FROM sqlite_schema WHERE name = 'unfinished'"
            #expect(try Database.rows(query, in: path) == ["0"])
        }
    }

    @Test("a journal is kept under the store's new name where the store can't be read afterwards")
    func rollbackOfUnreadable() throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try scenario.migrate()
        try scenario.leaveHotJournal()
        // The first page's b-tree type: a byte that the journal's checksums don't cover.
        try scenario.change(scenario.journal) { bytes in
            let sector = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
            let pages = stride(from: sector, to: bytes.count - 4_104, by: 4_104)
            let first = try #require(pages.first { Array(bytes[$0..<$0 + 4]) == [0, 0, 0, 1] })
            bytes[first + 4 + 100] = 0xFF
        }
        let journal = try scenario.bytes(scenario.journal)
        let outcome = try BackupRollback(store: scenario.store).run()
        let kept = try #require(outcome.keptAt)
        #expect(try scenario.bytes(kept)[100] == 0xFF)
        #expect(try scenario.bytes(kept + ".journal") == journal)
        #expect(
            outcome.warnings.last
                == "\(scenario.store): the journal that SQLite played into it is kept as \(kept).journal")
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'a'", "'a'"])
        let name = URL(filePath: kept).lastPathComponent
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite", name, name + ".journal"])
    }

    @Test("a rollback that fails afterwards says what was done, and keeps and names the copy")
    func failedRollback() throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try scenario.migrate()
        try scenario.leaveHotJournal()
        let journal = try scenario.bytes(scenario.journal)
        try scenario.change(scenario.backup) { $0.removeLast(4_096) }
        let error = try failure { _ = try BackupRollback(store: scenario.store).run() }
        #expect(error.kind == .sourceData)
        let copy = scenario.workDirectory + "/" + Self.copy
        #expect(error.details.contains { $0.contains(copy) })
        guard case .settled(let what) = error.state else {
            Issue.record("\(error.state)")
            return
        }
        #expect(what.contains("rolled back"))
        #expect(try scenario.bytes(copy) == journal)
        #expect(try scenario.names(scenario.workDirectory) == [Self.copy])
    }

    @Test(
        "with an output, and for a plan, the store is refused and keeps its bytes", arguments: [false, true])
    func output(wal: Bool) throws {
        let scenario = try scenario()
        // The journal of an interrupted change of the journal mode.
        if wal { try scenario.change(scenario.store) { $0.replaceSubrange(18..<20, with: [2, 2]) } }
        let before = try snapshot(scenario.folder)
        var request = scenario.request(to: "V2")
        request.output = scenario.folder + "/New.sqlite"
        let plan = scenario.request(to: "V2")
        let bodies: [() throws -> Void] = [{ _ = try Migration(request).run() }, { _ = try Migration(plan).plan() }]
        for body in bodies {
            let error = try failure(body)
            #expect(error.kind == .sourceData)
            #expect(error.state == .untouched)
            #expect(error.message.contains("unfinished transaction"))
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("where the work directory can't be made, that is the failure: the run would have rolled it back")
    func noWorkDirectory() throws {
        let scenario = try scenario()
        try Data().write(to: URL(filePath: scenario.workDirectory))
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .cannotCreate)
        #expect(error.message.contains(scenario.workDirectory))
        #expect(try snapshot(scenario.folder) == before)
    }

    private static let sqlite = "/usr/bin/sqlite3"

    @Test(
        "another program's running transaction isn't taken for an unfinished one",
        .enabled(if: FileManager.default.isExecutableFile(atPath: Self.sqlite), "needs the sqlite3 command"))
    func underWay() async throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        // Another process: a lock of this process would be lost when it opens and closes the file.
        let writer = Process()
        writer.executableURL = URL(filePath: Self.sqlite)
        writer.arguments = [scenario.store]
        let (input, output) = (Pipe(), Pipe())
        (writer.standardInput, writer.standardOutput) = (input, output)
        try writer.run()
        try input.fileHandleForWriting.write(
            contentsOf: Data("BEGIN IMMEDIATE; UPDATE ZTHING SET ZTEXT = 'b'; SELECT 'ready';\n".utf8))
        _ = output.fileHandleForReading.availableData
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .busy)
        #expect(error.state == .untouched)
        #expect(try snapshot(scenario.folder) == before)
        try input.fileHandleForWriting.write(contentsOf: Data("ROLLBACK;\n.quit\n".utf8))
        writer.waitUntilExit()
    }
}
