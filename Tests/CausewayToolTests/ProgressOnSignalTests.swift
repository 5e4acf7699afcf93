import Causeway
import CausewayTool
import Testing

@Suite("The status line", .timeLimit(.minutes(60)))
struct ProgressOnSignalTests {
    private func progress(_ rows: Int, of total: Int, _ fraction: Double, left: Double? = nil) -> MigrationEvent {
        var progress = MigrationProgress()
        (progress.rows, progress.totalRows, progress.bytes) = (rows, total, 9)
        (progress.fraction, progress.remainingSeconds) = (fraction, left)
        return .progress(progress)
    }

    @Test("names the current work before there is a step")
    func beginning() {
        #expect(ProgressOnSignal(now: 0).line(now: 9) == "preparing, no checkpoint yet")
    }

    @Test("names step, pass, rows, rate and the checkpoint's age")
    func pass() {
        let status = ProgressOnSignal(now: 0)
        status.receive(.stepBegan(versions: ["v1", "v2"], index: 0, count: 3, rows: 5_000), now: 0)
        status.receive(.passBegan(title: "Post"), now: 0)
        status.receive(progress(1_234, of: 5_000, 0.42, left: 72), now: 2)
        status.receive(.checkpoint(sequence: 1, rows: 1_234), now: 2)
        #expect(
            status.line(now: 4.1)
                == "step 1 of 3 (v1 → v2), pass Post, 1,234 of 5,000 rows, 617 rows/s, 42 %, 1:12 left, "
                + "last checkpoint 2.1 s ago")
    }

    @Test("a phase that moves no rows has no rate")
    func phase() {
        let status = ProgressOnSignal(now: 0)
        status.receive(progress(7, of: 7, 0.5), now: 2)
        status.receive(.phaseBegan("indexes"), now: 2)
        #expect(status.line(now: 3) == "indexes, 7 of 7 rows, 50 %, estimating the time left, no checkpoint yet")
    }

    @Test("an earlier run's rows count as rows, not for the rate")
    func resumed() {
        let status = ProgressOnSignal(now: 0)
        status.receive(.passBegan(title: "Post"), now: 0)
        status.receive(.resumed(step: 0, rows: 1_000), now: 0)
        status.receive(progress(1_010, of: 2_000, 0.5), now: 1)
        #expect(status.line(now: 1).hasPrefix("pass Post, 1,010 of 2,000 rows, 0 rows/s, "))
        status.receive(progress(1_110, of: 2_000, 0.55), now: 2)
        #expect(status.line(now: 2).hasPrefix("pass Post, 1,110 of 2,000 rows, 100 rows/s, "))
    }
}
