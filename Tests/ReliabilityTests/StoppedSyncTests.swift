import CausewayPlatform
import CausewayReliabilityKit
import Foundation
import Testing

/// Ctrl-C on a disk that fails: what the run says it saved must be saved.
@Suite(
    "A run that is stopped where fsyncs fail", .timeLimit(.minutes(60)),
    .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct StoppedSyncTests {
    private static let interrupt: Int32 = 2

    @Test("whichever fsync fails, after 130 the next run resumes; after other codes it uses nothing that may be lost")
    func failing() throws {
        let run = try HarnessRun()
        defer { run.remove() }
        let place = try run.settings.makeFolder("subject")
        let subject = try TrialSubject(Subject(.split), settings: run.settings, folder: place)
        var (condemned, saved) = (0, 0)
        for number in 1...200 {
            var trial = try Trial(subject, folder: try run.settings.makeFolder("trial-\(number)"))
            let counts = trial.folder + "/counts"
            var habits = Trial.Habits()
            // Only the empty tables are committed before the stop.
            habits.checkpointInterval = Trial.Habits.uncommitted
            let command = trial.command(
                environment: [
                    "LD_PRELOAD": run.settings.faultShim, "CAUSEWAY_FAULT_ROOT": trial.data,
                    "CAUSEWAY_FAULT_COUNT": counts, "CAUSEWAY_FAULT_MODE": "sync-sticky:\(number)",
                    "CAUSEWAY_PAUSE_AT": "batchWritten:250",
                ], habits: habits)
            trial.note(command)
            let process = try ChildRun(command)
            let staging = trial.workDirectory + "/step-1.sqlite"
            // When the file isn't empty, its tables are committed; before that there is nothing to save.
            while process.isRunning, (try? Files.status(of: staging).size) ?? 0 == 0 { usleep(1_000) }
            let wasMade = process.isRunning
            // Waits until the first batch.
            usleep(100_000)
            process.send(Self.interrupt)
            let ending = process.wait(limit: 60)
            let isCondemned = wasMade && !FileManager.default.fileExists(atPath: staging)
            let fired = try FaultRecords.fired(counts) > 0
            #expect(try trial.requireOldOrNew(after: ending) == .old)
            var again = Trial.Habits()
            again.isQuiet = false
            try trial.settle(habits: again)
            if ending == .exited(130) {
                // Everything that the next run needs is durable, even if the copies for `status` are not.
                let said = ChildRun.tail(of: trial.folder + "/settle.txt", bytes: 1 << 20)
                #expect(said.contains("\"event\":\"resumed\""), "fsync \(number)")
                saved += 1
            } else {
                #expect(fired && [.exited(73), .exited(74)].contains(ending), "fsync \(number): \(ending)")
                condemned += isCondemned ? 1 : 0
            }
            guard fired else { break }
        }
        #expect(condemned > 0 && saved > 0)
    }
}
