import CausewayReliabilityKit
import Testing

/// The subset of the harnesses for every submission. They run one after the other: each starts processes on all cores.
@Suite("Reliability, quick subset", .timeLimit(.minutes(60)), .serialized)
struct QuickSubsetTests {
    @Test("SIGKILL at every named place: no place is missed, no row is lost")
    func killPoints() throws {
        try HarnessRun.expectClean("kill-points", atLeast: 40)
    }

    @Test("calls that fail")
    func faults() throws {
        try HarnessRun.expectClean("faults", atLeast: 15, scale: 0.3)
    }

    @Test("a failed fsync and a power cut together")
    func failedSyncs() throws {
        try HarnessRun.expectClean("failed-syncs", atLeast: 20)
    }

    @Test("source, plan or progress changed between two runs")
    func changes() throws {
        try HarnessRun.expectClean("changes", atLeast: 12, scale: 0.5)
    }

    @Test("SIGKILL at random moments")
    func randomKills() throws {
        try HarnessRun.expectClean("random-kills", atLeast: 3, scale: 0.33)
    }

    @Test("signals")
    func signals() throws {
        try HarnessRun.expectClean("signals", atLeast: 8, scale: 0.33)
    }

    @Test("writers, readers and two migrators at once")
    func concurrency() throws {
        try HarnessRun.expectClean("concurrency", atLeast: 4, scale: 0.5)
    }

    @Test("no memory for SQLite")
    func memory() throws {
        try HarnessRun.expectClean("memory", atLeast: 8, scale: 0.5)
    }

    @Test("disks that are too small, or fill up")
    func disks() throws {
        try HarnessRun.expectClean("disk-sizes", atLeast: 4, scale: 0.5)
    }

    @Test("power cuts")
    func powerCuts() throws {
        try HarnessRun.expectClean("power-cuts", atLeast: 2, scale: 0.33)
    }
}
