import CausewayFuzzTargets
import Foundation
import Testing

@Suite("ZZFull") struct ZZFull {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["H2_TIMES"] != nil)) func times() throws {
        for name in DamageHarness.hostileInputs {
            func cpu(_ who: Int32) -> Int { var r = rusage(); _ = unsafe getrusage(who, &r); return r.ru_utime.tv_sec * 1000 + r.ru_utime.tv_usec / 1000 + r.ru_stime.tv_sec * 1000 + r.ru_stime.tv_usec / 1000 }
            let a = (cpu(0), cpu(-1))
            let r = try DamageHarness(command: ProcessInfo.processInfo.environment["H2_COMMAND"] ?? "", folder: "/dev/shm/h2").hostile([name])
            print("TIME", cpu(0) - a.0, cpu(-1) - a.1, name, r.refused.keys.sorted(), r.failures)
        }
    }
    @Test(.enabled(if: ProcessInfo.processInfo.environment["H2_COMMAND"] != nil)) func full() throws {
        let e = ProcessInfo.processInfo.environment
        let start = ContinuousClock.now
        let result = try DamageHarness.run(
            command: e["H2_COMMAND"] ?? "", seed: UInt64(e["H2_SEED"] ?? "1") ?? 1, isQuick: e["H2_FULL"] == nil,
            fixtures: Corpus.package.appendingPathComponent("Fixtures").path, sharedStores: "/work/shared/stores",
            scratch: "/dev/shm/h2", threads: 2, scale: Double(e["H2_SCALE"] ?? "1") ?? 1, findings: "/tmp/h2/findings",
            say: { print($0) })
        print("seconds", (ContinuousClock.now - start) / .seconds(1))
        print(
            "tried", result.tried, "survived", result.survived, "lost", result.rowsLost, "crashed", result.crashed,
            "slowest", result.slowest)
        for d in result.details.sorted(by: { $0.key < $1.key }) { print(d.key, d.value) }
        try (result.unusual + ["FAILURES"] + result.failures + result.skipped).joined(separator: "\n").write(
            toFile: "/tmp/h2/report.txt", atomically: true, encoding: .utf8)
    }
}
