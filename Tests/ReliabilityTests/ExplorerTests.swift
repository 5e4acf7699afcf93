import CausewayPreparation
import CausewayReliabilityKit
import Foundation
import Testing

/// A part of what `reliability` explores in full: every nth crash point before the swap, and all of the swap's.
@Suite(
    "Crash explorer", .timeLimit(.minutes(60)), .serialized,
    .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct ExplorerTests {
    @Test(
        "the store is the old or the new one at every instant, and the run can be resumed",
        arguments: [
            (Subject.Chain.inferred, 1_500), (.split, 500), (.staged, 400), (.merged, 900), (.fused, 300),
        ])
    func quick(_ chain: Subject.Chain, stride: Int) throws {
        var settings = CrashExplorer.Settings(Subject(chain))
        settings.stride = stride
        settings.jobs = 2
        settings.swapStride = 12
        settings.statesPerPoint = 8
        try expectClean(settings)
    }

    /// Every nth operation among the pages of both steps; `reliability run --full` tries all states after each, of all
    /// chains.
    @Test("pages that are written without a connection can be resumed wherever a crash stops them")
    func pages() throws {
        var settings = CrashExplorer.Settings(Subject(.inferred, engine: .pages))
        settings.isAmongPages = true
        settings.jobs = 2
        settings.stride = 3
        settings.statesPerPoint = 3
        try expectClean(settings)
    }

    @Test("deliberate breaks of the page engine's protocol are seen", arguments: ["noPageSync", "noWholeSync"])
    func pageMutants(_ mutant: String) throws {
        var settings = CrashExplorer.Settings(Subject(.inferred, engine: .pages))
        settings.isAmongPages = true
        settings.work.mutant = mutant
        settings.stopsAtFailure = true
        settings.jobs = 2
        let result = try CrashExplorer(settings).run()
        #expect(!result.isClean, "\(mutant): \(result.different) states, none of them is bad")
    }

    @Test("the swap survives every order in which its changes may reach the disk", arguments: [false, true])
    func swap(splitsRenames: Bool) throws {
        var settings = CrashExplorer.Settings(Subject(.staged, state: .clean))
        settings.isExhaustiveSwap = true
        settings.swapStride = 3
        settings.splitsRenames = splitsRenames
        settings.jobs = 2
        try expectClean(settings)
    }

    @Test("a state is replayed by its label")
    func replay() throws {
        var settings = CrashExplorer.Settings(Subject(.staged, state: .clean))
        settings.only = "10:d:all,n:none"
        let result = try CrashExplorer(settings).run()
        #expect(result.different == 1)
        #expect(result.isClean, "\(result.failures)")
    }

    @Test("deliberate breaks of the protocol are seen", arguments: ["twoRenames", "noDirectorySync"])
    func mutants(_ mutant: String) throws {
        var settings = CrashExplorer.Settings(Subject(.staged, state: .clean))
        // Only the first crash point before the swap.
        settings.stride = 1_000_000
        settings.statesPerPoint = 40
        settings.work.mutant = mutant
        settings.stopsAtFailure = true
        settings.jobs = 2
        let result = try CrashExplorer(settings).run()
        #expect(!result.isClean, "\(mutant): \(result.different) states, none of them is bad")
    }

    private func expectClean(_ settings: CrashExplorer.Settings) throws {
        let result = try CrashExplorer(settings).run()
        #expect(result.isClean, "\(result.failures.joined(separator: "\n"))")
        #expect(result.different > 20)
        #expect(result.survived == result.different)
    }
}
