import CausewayPlatform
import CausewayReliabilityKit
import Foundation
import Testing

/// Pages that the system was asked to write early, and couldn't: it may tell nobody but who asked, and the next fsync
/// succeeds.
@Suite(
    "A medium that fails while the new store is written early",
    .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct WritebackFaultTests {
    @Test("the run ends with 74, the staging store is condemned, and the next run makes it anew", arguments: [1, 2])
    func lost(from request: Int) throws {
        let run = try HarnessRun()
        defer { run.remove() }
        for chain in Subject.Chain.allCases {
            let place = try run.settings.makeFolder("subject-\(chain)")
            let subject = try TrialSubject(Subject(chain), settings: run.settings, folder: place)
            var trial = try Trial(subject, folder: try run.settings.makeFolder("trial-\(chain)"))
            let ending = try trial.run(environment: [
                "LD_PRELOAD": run.settings.faultShim, "CAUSEWAY_FAULT_ROOT": trial.data,
                "CAUSEWAY_FAULT_MODE": "writeback-eio:\(request)",
                // Time for a second request.
                "CAUSEWAY_PAUSE_AT": "rowsMade:300",
            ])
            #expect(ending == .exited(74), "\(chain)")
            #expect(try trial.requireOldOrNew(after: ending) == .old, "\(chain)")
            let left = try Files.list(trial.workDirectory)
            #expect(!left.contains { $0.hasPrefix("step-") && $0.hasSuffix(".sqlite") }, "\(chain): \(left)")
            try trial.settle()
        }
    }
}
