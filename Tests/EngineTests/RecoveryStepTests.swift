import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import Foundation
import Testing

/// Steps resume after the last commit. Only a staging store that can't be trusted starts over.
@Suite("Recovery: within a step and between two", .timeLimit(.minutes(60)))
struct RecoveryStepTests {
    @Test("a run resumes after the last batch that was committed", arguments: [1, 5, 12])
    func goesOn(batches: Int) throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: batches)
        var first: Int?
        var request = scenario.careful()
        request.options.batchRows = 1
        let run = Migration(request) { event in
            if case .progress(let rows, _, _) = event, first == nil { first = rows }
        }
        let resumed = try #require(try run.run().resumed)
        #expect(resumed.step == 0)
        #expect(first == resumed.rows + 1)
        try scenario.expectChainDone()
    }

    @Test("a resumed run tells its plan again, in place and beside", arguments: [false, true])
    func plan(isOutput: Bool) throws {
        let scenario = try Scenario.chain()
        let request = scenario.careful(output: isOutput ? scenario.folder + "/New.sqlite" : nil)
        try scenario.interrupt(afterBatches: 2, request)
        let plans = try scenario.rerun(request).events.filter { if case .prepared = $0 { true } else { false } }
        #expect(plans.count == 1)
    }

    @Test("rows that weren't committed before a kill are made again; committed rows aren't")
    func killed() async throws {
        for (point, rows) in [(KillPoint.batchWritten, 21), (.committing, 7), (.committed, 7), (.checkpointWritten, 7)]
        {
            let scenario = try Scenario.chain()
            // The first commit makes the tables; the fourth batch is the second of the second pass.
            try await scenario.kill(at: point, 4)
            let rerun = try scenario.rerun()
            let resumed = try #require(rerun.outcome.resumed, "\(point)")
            #expect(resumed.rows >= rows, "\(point)")
            #expect(rerun.warnings.isEmpty)
            try scenario.expectChainDone()
        }
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable (_ staging: String) throws -> Void
        var testDescription: String { name }

        static func sql(_ name: String, _ sql: String) -> Damage {
            Damage(name: name) { try Scenario.execute(sql, $0) }
        }

        static func file(_ name: String, _ change: @escaping @Sendable (inout Data) -> Void) -> Damage {
            Damage(name: name) { path in
                var data = try Data(contentsOf: URL(filePath: path))
                change(&data)
                try data.write(to: URL(filePath: path))
            }
        }
    }

    static let damages: [Damage] = [
        .file("cut in the middle") { $0 = $0.prefix($0.count / 2) },
        .file("cut in its header") { $0 = $0.prefix(60) },
        .file("no database") { $0 = Data(repeating: 0x41, count: $0.count) },
        .file("its first page zeroed") { $0.replaceSubrange(0..<4096, with: Data(count: 4096)) },
        .sql("the progress as a number", "UPDATE zz_causeway_progress SET state = 7"),
        .sql("the progress as text", "UPDATE zz_causeway_progress SET state = 'state'"),
        .sql("the progress empty", "UPDATE zz_causeway_progress SET state = x''"),
        .sql("the progress zeroed", "UPDATE zz_causeway_progress SET state = zeroblob(length(state))"),
        .sql("the progress cut", "UPDATE zz_causeway_progress SET state = substr(state, 1, 100)"),
        .sql(
            "the progress with a length beyond all bounds",
            "UPDATE zz_causeway_progress SET state = x'ffffffffffffffff' || substr(state, 9)"),
        .sql(
            "a byte of the progress changed",
            "UPDATE zz_causeway_progress SET state = substr(state, 1, 250) || x'ff00' || substr(state, 253)"),
        .sql("no progress", "DELETE FROM zz_causeway_progress"),
        .sql("no table for the progress", "DROP TABLE zz_causeway_progress"),
        .sql(
            "another table for the progress",
            "DROP TABLE zz_causeway_progress; CREATE TABLE zz_causeway_progress (id, state); "
                + "INSERT INTO zz_causeway_progress VALUES (1, NULL)"),
    ]

    @Test("a staging store that is torn, or whose progress can't be read, starts over and says so", arguments: damages)
    func damaged(_ damage: Damage) throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 8)
        try damage.make(scenario.workFile("step-1.sqlite"))
        let rerun = try scenario.rerun()
        #expect(rerun.outcome.resumed == nil)
        #expect(rerun.steps == [0, 1])
        #expect(rerun.warnings.contains { $0.contains("the step starts over") }, "\(rerun.warnings)")
        try scenario.expectChainDone()
    }

    @Test("a staging store of another run isn't taken for this one's")
    func foreignStaging() throws {
        let (scenario, other) = (try Scenario.chain(), try Scenario.chain())
        try scenario.interrupt(afterBatches: 8)
        try other.interrupt(afterBatches: 12)
        let path = scenario.workFile("step-1.sqlite")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: other.workFile("step-1.sqlite"), toPath: path)
        let rerun = try scenario.rerun()
        #expect(rerun.outcome.resumed == nil)
        try scenario.expectChainDone()
    }

    @Test(
        "a staging store without a table isn't reported as lost: its run ended before the first commit",
        arguments: ["NONE", "INCREMENTAL"])
    func emptyStaging(autoVacuum: String) throws {
        let scenario = try Scenario.chain()
        try Scenario.execute("PRAGMA auto_vacuum = \(autoVacuum); VACUUM", scenario.store)
        try scenario.interrupt { if case .statement(let sql) = $0 { sql.hasPrefix("CREATE TABLE") } else { false } }
        let rerun = try scenario.rerun()
        #expect(rerun.outcome.resumed == nil)
        #expect(rerun.warnings.isEmpty)
        try scenario.expectChainDone()
    }

    @Test("a missing staging store is made again")
    func lostStaging() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 8)
        for name in scenario.work where name.hasPrefix("step-1.sqlite") {
            try FileManager.default.removeItem(atPath: scenario.workFile(name))
        }
        #expect(try scenario.rerun().steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test("checkpoint files without their staging store are ignored")
    func checkpoints() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 8)
        let files = scenario.work.filter { $0.hasPrefix("ckpt-") }
        #expect(!files.isEmpty)
        for name in files { try Data("torn".utf8).write(to: URL(filePath: scenario.workFile(name))) }
        #expect(try scenario.rerun().outcome.resumed?.rows == 56)
        try scenario.expectChainDone()
    }

    @Test("after the first step only the second is run", arguments: [KillPoint.verifiedWritten, .stepHandedOver])
    func betweenSteps(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point)
        let rerun = try scenario.rerun()
        #expect(rerun.steps == (point == .verifiedWritten ? [1] : []))
        try scenario.expectChainDone()
    }

    @Test("a run resumes within the second step")
    func secondStep() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 4, inStep: 1)
        let rerun = try scenario.rerun()
        #expect(rerun.steps == [1])
        #expect(rerun.outcome.resumed?.step == 1)
        try scenario.expectChainDone()
    }

    @Test("a damaged store of the second step costs only the second step")
    func damagedSecondStep() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 4, inStep: 1)
        try Data().write(to: URL(filePath: scenario.workFile("step-2.sqlite")))
        #expect(try scenario.rerun().steps == [1])
        try scenario.expectChainDone()
    }

    @Test("an unreadable record of the verification counts as none")
    func unreadableRecord() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .verifiedWritten)
        try Data("{".utf8).write(to: URL(filePath: scenario.workFile("step-1.verified.json")))
        #expect(try scenario.rerun().steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test("a verified step without its store is run again", arguments: [KillPoint.verifiedWritten, .stepHandedOver])
    func verifiedButLost(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point)
        let last = point == .verifiedWritten ? 1 : 2
        try FileManager.default.removeItem(atPath: scenario.workFile("step-\(last).sqlite"))
        #expect(try scenario.rerun().steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test("a record isn't used for a store that was started over", arguments: [KillPoint.verifiedWritten, .sealed])
    func recordOfALostStore(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point, point == .sealed ? 2 : 1)
        for name in scenario.work where name.hasSuffix(".sqlite") {
            try FileManager.default.removeItem(atPath: scenario.workFile(name))
        }
        try scenario.interrupt(afterBatches: 4)
        #expect(!scenario.work.contains { $0.hasSuffix(".verified.json") }, "\(scenario.work)")
        let rerun = try scenario.rerun()
        #expect(rerun.steps == [0, 1])
        #expect(rerun.outcome.resumed?.step == 0)
        try scenario.expectChainDone()
    }

    @Test("a higher verification level removes the records of all later steps too", arguments: [0, 1])
    func laterRecords(stoppedIn stopped: Int) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .sealed, 2)
        var request = scenario.careful()
        request.verification = .full
        // The first step's store isn't needed any more, but it is the first that isn't verified at `full`.
        try scenario.interrupt(afterBatches: 4, inStep: stopped, request)
        let rerun = try scenario.rerun()
        #expect(rerun.steps == (stopped == 0 ? [0, 1] : [1]))
        #expect(rerun.outcome.resumed?.step == stopped)
        try scenario.expectChainDone()
    }

    @Test("a WAL store stays in rollback mode between the runs; its mode is restored at the end")
    func journalMode() throws {
        let scenario = try Scenario.chain(wal: true)
        try scenario.interrupt(afterBatches: 8)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)).prefix(20).suffix(2) == Data([1, 1]))
        #expect(try scenario.rerun().outcome.resumed?.rows == 56)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)).prefix(20).suffix(2) == Data([2, 2]))
        #expect(scenario.work.isEmpty)
    }
}
