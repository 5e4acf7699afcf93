import Causeway
import CausewayTool
import Testing

@Suite("Figures and progress", .timeLimit(.minutes(60)))
struct FiguresTests {
    @Test(
        "numbers are grouped by three",
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"),
            (Int.min, "-9,223,372,036,854,775,808"),
        ])
    func grouped(number: Int, text: String) {
        #expect(Figures.grouped(number) == text)
    }

    @Test(
        "sizes have one unit that fits",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
            (12_345_678, "12.3 MB"), (Int.max, "9,223.4 PB"),
        ])
    func bytes(count: Int, text: String) {
        #expect(Figures.bytes(count) == text)
    }

    @Test(
        "times are short",
        arguments: [(0, "0.0 s"), (0.44, "0.4 s"), (60, "1:00"), (3_723, "1:02:03"), (.infinity, "8784:00:00")])
    func seconds(value: Double, text: String) {
        #expect(Figures.seconds(value) == text)
    }

    private func progress(_ rows: Int, _ fraction: Double, left: Double?) -> MigrationProgress {
        var progress = MigrationProgress()
        (progress.rows, progress.bytes, progress.totalRows) = (rows, rows * 100, 400)
        (progress.fraction, progress.remainingSeconds) = (fraction, left)
        return progress
    }

    @Test("rates are those of the last seconds, the rest is the whole run's")
    func meter() {
        var meter = ProgressMeter(now: 100)
        #expect(meter.whole == [])
        for second in 1...10 {
            meter.update(progress(second * 10, 0.1, left: nil), now: 100 + Double(second))
        }
        #expect(meter.text("Post", movesRows: true) == " 10 %  estimating  100 rows  10 rows/s  1.0 kB/s  Post")
        // From here on twice as fast.
        for second in 1...5 {
            meter.update(progress(100 + second * 20, 0.5, left: 15), now: 110 + Double(second))
        }
        #expect(meter.rowsPerSecond == 20)
        #expect(meter.bytesPerSecond == 2_000)
        #expect(meter.text("Post", movesRows: true) == " 50 %  ETA 0:15  200 rows  20 rows/s  2.0 kB/s  Post")
        #expect(meter.text("indexes", movesRows: false) == " 50 %  ETA 0:15  indexes")
    }

    @Test("progress without time or rows gives no rate and no end")
    func idleMeter() {
        let meter = ProgressMeter(now: 0)
        #expect(meter.text("Post", movesRows: true) == "0 rows  0 rows/s  0 B/s  Post")
    }

    @Test("a command that reads tells its part and the rest, which it doesn't before it knows")
    func activity() {
        var meter = ActivityMeter(now: 0)
        meter.update("the database's structure", fraction: nil)
        #expect(meter.text(now: 9) == "estimating  the database's structure")
        meter.update("values in ZPOST", fraction: 0.5)
        #expect(meter.text(now: 10) == " 50 %  ETA 0:10  values in ZPOST")
        meter.update("links", fraction: 0.4)
        #expect(meter.text(now: 10) == " 50 %  ETA 0:10  links")
        #expect(meter.text(now: 0.5) == " 50 %  estimating  links")
    }

    @Test(
        "times of events are ISO 8601",
        arguments: [
            (0.0, "1970-01-01T00:00:00.000Z"), (951_782_400.5, "2000-02-29T00:00:00.500Z"),
            (1_795_648_385.123, "2026-11-25T23:13:05.123Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ])
    func times(seconds: Double, text: String) {
        #expect(Timestamp.text(secondsSince1970: seconds) == text)
    }

    @Test("a misspelled word is found, another word is not")
    func spelling() {
        let words = ["inspect", "models", "plan"]
        #expect(nearest(to: "inspetc", among: words) == "inspect")
        #expect(nearest(to: "Store.sqlite", among: words) == nil)
        #expect(nearest(to: "", among: words) == nil)
        #expect(nearest(to: "x", among: []) == nil)
    }
}
