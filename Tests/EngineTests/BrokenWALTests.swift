import CausewayEngine
import CausewayExamination
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

@Suite("A -wal that breaks off is reported and kept", .timeLimit(.minutes(60)))
struct BrokenWALTests {
    private static let numbers = 1...6

    /// Things 1 and 2 in the file; six commits in the -wal, one thing each.
    private func scenario() throws -> Scenario {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try scenario.leaveWAL(
            Self.numbers.map { "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (\($0 + 2), 1, 1, 'new')" })
        return scenario
    }

    /// The same, with a flipped bit in the fourth commit.
    private func broken() throws -> Scenario {
        let scenario = try scenario()
        try scenario.damageFrame(try scenario.frames() / 2 + 1)
        return scenario
    }

    private static func keys(_ path: String) throws -> [String] {
        try Database.rows("SELECT Z_PK FROM ZTHING ORDER BY 1", in: path)
    }

    private func copies(_ scenario: Scenario) throws -> [String] {
        try scenario.names().filter { $0.hasPrefix("Store.sqlite.premigration-") && $0.contains(".wal") }
    }

    private func expectKept(_ scenario: Scenario, _ wal: Data, _ outcome: MigrationOutcome) throws {
        let backup = try #require(outcome.backup)
        #expect(try copies(scenario) == [URL(filePath: backup).lastPathComponent + ".wal"])
        #expect(try scenario.bytes(backup + ".wal") == wal)
        #expect(outcome.walBreak?.copy == backup + ".wal")
        #expect(outcome.walBreak?.readableCommits == 3)
        #expect(outcome.walBreak?.unreadableFrames == 3)
        let warnings = outcome.warnings.filter { $0.contains("-wal") && $0.contains(backup + ".wal") }
        #expect(warnings.count == 1, "\(outcome.warnings)")
        #expect(warnings.allSatisfy { $0.contains("can be read: 3;") && $0.contains("fails: 3;") })
        #expect(try Self.keys(scenario.store) == ["1", "2", "3", "4", "5"])
        let names = try scenario.names().filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }
        #expect(names.count == 4, "\(names)")
    }

    @Test("in place: what SQLite reads is migrated, and the -wal is kept beside the backup")
    func inPlace() throws {
        let scenario = try broken()
        let wal = try scenario.bytes(scenario.wal)
        let run = try scenario.rerun()
        try expectKept(scenario, wal, run.outcome)
        let planned = run.events.compactMap { if case .prepared(let plan) = $0 { plan } else { nil } }
        #expect(planned.first?.walBreak?.unreadableFrames == 3)
        #expect(planned.first?.warnings.contains { $0.contains("fails: 3;") } == true)
        // A program that opens the backup finds the original, not the copy.
        #expect(try Self.keys(scenario.folder + "/" + copies(scenario)[0].dropLast(4)) == ["1", "2", "3", "4", "5"])
    }

    @Test("with an output the source keeps its bytes, and the numbers are reported")
    func output() throws {
        let scenario = try broken()
        let before = try snapshot(scenario.folder)
        var request = scenario.request(to: "V2")
        request.output = scenario.folder + "/New.sqlite"
        let outcome = try Migration(request).run()
        #expect(WALNumbers(outcome.walBreak) == .three)
        #expect(outcome.walBreak?.copy == nil)
        #expect(outcome.warnings.count { $0.contains("fails: 3;") } == 1)
        #expect(try Self.keys(scenario.folder + "/New.sqlite") == ["1", "2", "3", "4", "5"])
        let after = try snapshot(scenario.folder)
        #expect(before.allSatisfy { after[$0.key] == $0.value })
    }

    @Test(
        "a run that is killed loses neither the copy nor the numbers",
        arguments: [
            KillPoint.sidecarCopied, .storeOwned, .planWritten, .batchWritten, .sealed, .sidecarsAbsent, .intentWritten,
            .backupLinked, .swapped, .cleaningUp,
        ])
    func killed(_ point: KillPoint) async throws {
        let scenario = try broken()
        let wal = try scenario.bytes(scenario.wal)
        try await scenario.kill(at: point)
        try expectKept(scenario, wal, try scenario.rerun().outcome)
    }

    @Test("work that is discarded leaves the copy")
    func restarted() throws {
        let scenario = try broken()
        let wal = try scenario.bytes(scenario.wal)
        try scenario.interrupt(afterBatches: 1)
        var request = scenario.request(to: "V2")
        request.resume = .restart
        try expectKept(scenario, wal, try scenario.rerun(request).outcome)
    }

    @Test("a run that fails before it has any work says what was done to the store, and keeps the copy")
    func withoutWork() throws {
        let scenario = try broken()
        let wal = try scenario.bytes(scenario.wal)
        var request = scenario.request(to: "V2")
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects")
        let taken = URL(filePath: scenario.folder + "/rejects")
        // Another program takes the name after the first look.
        let migration = Migration(request) { event in
            if case .prepared = event { _ = FileManager.default.createFile(atPath: taken.path, contents: Data()) }
        }
        let error = try failure { _ = try migration.run() }
        #expect(error.kind == .cannotCreate)
        let copy = scenario.workDirectory + "/kept-wal-1"
        guard case .settled(let what) = error.state else {
            Issue.record("\(error.state)")
            return
        }
        #expect(what.contains("-wal was written into it") && what.contains(copy))
        #expect(try scenario.bytes(copy) == wal)
        #expect(try scenario.names(scenario.workDirectory) == ["kept-wal-1"])
        try FileManager.default.removeItem(atPath: scenario.folder + "/rejects")
        try expectKept(scenario, wal, try scenario.rerun().outcome)
    }

    @Test("a rollback names the copy, and a purge removes it", arguments: [true, false])
    func backup(rollsBack: Bool) throws {
        let scenario = try broken()
        let outcome = try scenario.rerun().outcome
        let copy = try #require(outcome.walBreak?.copy)
        if rollsBack {
            let undone = try BackupRollback(store: scenario.store).run()
            #expect(undone.walCopies == [copy])
            #expect(FileManager.default.fileExists(atPath: copy))
        }
        let purged = try BackupPurge(store: scenario.store).run()
        #expect(purged.removed == (rollsBack ? [] : [outcome.backup].compactMap(\.self)))
        #expect(purged.removedCopies == [copy])
        #expect(try copies(scenario).isEmpty)
    }

    @Test("a rollback that folds such a -wal of the migrated store keeps a copy, too")
    func rollbackOfABrokenStore() throws {
        let scenario = try self.scenario()
        _ = try scenario.rerun()
        try scenario.leaveWAL((1...4).map { "UPDATE ZTHING SET ZTEXT = 'changed' WHERE Z_PK = \($0)" })
        try scenario.damageFrame(2)
        let wal = try scenario.bytes(scenario.wal)
        let undone = try BackupRollback(store: scenario.store).run()
        let kept = try #require(undone.keptAt)
        #expect(try scenario.bytes(kept + ".wal") == wal)
        #expect(undone.warnings.contains { $0.contains(kept + ".wal") && $0.contains("can be read: 1;") })
    }

    @Test("a rollback that is refused again and again makes one copy, and names it")
    func refusedRollback() throws {
        let scenario = try self.scenario()
        _ = try scenario.rerun()
        try scenario.leaveWAL((1...4).map { "UPDATE ZTHING SET ZTEXT = 'changed' WHERE Z_PK = \($0)" })
        try scenario.damageFrame(2)
        let user = try Connection(path: scenario.backup, mode: .readWrite, hardening: .own)
        try user.setJournalMode(.wal)
        try user.execute("UPDATE ZTHING SET ZTEXT = 'late'")
        for _ in 0..<2 {
            let error = try failure { _ = try BackupRollback(store: scenario.store).run() }
            #expect(error.kind == .busy)
            let copies = try scenario.names().filter { $0.contains(".rolledback-") }
            #expect(copies.count == 1)
            for name in copies { #expect(error.details.contains { $0.hasSuffix("/" + name) }, "\(error)") }
        }
        try user.close()
        let undone = try BackupRollback(store: scenario.store).run()
        #expect(try scenario.names().filter { $0.contains(".rolledback-") }.count == 2)
        #expect(FileManager.default.fileExists(atPath: try #require(undone.keptAt) + ".wal"))
    }

    @Test("a run after a swapped one leaves the copy with the backup to which it belongs")
    func leadsOn() async throws {
        let third = FailureTests.to.replacing("</entity>", with: attribute("third") + "</entity>")
        let scenario = try Scenario(FailureTests.from, FailureTests.to, third, rows: FailureTests.rows)
        try scenario.leaveWAL(
            Self.numbers.map { "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (\($0 + 2), 1, 1, 'new')" })
        try scenario.damageFrame(try scenario.frames() / 2 + 1)
        let wal = try scenario.bytes(scenario.wal)
        try await scenario.kill(at: .swapped, to: "V2")
        let copy = try #require(try copies(scenario).first)
        let outcome = try scenario.rerun().outcome
        #expect(try copies(scenario) == [copy])
        #expect(try scenario.bytes(scenario.folder + "/" + copy) == wal)
        #expect(outcome.walBreak?.copy == scenario.folder + "/" + copy)
        #expect(outcome.backup.map { !copy.hasPrefix(URL(filePath: $0).lastPathComponent) } == true)
        #expect(!FileManager.default.fileExists(atPath: scenario.workDirectory))
    }

    @Test("a purge or a rollback after a kill at the swap leaves nothing of the work", arguments: [true, false])
    func afterTheSwap(purges: Bool) async throws {
        let scenario = try broken()
        try await scenario.kill(at: .swapped)
        if purges {
            _ = try BackupPurge(store: scenario.store).run()
            #expect(try copies(scenario).isEmpty)
        } else {
            #expect(try BackupRollback(store: scenario.store).run().walCopies.count == 1)
        }
        #expect(!FileManager.default.fileExists(atPath: scenario.workDirectory))
    }

    @Test("a torn last commit, a stale tail and a whole log aren't reported", arguments: 0..<4)
    func ordinary(_ kind: Int) throws {
        let scenario = try self.scenario()
        switch kind {
        case 0: try scenario.damageFrame(-1)
        case 1: try scenario.change(scenario.wal) { $0.removeLast(700) }
        case 2:
            // Frames of an earlier generation.
            let count = try scenario.frames()
            try scenario.change(scenario.wal) { data in
                for frame in count / 2..<count { data[32 + frame * Scenario.frameLength + 8] ^= 0xff }
            }
        default: break
        }
        let outcome = try scenario.rerun().outcome
        #expect(outcome.walBreak == nil)
        #expect(outcome.warnings.filter { !$0.hasPrefix("The bundle doesn't say") }.isEmpty, "\(outcome.warnings)")
        #expect(try scenario.names().count == 3)
    }

    @Test("an examination reports the same and changes nothing")
    func examined() throws {
        let scenario = try broken()
        let before = try snapshot(scenario.folder)
        let store = try SourceStore.reading(StoreLocation(existing: scenario.store))
        #expect(WALNumbers(store.walBreak) == .three)
        let report = try StoreExamination(store, history: nil, isQuick: true).run()
        store.release()
        #expect((report.findings + report.notes).contains { $0.kind == .walBreak && $0.message.contains("fails: 3;") })
        #expect(try snapshot(scenario.folder).filter { !$0.key.hasSuffix("-shm") } == before)
    }
}

/// The report of a break.
private struct WALNumbers: Equatable {
    static let three = WALNumbers(commits: 3, frames: 3)

    let commits: Int
    let frames: Int

    init(commits: Int, frames: Int) {
        (self.commits, self.frames) = (commits, frames)
    }

    init?(_ found: WALBreak?) {
        guard let found else { return nil }
        self.init(commits: found.readableCommits, frames: found.unreadableFrames)
    }
}
