import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

@Suite("The new store has the mode that the app had", .timeLimit(.minutes(60)))
struct OriginalModeTests {
    private func mode(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)).prefix(20).suffix(2))
    }

    private func expectDone(_ scenario: Scenario, _ mode: [UInt8]) throws {
        #expect(try self.mode(scenario.store) == mode)
        let backup = URL(filePath: scenario.backup).lastPathComponent
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite", backup])
        // A reader leaves an empty -wal.
        #expect(try Database.dump(scenario.store) == Scenario.chainResult.get())
    }

    @Test(
        "a run that is killed before it has a plan doesn't make the next one forget WAL mode",
        arguments: [KillPoint.recovered, .modeNoted, .storeOwned, .planWritten, .swapped])
    func killed(_ point: KillPoint) async throws {
        let scenario = try Scenario.chain(wal: true)
        try await scenario.kill(at: point)
        _ = try scenario.rerun()
        try expectDone(scenario, [2, 2])
    }

    @Test("nor does a run to an output")
    func output() async throws {
        let scenario = try Scenario.chain(wal: true)
        try await scenario.kill(at: .storeOwned)
        #expect(try mode(scenario.store) == [1, 1])
        var request = scenario.request(to: "V4")
        request.output = scenario.folder + "/Output.sqlite"
        _ = try Migration(request).run()
        #expect(try mode(scenario.folder + "/Output.sqlite") == [2, 2])
        #expect(try mode(scenario.store) == [1, 1])
    }

    @Test("nor do two such runs, nor one that discards earlier work")
    func twice() async throws {
        let scenario = try Scenario.chain(wal: true)
        try await scenario.kill(at: .storeOwned)
        try await scenario.kill(at: .storeOwned)
        try await scenario.kill(at: .batchWritten)
        var request = scenario.request(to: "V4")
        request.resume = .restart
        _ = try scenario.rerun(request)
        try expectDone(scenario, [2, 2])
    }

    @Test(
        "the next run restores the mode where it migrates nothing, and says so where it fails",
        arguments: [true, false])
    func givenBack(fails: Bool) async throws {
        let scenario = try Scenario.chain(wal: true)
        try await scenario.kill(at: .storeOwned)
        #expect(try mode(scenario.store) == [1, 1])
        if fails {
            let error = try failure { _ = try Migration(scenario.request(to: "V9")).run() }
            guard case .settled(let what) = error.state else {
                Issue.record("\(error.state)")
                return
            }
            #expect(what.contains("WAL mode again"))
        } else {
            let outcome = try Migration(scenario.request(to: "V1")).run()
            #expect(outcome.prepared.steps.isEmpty)
            #expect(outcome.modeChange?.contains("WAL mode again") == true)
        }
        #expect(try mode(scenario.store) == [2, 2])
        #expect(try scenario.names() == ["Model.xcdatamodeld", "Store.sqlite"])
    }

    @Test("a store in rollback mode that another program put in its place keeps its mode")
    func otherStore() async throws {
        let scenario = try Scenario.chain(wal: true)
        let other = try Scenario.chain()
        try await scenario.kill(at: .storeOwned)
        try FileManager.default.removeItem(atPath: scenario.store)
        try FileManager.default.moveItem(atPath: other.store, toPath: scenario.store)
        let note = scenario.workFile("was-wal")
        #expect(FileManager.default.fileExists(atPath: note))
        _ = try Migration(scenario.request(to: "V4")) { event in
            // The new store may get the number of the file that the note is about.
            if case .stepBegan = event { #expect(!FileManager.default.fileExists(atPath: note)) }
        }.run()
        try expectDone(scenario, [1, 1])
    }
}
