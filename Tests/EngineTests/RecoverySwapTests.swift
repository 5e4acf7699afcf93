import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Kills at every point from the last step's record to the removed work directory.
@Suite("Recovery: around the swap", .timeLimit(.minutes(60)))
struct RecoverySwapTests {
    @Test(
        "before the rename the store is the old one, and the next run swaps without making a row",
        arguments: [
            KillPoint.sealed, .attributesCopied, .stagingSynced, .externalFilesLinked, .lockedExclusively,
            .sidecarsAbsent, .intentWritten, .backupLinked,
        ])
    func beforeTheRename(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        let rows = try Database.dump(scenario.store)
        let original = try scenario.inode(scenario.store)
        // The first step's store is sealed before the second begins.
        try await scenario.kill(at: point, point == .sealed ? 2 : 1)
        #expect(try Database.dump(scenario.store) == rows)
        let rerun = try scenario.rerun()
        #expect(rerun.steps.isEmpty)
        #expect(try scenario.inode(scenario.backup) == original)
        try scenario.expectChainDone()
    }

    @Test(
        "after the rename the store is the new one, and the next run only tidies up",
        arguments: [KillPoint.swapped, .swapDurable, .cleaningUp, .planRemoved, .intentRemoved, .lockRemoved])
    func afterTheRename(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        let original = try scenario.inode(scenario.store)
        // Both are reached at the start, too, when an empty work directory is cleared.
        try await scenario.kill(at: point, point == .planRemoved || point == .intentRemoved ? 2 : 1)
        let store = try scenario.inode(scenario.store)
        #expect(try Database.dump(scenario.store) == Scenario.chainResult.get())
        let rerun = try scenario.rerun()
        #expect(rerun.steps.isEmpty)
        #expect(rerun.outcome.wasSwapped == (point != .intentRemoved && point != .lockRemoved))
        #expect(try scenario.inode(scenario.store) == store)
        #expect(try scenario.inode(scenario.backup) == original)
        try scenario.expectChainDone()
    }

