import CausewayPlatform
import CausewayReliabilityKit
import CausewaySQLite
import Foundation
import Testing

/// The oracles of the harnesses: given a broken store, they must say so.
@Suite("Trials see what is broken", .timeLimit(.minutes(60)))
struct TrialTests {
    /// A finished migration, which a test then breaks.
    private func finished(_ run: HarnessRun) throws -> Trial {
        let place = try run.settings.makeFolder("subject")
        let subject = try TrialSubject(Subject(.split), settings: run.settings, folder: place)
        var trial = try Trial(subject, folder: try run.settings.makeFolder("trial"))
        #expect(try trial.look() == .old)
        try trial.settle()
        return trial
    }

    private func change(_ path: String, _ sql: String) throws {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        try connection.execute(sql)
        try connection.close()
    }

    @Test("a cell that differs fails, and so does a missing row, which is counted")
    func rows() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        let trial = try finished(run)
        try trial.requireFinished()
        try change(trial.store, "DELETE FROM ZPOST WHERE Z_PK = 3")
        let failure = #expect(throws: Trial.Failure.self) { try trial.requireFinished() }
        #expect(failure?.rowsLost == 1)
        #expect(throws: Trial.Failure.self) { try trial.requireOldOrNew(after: .exited(0)) }
        #expect(throws: Trial.Failure.self) { try trial.requireOldOrNew(after: .signalled(9)) }
        #expect(failure?.description.contains("replay:") == true)
    }

    @Test("a file that is left over, a missing backup and a broken backup fail")
    func leftovers() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        let trial = try finished(run)
        try Files.makeDirectory(trial.workDirectory)
        #expect(throws: Trial.Failure.self) { try trial.requireFinished() }
        try Files.removeDirectory(trial.workDirectory)
        try trial.requireFinished()
        let name = try #require(try Files.list(trial.data).first { $0.contains(".premigration") })
        let backup = trial.data + "/" + name
        try change(backup, "UPDATE ZPOST SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
        #expect(throws: Trial.Failure.self) { try trial.requireFinished() }
        try Files.unlink(backup)
        #expect(throws: Trial.Failure.self) { try trial.requireFinished() }
    }

    @Test("success over an old store fails, and so does a run that hangs")
    func success() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        let place = try run.settings.makeFolder("subject")
        let subject = try TrialSubject(Subject(.split), settings: run.settings, folder: place)
        let trial = try Trial(subject, folder: try run.settings.makeFolder("trial"))
        #expect(throws: Trial.Failure.self) { try trial.requireOldOrNew(after: .exited(0)) }
        #expect(throws: Trial.Failure.self) { try trial.requireOldOrNew(after: .hung) }
        #expect(throws: Trial.Failure.self) { try trial.requireOldOrNew(after: .exited(74)) }
        #expect(try trial.requireOldOrNew(after: .signalled(9)) == .old)
    }

    @Test("a page for which there is no memory is no damage, and is read again")
    func shortMemory() throws {
        let text = "*** in database main ***\nOn tree page 249 cell 0: failed to get page 253"
        let short = text + "\nPage 235: unable to get the page. error code=7\nPage 236 is never used"
        var reads = 0
        let fault = try SoundnessCheck.retrying {
            reads += 1
            return try SoundnessCheck.fault(in: [reads < 3 ? short : "ok"])
        }
        #expect(fault == nil && reads == 3)
        #expect(try SoundnessCheck.fault(in: [text]) == "integrity_check: " + text)
    }

    @Test("lost, repeated and foreign rows of a contest are found")
    func contest() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        let history = try EntryHistory(in: run.settings.scratch)
        let store = run.settings.scratch + "/Store.sqlite"
        try history.makeStore(at: store, rows: 10, seed: 1, wal: false)
        #expect(try EntryJudgement(store: store).faults == ["the store isn't of version v2"])
        try change(
            store,
            """
            ALTER TABLE ZENTRY ADD COLUMN ZNOTE VARCHAR;
            INSERT INTO ZENTRY (Z_PK, Z_ENT, Z_OPT, ZMARKER) VALUES (11, 1, 1, 'w0-1'), (12, 1, 1, 'w0-1');
            """)
        let judgement = try EntryJudgement(store: store)
        #expect(judgement.rows == 12)
        #expect(judgement.markers.contains("w0-1"))
        #expect(judgement.faults == ["1 rows are there twice", "Z_MAX is 10, but there is a row 12"])
    }
}
