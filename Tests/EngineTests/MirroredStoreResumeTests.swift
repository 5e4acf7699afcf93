import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Testing

/// Interrupted migrations of stores that CloudKit mirrors: named so that one filter finds both suites.
@Suite("Stores that CloudKit mirrors, resumed", .timeLimit(.minutes(60)))
struct MirroredStoreTestsOfResuming {
    /// Of an undisturbed run.
    private static let result = Result {
        let scenario = try MirroredLibrary.scenario()
        _ = try Migration(scenario.carrying()).run()
        return try Database.dump(scenario.store)
    }

    struct Death: Sendable, CustomTestStringConvertible {
        let point: KillPoint
        let count: Int
        let engine: EngineChoice
        var testDescription: String { "\(point) \(count), \(engine)" }
    }

    private static let inStatements: [(KillPoint, Int)] = [
        (.batchWritten, 1), (.batchWritten, 40), (.committed, 90), (.indexMade, 4), (.schemaFinished, 1),
        (.verified, 1),
        (.backupLinked, 1), (.swapped, 1),
    ]
    private static let inPages: [(KillPoint, Int)] = [
        (.pagesBegun, 1), (.pagesDone, 1), (.schemaFinished, 1), (.verified, 1), (.swapped, 1),
    ]
    static let deaths =
        inStatements.map { Death(point: $0.0, count: $0.1, engine: .statements) }
        + inPages.map { Death(point: $0.0, count: $0.1, engine: .pages) }

    @Test("a run that is killed is resumed to the same store", arguments: deaths)
    func killed(_ death: Death) async throws {
        let scenario = try MirroredLibrary.scenario()
        try await scenario.kill(at: death.point, death.count, engine: death.engine, cloudKit: .carry)
        _ = try scenario.rerun(scenario.carrying(engine: death.engine))
        #expect(try Database.dump(scenario.store) == Self.result.get())
    }

    @Test(
        "a run that is stopped in a table of the mirror is resumed, in fused steps as in single ones",
        arguments: [true, false])
    func stopped(fuses: Bool) throws {
        let scenario = try MirroredLibrary.scenario()
        var request = scenario.carrying(fuses: fuses, batchRows: 7, engine: .statements)
        (request.options.jobs, request.options.checkpointInterval) = (1, 0)
        var title = ""
        try scenario.interrupt(request) { event in
            if case .passBegan(let pass) = event { title = pass }
            if case .progress = event { return title == "ANSCKRECORDMETADATA" }
            return false
        }
        let rerun = try scenario.rerun(request)
        #expect((rerun.outcome.resumed?.rows ?? 0) > 0)
        #expect(try Database.dump(scenario.store) == Self.result.get())
    }

    @Test("unfinished work isn't resumed without the option")
    func otherChoice() throws {
        let scenario = try MirroredLibrary.scenario()
        var request = scenario.carrying(batchRows: 7, engine: .statements)
        (request.options.jobs, request.options.checkpointInterval) = (1, 0)
        try scenario.interrupt(afterBatches: 5, request)
        request.cloudKit = .refuse
        let error = try failure { _ = try scenario.rerun(request) }
        #expect(error.kind == .foreignCheckpoint, "\(error)")
        #expect(error.details == ["--cloudkit: was “carry”, is “refuse”"])
    }
}
