import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Synchronization
import Testing

/// A run that is asked to stop saves what it has; the next one resumes and gives the result of an undisturbed run.
@Suite("Cancellation", .timeLimit(.minutes(60)))
struct CancellationTests {
    @Test(
        "in every phase the store stays as it is, the work is kept, and the next run resumes",
        arguments: ["check", "indexes", "verification", "swap"], [EngineError.Kind.interrupted, .terminated])
    func phases(_ phase: String, _ kind: EngineError.Kind) throws {
        let scenario = try Scenario.chain()
        let store = try Data(contentsOf: URL(filePath: scenario.store))
        let cancellation = Cancellation()
        let run = Migration(scenario.request(to: "V4", engine: .statements), cancellation: cancellation) { event in
            if case .phaseBegan(phase) = event { cancellation.cancel(kind) }
        }
        let error = try failure { _ = try run.run() }
        #expect(error.kind == kind)
        #expect(error.isResumable == (phase != "check"))
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == store)
        // Before the first row there is nothing to keep.
        #expect(scenario.work.isEmpty == (phase == "check"))
        let rerun = try scenario.rerun()
        #expect((rerun.outcome.resumed == nil) == (phase == "check" || phase == "swap"))
        try scenario.expectChainDone()
    }

    @Test("a stop between two checkpoints saves everything up to the last batch")
    func savesAtTheEnd() throws {
        let scenario = try Scenario.chain()
        // Commits come once a second: nothing but the tables is committed when the stop comes.
        try scenario.interrupt(afterBatches: 6, scenario.request(to: "V4", batchRows: 7, jobs: 1, engine: .statements))
        #expect(scenario.work.contains { $0.hasPrefix("ckpt-1-") })
        #expect(try scenario.rerun().outcome.resumed?.rows == 42)
        try scenario.expectChainDone()
    }

    @Test("a run that is stopped after every batch gives the same result", arguments: [1, 4])
    func again(jobs: Int) throws {
        let scenario = try Scenario.chain()
        var (runs, isDone) = (0, false)
        while !isDone {
            let cancellation = Cancellation()
            var batches = 0
            let run = Migration(
                scenario.request(to: "V4", batchRows: 25, jobs: jobs), cancellation: cancellation
            ) { event in
                // The first batch may be the end of a pass that has all its rows already.
                if case .progress = event { batches += 1 }
                if batches == 2 { cancellation.cancel() }
            }
            runs += 1
            do {
                _ = try run.run()
                isDone = true
            } catch {
                #expect(error.kind == .interrupted, "\(error)")
                if runs > 200 { throw error }
            }
        }
        #expect(runs > 5)
        try scenario.expectChainDone()
    }

    /// Requests a stop again and again, so that one request comes in the middle of a statement.
    private final class Insistence: Sendable {
        private let isOver = Mutex(false)

        func ask(_ cancellation: Cancellation) {
            Thread.detachNewThread {
                while !self.isOver.withLock({ $0 }) {
                    cancellation.cancel()
                    Thread.sleep(forTimeInterval: 0.000_5)
                }
            }
        }

        func end() { isOver.withLock { $0 = true } }
    }

    @Test("inside CREATE INDEX", arguments: ["CREATE INDEX", "CREATE TABLE"])
    func statements(_ prefix: String) throws {
        let scenario = try Scenario.chain()
        let (cancellation, insistence) = (Cancellation(), Insistence())
        let run = Migration(scenario.careful(), cancellation: cancellation) { event in
            if case .statement(let sql) = event, sql.hasPrefix(prefix) { insistence.ask(cancellation) }
        }
        let error = try failure { _ = try run.run() }
        insistence.end()
        #expect(error.kind == .interrupted, "\(error)")
        let rerun = try scenario.rerun()
        #expect(rerun.warnings.isEmpty)
        try scenario.expectChainDone()
    }

    final class PlainPolicy: EntityMigrationPolicy {
        override class var isResumable: Bool { true }
    }

    private func mapped() throws -> (Scenario, MigrationRequest) {
        let scenario = try Scenario(
            FailureTests.from, model(entity("Thing", attribute("text", optional: false), attribute("more"))),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, 'text ' || i FROM n;
                """)
        var code = MigrationCode()
        code.add(SwiftMappingModel(from: "V1", to: "V2") { TransformEntity("Thing", policy: PlainPolicy.self) })
        var request = scenario.careful()
        request.code = code
        return (scenario, request)
    }

    @Test("inside the validation")
    func validation() throws {
        let (scenario, request) = try mapped()
        try scenario.interrupt(request) { if case .phaseBegan("validation") = $0 { true } else { false } }
        #expect(try scenario.rerun(request).outcome.resumed?.rows == 200)
        #expect(try scenario.rows("SELECT count(ZTEXT) FROM ZTHING") == ["200"])
    }

    @Test("between two rows of a policy")
    func policy() throws {
        let (scenario, request) = try mapped()
        try scenario.interrupt(afterBatches: 10, request)
        let rerun = try scenario.rerun(request)
        #expect(rerun.outcome.resumed?.rows == 70)
        #expect(rerun.outcome.createdRows == 200)
        #expect(try scenario.rows("SELECT count(*), sum(Z_PK) FROM ZTHING") == ["200|20100"])
    }

    @Test("inside a handler: its changes are undone, and it runs again on the rows as they were")
    func handler() throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        let cancellation = Cancellation()
        let calls = Mutex(0)
        var code = MigrationCode()
        code.stages = try StagedMigration([
            CustomMigrationStage(
                migratingFrom: "V1", to: "V2",
                didMigrate: { manager, _ in
                    try manager.context.forEach(FetchRequest("Thing")) { thing in
                        try thing.set("text", to: (try thing.string("text") ?? "") + "!")
                    }
                    try manager.save()
                    if calls.withLock({
                        $0 += 1; return $0
                    }) == 1 {
                        cancellation.cancel()
                    }
                })
        ])
        var request = scenario.careful()
        request.code = code
        let error = try failure { _ = try Migration(request, cancellation: cancellation).run() }
        #expect(error.kind == .interrupted)
        #expect(try scenario.rerun(request).outcome.resumed?.rows == 2)
        #expect(calls.withLock { $0 } == 2)
        #expect(try scenario.rows("SELECT ZTEXT FROM ZTHING") == ["'a!'", "'a!'"])
    }
}
