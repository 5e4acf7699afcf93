import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Runs that end before they are done, and the results of the runs after them.
extension Scenario {
    /// Four versions in two steps, some hundred rows.
    static func chain(wal: Bool = false) throws -> Scenario {
        let versions = SameResultTests.versions
        return try Scenario(versions[0], versions[1], versions[2], versions[3], wal: wal, rows: chainRows)
    }

    private static let chainRows = SameResultTests.rows.replacing("1500", with: "60").replacing("300", with: "30")

    /// The result of an undisturbed run of `chain()`.
    static let chainResult = Result {
        let scenario = try chain()
        try scenario.migrate()
        return try Database.dump(scenario.store)
    }

    /// By statements; every batch of 7 rows is a commit.
    func careful(to target: String? = nil, output: String? = nil) -> MigrationRequest {
        var request = request(to: target ?? lastVersion, output: output, batchRows: 7, jobs: 1, engine: .statements)
        request.options.checkpointInterval = 0
        request.options.copyChunkBytes = Self.smallChunk
        return request
    }

    /// Bytes of a chunk of a copy: a store of some hundred kilobytes has several.
    private static let smallChunk = 64 << 10

    /// Runs up to the first event for which `isHere` holds, and stops there.
    func interrupt(_ request: MigrationRequest? = nil, at isHere: @escaping (EngineEvent) -> Bool) throws {
        let cancellation = Cancellation()
        let run = Migration(request ?? careful(), cancellation: cancellation) { event in
            if isHere(event) { cancellation.cancel() }
        }
        let error = try failure { _ = try run.run() }
        #expect(error.kind == .interrupted, "\(error)")
        #expect(error.isResumable)
    }

    /// Stops after so many batches.
    func interrupt(afterBatches count: Int, _ request: MigrationRequest? = nil) throws {
        var batches = 0
        try interrupt(request) { event in
            if case .progress = event { batches += 1 }
            return batches == count
        }
    }

    /// Stops after so many batches of one step, counted from 0.
    func interrupt(afterBatches count: Int, inStep wanted: Int, _ request: MigrationRequest? = nil) throws {
        var (step, batches) = (0, 0)
        try interrupt(request) { event in
            if case .stepBegan(_, let index, _, _) = event { (step, batches) = (index, 0) }
            if case .progress = event { batches += 1 }
            return step == wanted && batches == count
        }
    }

    /// The arguments of the process that is killed.
    private struct Errand: Codable, Sendable {
        let place: String
        let store: String
        let models: String
        let target: String
        let output: String?
        let engine: String
        let cloudKit: String
        let interval: Double
    }

    /// Runs in a process that is killed at a point of the protocol; `interval` is in seconds, between two checkpoints.
    func kill(
        at point: KillPoint, _ count: Int = 1, to target: String? = nil, output: String? = nil,
        engine: EngineChoice = .statements, cloudKit: CloudKitPolicy = .refuse, interval: Double = 0
    ) async throws {
        let errand = Errand(
            place: "\(point.rawValue):\(count)", store: store, models: models, target: target ?? lastVersion,
            output: output, engine: engine.rawValue, cloudKit: cloudKit.rawValue, interval: interval)
        await #expect(processExitsWith: .signal(SIGKILL)) { [errand = errand as Errand] in
            unsafe setenv("CAUSEWAY_HARNESS", "1", 1)
            unsafe setenv("CAUSEWAY_KILL_AT", errand.place, 1)
            var request = MigrationRequest(
                store: errand.store, models: errand.models, output: errand.output, target: errand.target,
                options: EngineOptions(batchRows: 7, jobs: 1))
            request.options.checkpointInterval = errand.interval
            request.options.copyChunkBytes = Scenario.smallChunk
            request.options.engine = EngineChoice(rawValue: errand.engine) ?? .auto
            request.cloudKit = CloudKitPolicy(rawValue: errand.cloudKit) ?? .refuse
            _ = try Migration(request).run()
        }
    }

    /// What a run did, and the events that it sent.
    struct Rerun {
        let outcome: MigrationOutcome
        let events: [EngineEvent]

        var warnings: [String] {
            events.compactMap { if case .warning(let text) = $0 { text } else { nil } }
        }
        /// Indexes of the steps that ran.
        var steps: [Int] {
            events.compactMap { if case .stepBegan(_, let index, _, _) = $0 { index } else { nil } }
        }
    }

    func rerun(_ request: MigrationRequest? = nil) throws -> Rerun {
        var events: [EngineEvent] = []
        let outcome = try Migration(request ?? self.request(to: lastVersion, engine: .statements)) { events.append($0) }
            .run()
        return Rerun(outcome: outcome, events: events)
    }

    /// Checks that the store is that of an undisturbed run, with one backup and no work left.
    func expectChainDone(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Database.dump(store) == Self.chainResult.get(), sourceLocation: sourceLocation)
        #expect(backups.count == 1, sourceLocation: sourceLocation)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(
            names == ["Model.xcdatamodeld", "Store.sqlite", URL(filePath: backup).lastPathComponent],
            sourceLocation: sourceLocation)
    }

    func inode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? NSNumber)?.intValue
    }

    /// Every file and folder, without the lock file's text about its last holder and without the -shm, which any reader
    /// may rebuild.
    func everything() throws -> [String: String] {
        try snapshot(folder).filter { !$0.key.hasSuffix(".migration/lock") && !$0.key.hasSuffix("-shm") }
    }

    /// Files of the work directory.
    var work: [String] { (try? FileManager.default.contentsOfDirectory(atPath: workDirectory))?.sorted() ?? [] }

    func workFile(_ name: String) -> String { workDirectory + "/" + name }
}