    @Test(
        "an old store that was written into the new one's file isn't called the new one", arguments: ["V1", "V4"])
    func oldContent(target: String) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .swapDurable)
        let location = try StoreLocation(existing: scenario.store)
        #expect(try MigrationStatus(of: location).state == .swapped)
        let (new, old) = (try scenario.inode(scenario.store), try scenario.bytes(scenario.backup))
        try scenario.change(scenario.store) { $0 = old }
        try #require(try scenario.inode(scenario.store) == new)
        let before = try scenario.everything()
        // The status never opens the store, which may be open elsewhere in the process. The next run checks it.
        #expect(try MigrationStatus(of: location).state == .swapped)
        #expect(try scenario.everything() == before)
        let rerun = try scenario.rerun(scenario.request(to: target))
        #expect(!rerun.outcome.wasSwapped)
        #expect(rerun.steps == (target == "V1" ? [] : [0, 1]))
        #expect(scenario.work.isEmpty)
        if target == "V1" { #expect(try scenario.bytes(scenario.store) == old) }
    }

    @Test(
        "an output is published, or is already, at every point where its run was killed",
        arguments: [
            (KillPoint.externalFilesLinked, 1, false), (.intentWritten, 1, false), (.swapped, 1, true),
            (.swapDurable, 1, true), (.cleaningUp, 1, true), (.planRemoved, 2, true), (.intentRemoved, 2, true),
            (.lockRemoved, 1, true),
        ])
    func output(point: KillPoint, count: Int, isThere: Bool) async throws {
        let scenario = try Scenario.chain()
        let before = try scenario.everything()
        let output = scenario.folder + "/Out.sqlite"
        try await scenario.kill(at: point, count, output: output)
        #expect(FileManager.default.fileExists(atPath: output) == isThere, "\(point)")
        let rerun = try scenario.rerun(scenario.request(to: "V4", output: output))
        #expect(rerun.steps.isEmpty)
        #expect(rerun.outcome.wasSwapped == isThere)
        #expect(try Database.dump(output) == Scenario.chainResult.get())
        var after = try scenario.everything()
        after["Out.sqlite"] = nil
        #expect(after == before, "\(point)")
    }

    /// What may differ from a run whose result is there.
    enum Difference: String, CaseIterable {
        case none, sourceWritten, outputWritten, outputCopied, otherVersion, otherVerification, otherOption, log,
            noRejects
    }

    @Test(
        "a finished output answers the same request only, and only while nobody writes", arguments: Difference.allCases)
    func sameOutput(_ difference: Difference) throws {
        let scenario = try Scenario.chain()
        let output = scenario.folder + "/Out.sqlite"
        var request = scenario.request(to: "V4", output: output)
        if difference == .noRejects { (request.rejects, request.badRows) = (scenario.folder + "/rejects", .quarantine) }
        _ = try Migration(request).run()
        switch difference {
        case .noRejects: try Data("other".utf8).write(to: URL(filePath: scenario.folder + "/rejects"))
        case .none: break
        case .sourceWritten: try Scenario.execute("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION", scenario.store)
        case .outputWritten: try Scenario.execute("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION", output)
        case .outputCopied:
            let data = try Data(contentsOf: URL(filePath: output))
            try FileManager.default.removeItem(atPath: output)
            try data.write(to: URL(filePath: output))
        case .otherVersion: request.target = "V3"
        case .otherVerification: request.verification = .full
        case .otherOption: request.badRows = .quarantine
        case .log: try Data([1]).write(to: URL(filePath: output + "-wal"))
        }
        let before = try scenario.everything()
        if difference == .none {
            let outcome = try Migration(request).run()
            #expect(outcome.wasSwapped && outcome.store == output && outcome.rows == 0)
        } else {
            let error = #expect(throws: EngineError.self) { try Migration(request).run() }
            #expect(error?.kind == .cannotCreate && error?.message.hasSuffix("already exists") == true)
        }
        #expect(try scenario.everything() == before)
    }

    @Test("a missing store is restored from the backup")
    func storeMissing() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        try FileManager.default.removeItem(atPath: scenario.store)
        #expect(try scenario.rerun().steps.isEmpty)
        try scenario.expectChainDone()
    }

    @Test("without store and backup the store is reported missing, and the work is kept")
    func storeLost() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .intentWritten)
        try FileManager.default.removeItem(atPath: scenario.store)
        let before = try scenario.everything()
        #expect(try failure { _ = try scenario.rerun() }.kind == .missing)
        #expect(try scenario.everything() == before)
    }

    @Test("a store that is neither the old nor the new one is left alone, with both named", arguments: [false, true])
    func foreignStore(restart: Bool) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        try FileManager.default.removeItem(atPath: scenario.store)
        try Scenario.makeStore(at: scenario.store, model: SameResultTests.versions[0])
        let before = try scenario.everything()
        var request = scenario.request(to: "V4")
        if restart { request.resume = .restart }
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .undecided)
        #expect(error.details.count == 3)
        #expect(try scenario.everything() == before)
    }

    @Test("an unreadable intent counts as none", arguments: [KillPoint.intentWritten, .backupLinked])
    func unreadableIntent(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point)
        try Data("{\"format\":".utf8).write(to: URL(filePath: scenario.workFile("swap.json")))
        #expect(try scenario.rerun().steps.isEmpty)
        try scenario.expectChainDone()
    }

    @Test("an intent with names outside the folder counts as none")
    func hostileIntent() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .intentWritten)
        let path = scenario.workFile("swap.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let changed = text.replacing("step-2.sqlite", with: "../Store.sqlite")
        try #require(changed != text)
        try changed.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try scenario.rerun().steps.isEmpty)
        try scenario.expectChainDone()
    }

    @Test("a new store that was lost before the rename is made again")
    func stagingLost() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        try FileManager.default.removeItem(atPath: scenario.workFile("step-2.sqlite"))
        #expect(try scenario.rerun().steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test(
        "a new store that is started over after its swap was recorded can be resumed, or discarded",
        arguments: [UnfinishedWorkPolicy.resume, .restart])
    func begunAnewAfterTheIntent(_ resume: UnfinishedWorkPolicy) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        var more = scenario.careful()
        more.verification = .full
        try scenario.interrupt(afterBatches: 4, more)
        var request = scenario.request(to: "V4", engine: .statements)
        request.resume = .refuse
        #expect(try failure { _ = try scenario.rerun(request) }.kind == .undecided)
        request.resume = resume
        let rerun = try scenario.rerun(request)
        #expect(rerun.steps == [0, 1])
        #expect(rerun.outcome.resumed?.step == (resume == .restart ? nil : 0))
        try scenario.expectChainDone()
    }

    @Test("discarding work removes the store's second name too")
    func failedAfterTheLink() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        #expect(scenario.backups.count == 1)
        var more = scenario.careful()
        more.verification = .full
        let staging = scenario.workFile("step-1.sqlite")
        let run = Migration(more) { event in
            guard case .phaseBegan("verification") = event else { return }
            _ = try? Scenario.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Damaged'", staging)
        }
        #expect(try failure { _ = try run.run() }.kind == .verification)
        #expect(scenario.backups.isEmpty)
        #expect(scenario.work.isEmpty)
        _ = try scenario.rerun()
        try scenario.expectChainDone()
    }

    @Test(
        "after a recorded swap and a start over, another store in place of the original needs --restart")
    func otherStore() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        var request = scenario.careful()
        request.verification = .full
        try scenario.interrupt(afterBatches: 4, inStep: 1, request)
        // Otherwise a file that gets the discarded store's inode would be taken for it.
        #expect(!FileManager.default.fileExists(atPath: scenario.workFile("swap.json")))
        let other = try Scenario.chain()
        try Scenario.execute("CREATE TABLE appended AS SELECT zeroblob(20000) AS b", other.store)
        try FileManager.default.removeItem(atPath: scenario.store)
        try FileManager.default.copyItem(atPath: other.store, toPath: scenario.store)
        #expect(try failure { _ = try scenario.rerun() }.kind == .undecided)
        request.resume = .restart
        #expect(try scenario.rerun(request).steps == [0, 1])
        #expect(try scenario.rows("SELECT count(*) FROM appended") == ["1"])
    }

    @Test("a sealed store keeps its bytes when it is sealed again", arguments: [false, true])
    func sealedAgain(wal: Bool) async throws {
        let scenario = try Scenario.chain()
        try Scenario.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM", scenario.store)
        if wal { try Scenario.execute("PRAGMA journal_mode = WAL", scenario.store) }
        try await scenario.kill(at: .sealed, 2)
        let staging = scenario.workFile("step-2.sqlite")
        // More free pages than sealing releases.
        try Scenario.execute(
            """
            CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) \
            SELECT zeroblob(4000) AS b FROM n; DROP TABLE filler
            """, staging)
        let sealed = try Data(contentsOf: URL(filePath: staging))
        _ = try scenario.rerun()
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == sealed)
    }

    @Test(
        "--restart makes everything again, and leaves one backup", arguments: [KillPoint.intentWritten, .backupLinked])
    func restart(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point)
        var request = scenario.request(to: "V4")
        request.resume = .restart
        #expect(try scenario.rerun(request).steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test("another program's file at the backup's name isn't replaced, and the work is kept")
    func takenBackup() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .backupLinked)
        let backup = scenario.backup
        try FileManager.default.removeItem(atPath: backup)
        try Data("mine".utf8).write(to: URL(filePath: backup))
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .cannotCreate)
        #expect(error.isResumable)
        #expect(try String(contentsOfFile: backup, encoding: .utf8) == "mine")
        try FileManager.default.removeItem(atPath: backup)
        #expect(try scenario.rerun().steps.isEmpty)
        try scenario.expectChainDone()
    }
}
