/// Rows and bytes over time: percentage, rates and the time that is left.
package struct ProgressMeter {
    /// Seconds over which the shown rates are taken: long enough not to flicker, short enough to show a slow pass.
    private static let window = 5.0

    private struct Sample {
        var time: Double
        var rows: Int
        var bytes: Int
    }

    private var samples: [Sample]
    private var total = 0
    /// Where the average is counted from: the beginning, or what an earlier run had done.
    private var base: Sample
    private var isRebasing = false

    /// - Parameter now: seconds of any clock that never goes back.
    package init(now: Double) {
        base = Sample(time: now, rows: 0, bytes: 0)
        samples = [base]
    }

    /// The next update's rows are an earlier run's: they don't count for the rate.
    package mutating func rebase() {
        isRebasing = true
    }

    package mutating func update(rows: Int, bytes: Int, total: Int, now: Double) {
        self.total = total
        if isRebasing {
            isRebasing = false
            base = Sample(time: now, rows: rows, bytes: bytes)
            samples = [base]
            return
        }
        samples.append(Sample(time: now, rows: rows, bytes: bytes))
        // The first sample of the window stays: the rates need two.
        while samples.count > 2, samples[1].time <= now - Self.window { samples.removeFirst() }
    }

    private var last: Sample { samples[samples.count - 1] }

    /// From 0 to 1; nil where the number of rows isn't known.
    package var fraction: Double? { total > 0 ? min(1, Double(last.rows) / Double(total)) : nil }

    package var rowsPerSecond: Double { rate { $0.rows } }
    package var bytesPerSecond: Double { rate { $0.bytes } }

    private func rate(_ count: (Sample) -> Int) -> Double {
        let elapsed = last.time - samples[0].time
        return elapsed > 0 ? Double(count(last) - count(samples[0])) / elapsed : 0
    }

    /// Seconds, by the average of this run; nil before there is one.
    package var secondsLeft: Double? {
        let (elapsed, rows) = (last.time - base.time, last.rows - base.rows)
        guard total > 0, rows > 0, elapsed > 0 else { return nil }
        return Double(max(0, total - last.rows)) * elapsed / Double(rows)
    }

    /// ` 42 %  1,234 rows  567 rows/s  8.9 MB/s  ETA 0:42`
    package var text: String {
        var parts: [String] = []
        if let fraction { parts.append("\(Int(fraction * 100))".padded(to: 3, .trailing) + " %") }
        parts.append(Figures.count(last.rows, "row", "rows"))
        parts.append(Figures.grouped(Int(rowsPerSecond.rounded())) + " rows/s")
        parts.append(Figures.bytes(bytesPerSecond) + "/s")
        if let secondsLeft { parts.append("ETA \(Figures.clock(secondsLeft))") }
        return parts.joined(separator: "  ")
    }
}
