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

    @Test("rates are those of the last seconds, the remaining time is by the average")
    func meter() {
        var meter = ProgressMeter(now: 100)
        #expect(meter.fraction == nil)
        #expect(meter.secondsLeft == nil)
        for second in 1...10 {
            meter.update(rows: second * 10, bytes: second * 1_000, total: 400, now: 100 + Double(second))
        }
        // From here on twice as fast.
        for second in 1...5 {
            meter.update(rows: 100 + second * 20, bytes: 10_000 + second * 2_000, total: 400, now: 110 + Double(second))
        }
        #expect(meter.fraction == 0.5)
        #expect(meter.rowsPerSecond == 20)
        #expect(meter.bytesPerSecond == 2_000)
        #expect(meter.secondsLeft == 15)
        #expect(meter.text == " 50 %  200 rows  20 rows/s  2.0 kB/s  ETA 0:15")
    }

    @Test("progress without time or rows gives no rate and no end")
    func idleMeter() {
        var meter = ProgressMeter(now: 0)
        meter.update(rows: 0, bytes: 0, total: 0, now: 0)
        #expect(meter.text == "0 rows  0 rows/s  0 B/s")
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
