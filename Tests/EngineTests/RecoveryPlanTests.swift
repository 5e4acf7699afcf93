import CausewayEngine
import CausewayObjects
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Synchronization
import Testing

/// Unfinished work is resumed only where plan and source are the same.
@Suite("Recovery: which work may be resumed", .timeLimit(.minutes(60)))
struct RecoveryPlanTests {
    @Test(
        "a run that was killed before its plan was there is started over", arguments: [KillPoint.locked, .storeOwned])
    func withoutPlan(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point)
        #expect(scenario.work == ["lock"])
        let rerun = try scenario.rerun()
        #expect(rerun.outcome.resumed == nil)
        #expect(rerun.steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test("an unreadable plan counts as none, and the files beside it are removed", arguments: [0, 1, 40])
    func unreadablePlan(bytes: Int) throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        let plan = URL(filePath: scenario.workFile("plan.json"))
        try Data(contentsOf: plan).prefix(bytes).write(to: plan)
        // Files of a run that is killed while it writes a record.
        try Data("{".utf8).write(to: URL(filePath: plan.path + ".tmp"))
        let rerun = try scenario.rerun()
        #expect(rerun.outcome.resumed == nil)
        #expect(rerun.steps == [0, 1])
        try scenario.expectChainDone()
    }

    @Test("a plan of another format is refused, and --restart discards it")
    func foreignFormat() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        let path = scenario.workFile("plan.json")
        let text = try String(contentsOfFile: path, encoding: .utf8).replacing(
            "causeway-plan-1", with: "causeway-plan-2")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        let before = try scenario.everything()
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .foreignCheckpoint)
        #expect(error.message.contains("causeway-plan-2"))
        #expect(try scenario.everything() == before)
        var request = scenario.request(to: "V4")
        request.resume = .restart
        _ = try scenario.rerun(request)
        try scenario.expectChainDone()
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        /// What the refusal must say.
        let says: String
        let make: @Sendable (inout MigrationRequest) throws -> Void
        var testDescription: String { name }
    }

    static let changes = [
        Change(name: "another target", says: "the path: was “V1 → V2 → V3 → V4”, is “V1 → V2 → V3”") {
            $0.target = "V3"
        },
        Change(name: "a jump", says: "the path: was") { $0.edges = ["V1": "V3"] },
        Change(name: "single steps", says: "the model “V2”") { $0.fusesSteps = false },
        Change(name: "another framework", says: "the framework version: was “1509”, is “1345”") {
            $0.frameworkVersion = 1345
        },
        Change(name: "another rule for violations", says: "--on-violation: was “stop”") { $0.violations = .useDefault },
        Change(name: "quarantine", says: "--bad-rows: was “fail”, is “quarantine”") {
            $0.badRows = .quarantine
            $0.rejects = $0.store + ".rejects"
        },
        Change(name: "a name of a join table", says: "--join-table: was “”, is “Z_1AUTHORS”") {
            $0.joinTables = ["z_1authors"]
        },
        Change(name: "metadata", says: "--set-metadata: was “”, is “build=int:5”") {
            $0.metadata = ["build": .integer(5)]
        },
        Change(name: "links that may end", says: "--end-links: was “no”, is “yes”") { $0.endsLinks = true },
        Change(name: "a mirror that is carried", says: "--cloudkit: was “refuse”, is “carry”") { $0.cloudKit = .carry },
        Change(name: "a key map", says: "--key-map") { $0.keyMap = $0.store + ".keys" },
        Change(name: "an edited model", says: "the passes of V1") { request in
            let path = request.models[0] + "/V2.xcdatamodel/contents"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("\"18\"", with: "\"19\"").write(toFile: path, atomically: true, encoding: .utf8)
        },
        Change(name: "another default in the last model", says: "values and rules of the model “V4”") { request in
            let path = request.models[0] + "/V4.xcdatamodel/contents"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let changed = text.replacing(
                "attributeType=\"String\"", with: "attributeType=\"String\" defaultValueString=\"?\"",
                maxReplacements: 1)
            #expect(changed != text)
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
        },
    ]

    @Test("another plan is refused with the differences and without a change; --restart accepts it", arguments: changes)
    func otherPlan(_ change: Change) throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        var request = scenario.request(to: "V4")
        try change.make(&request)
        let before = try scenario.everything()
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .foreignCheckpoint, "\(error)")
        #expect(error.details.contains { $0.contains(change.says) }, "\(error)")
        #expect(error.remedy.contains("--restart"))
        #expect(try scenario.everything() == before)
        request.resume = .restart
        #expect(try scenario.rerun(request).outcome.resumed == nil)
        #expect(scenario.work.isEmpty)
        #expect(scenario.backups.count == 1)
    }

    @Test("another store of the same size and header isn't resumed; --restart accepts it")
    func otherStore() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        var bytes = try Data(contentsOf: URL(filePath: scenario.store))
        let place = try #require(bytes.range(of: Data(Scenario.uuid.utf8)))
        bytes.replaceSubrange(place, with: Data("F".utf8) + Data(Scenario.uuid.utf8).dropFirst())
        try bytes.write(to: URL(filePath: scenario.store))
        let before = try scenario.everything()
        var request = scenario.request(to: "V4")
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .undecided, "\(error)")
        #expect(error.details.contains { $0.contains("NSStoreUUID") }, "\(error)")
        #expect(try scenario.everything() == before)
        request.resume = .restart
        #expect(try scenario.rerun(request).outcome.resumed == nil)
        #expect(scenario.work.isEmpty)
    }

    @Test("batch size, workers, checkpoints, compression and verification may differ")
    func otherWork() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        var request = scenario.request(to: "V4", batchRows: 1, jobs: 4, engine: .statements)
        request.options.checkpointInterval = 0.01
        request.options.compressionLevel = 19
        request.options.batchBytes = 10_000
        request.verification = .full
        request.swapTimeout = 1
        #expect(try scenario.rerun(request).outcome.resumed?.rows == 35)
        try scenario.expectChainDone()
    }

    final class RevisedPolicy: EntityMigrationPolicy {
        static let current = Mutex(1)
        override class var revision: Int { current.withLock { $0 } }
    }

    final class RevisedManager: MigrationManager {
        static let current = Mutex(1)
        override class var isResumable: Bool { true }
        override class var revision: Int { current.withLock { $0 } }
    }

    @Test("a policy or a manager of another revision is refused by its name", .serialized, arguments: [true, false])
    func revision(ofPolicy: Bool) throws {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        var code = MigrationCode()
        code.add(SwiftMappingModel(from: "V1", to: "V2") { TransformEntity("Thing", policy: RevisedPolicy.self) })
        code.managerType = RevisedManager.self
        var request = scenario.careful(to: "V2")
        request.code = code
        func set(_ revision: Int) {
            if ofPolicy {
                RevisedPolicy.current.withLock { $0 = revision }
            } else {
                RevisedManager.current.withLock { $0 = revision }
            }
        }
        try scenario.interrupt(request) { if case .phaseBegan("indexes") = $0 { true } else { false } }
        set(2)
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .foreignCheckpoint)
        let manager = "\(RevisedManager.self)"
        #expect(
            error.details == [
                ofPolicy
                    ? "the policy “RevisedPolicy”: was “revision 1”, is “revision 2”"
                    : "the manager's class: was “\(manager)”, is “\(manager), revision 2”"
            ], "\(error.details)")
        set(1)
        #expect(try scenario.rerun(request).outcome.resumed != nil)
    }

    @Test("a store that was written to since is refused, and --restart migrates its current rows")
    func changedSource() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        try Scenario.execute("UPDATE ZTAG SET ZLABEL = 'new' WHERE Z_PK = 1", scenario.store)
        try expectChanged(scenario, says: "header")
    }

    @Test("a -wal with content shows that the store was written to")
    func writtenWAL() throws {
        let scenario = try Scenario.chain(wal: true)
        try scenario.interrupt(afterBatches: 5)
        let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try writer.setJournalMode(.wal)
        try writer.setNoCheckpointOnClose(true)
        try writer.execute("UPDATE ZTAG SET ZLABEL = 'new' WHERE Z_PK = 1")
        try writer.close()
        try expectChanged(scenario, says: "-wal holds data")
    }

    private func expectChanged(_ scenario: Scenario, says text: String) throws {
        let before = try scenario.everything()
        var request = scenario.request(to: "V4")
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .undecided)
        #expect(error.details.contains { $0.contains(text) }, "\(error)")
        #expect(error.remedy.contains("--restart"))
        #expect(try scenario.everything() == before)
        request.resume = .restart
        request.target = "V3"
        #expect(try scenario.rerun(request).outcome.resumed == nil)
        #expect(try scenario.rows("SELECT ZLABEL FROM ZTAG WHERE Z_PK = 1") == ["'new'"])
    }

    @Test("an output whose source was written to since is refused", arguments: [true, false])
    func changedOutputSource(wal: Bool) throws {
        let scenario = try Scenario.chain(wal: wal)
        let request = scenario.careful(output: scenario.folder + "/Out.sqlite")
        try scenario.interrupt(afterBatches: 5, request)
        let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try writer.setNoCheckpointOnClose(true)
        try writer.execute("UPDATE ZTAG SET ZLABEL = 'new' WHERE Z_PK = 1")
        try writer.close()
        #expect(try failure { _ = try scenario.rerun(request) }.kind == .undecided)
    }

    @Test("a store that another program has migrated meanwhile needs no migration")
    func migratedMeanwhile() throws {
        let (scenario, other) = (try Scenario.chain(), try Scenario.chain())
        try scenario.interrupt(afterBatches: 5)
        try other.migrate()
        try FileManager.default.removeItem(atPath: scenario.store)
        try FileManager.default.copyItem(atPath: other.store, toPath: scenario.store)
        let rerun = try scenario.rerun()
        #expect(rerun.outcome.prepared.steps.isEmpty)
        #expect(scenario.work.isEmpty)
    }

    @Test("--no-resume refuses and changes nothing; without unfinished work it has no effect")
    func noResume() throws {
        let scenario = try Scenario.chain()
        try scenario.interrupt(afterBatches: 5)
        var request = scenario.request(to: "V4")
        request.resume = .refuse
        let before = try scenario.everything()
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .undecided)
        #expect(try scenario.everything() == before)
        let fresh = try Scenario.chain()
        request.store = fresh.store
        request.models = [fresh.models]
        _ = try fresh.rerun(request)
        try fresh.expectChainDone()
    }

    @Test("another program's file at a side file's path is refused each time, and keeps its bytes")
    func foreignSideFile() throws {
        let scenario = try Scenario.chain()
        var request = scenario.request(to: "V4")
        request.rejects = scenario.folder + "/rejects.jsonl"
        try Data("mine".utf8).write(to: URL(filePath: scenario.folder + "/rejects.jsonl"))
        let before = try scenario.everything()
        for _ in 1...2 {
            #expect(try failure { _ = try scenario.rerun(request) }.kind == .cannotCreate)
            #expect(try scenario.everything() == before)
        }
    }
}
