import Causeway
import CausewayTool
import Testing

@Suite("The status line", .timeLimit(.minutes(60)))
struct ProgressOnSignalTests {
    @Test("names the current work before there is a step")
    func beginning() {
        #expect(ProgressOnSignal(now: 0).line(now: 9) == "preparing, no checkpoint yet")
    }

    @Test("names step, pass, rows, rate and the checkpoint's age")
    func pass() {
        let status = ProgressOnSignal(now: 0)
        status.receive(.stepBegan(versions: ["v1", "v2"], index: 0, count: 3, rows: 5_000), now: 0)
        status.receive(.passBegan(title: "Post"), now: 0)
        status.receive(.progress(rows: 1_234, bytes: 9, totalRows: 5_000), now: 2)
        status.receive(.checkpoint(sequence: 1, rows: 1_234), now: 2)
        #expect(
            status.line(now: 4.1)
                == "step 1 of 3 (v1 → v2), pass Post, 1,234 of 5,000 rows, 617 rows/s, last checkpoint 2.1 s ago")
    }

    @Test("a phase that moves no rows has no rate")
    func phase() {
        let status = ProgressOnSignal(now: 0)
        status.receive(.progress(rows: 7, bytes: 9, totalRows: 7), now: 2)
        status.receive(.phaseBegan("indexes"), now: 2)
        #expect(status.line(now: 3) == "indexes, 7 of 7 rows, no checkpoint yet")
    }

    @Test("an earlier run's rows count as rows, not for the rate")
    func resumed() {
        let status = ProgressOnSignal(now: 0)
        status.receive(.passBegan(title: "Post"), now: 0)
        status.receive(.resumed(step: 0, rows: 1_000), now: 0)
        status.receive(.progress(rows: 1_010, bytes: 9, totalRows: 2_000), now: 1)
        #expect(status.line(now: 1) == "pass Post, 1,010 of 2,000 rows, 0 rows/s, no checkpoint yet")
        status.receive(.progress(rows: 1_110, bytes: 9, totalRows: 2_000), now: 2)
        #expect(status.line(now: 2) == "pass Post, 1,110 of 2,000 rows, 100 rows/s, no checkpoint yet")
    }

    @Test("after a resume the remaining time is by this run's rate")
    func timeLeft() {
        var meter = ProgressMeter(now: 0)
        meter.rebase()
        meter.update(rows: 900, bytes: 9, total: 1_000, now: 1)
        #expect(meter.secondsLeft == nil)
        meter.update(rows: 910, bytes: 9, total: 1_000, now: 2)
        #expect(meter.secondsLeft == 9)
        #expect(meter.fraction == 0.91)
    }
}
