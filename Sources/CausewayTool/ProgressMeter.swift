import Causeway

/// What a progress line shows: the part of the whole run that is done, when the rest will be, and how fast rows move.
package struct ProgressMeter {
    /// Seconds over which the shown rates are taken: long enough not to flicker, short enough to show a slow pass.
    private static let window = 5.0

    private struct Sample {
        var time: Double
        var rows: Int
        var bytes: Int
    }

    private var samples: [Sample]
    private var isRebasing = false
    /// The newest progress; nil before the first.
    package private(set) var progress: MigrationProgress?

    /// - Parameter now: seconds of any clock that never goes back.
    package init(now: Double) {
        samples = [Sample(time: now, rows: 0, bytes: 0)]
    }

    /// The next update's rows are an earlier run's: they don't count for the rate.
    package mutating func rebase() {
        isRebasing = true
    }

    package mutating func update(_ progress: MigrationProgress, now: Double) {
        self.progress = progress
        let sample = Sample(time: now, rows: progress.rows, bytes: progress.bytes)
        if isRebasing {
            isRebasing = false
            samples = [sample]
            return
        }
        samples.append(sample)
        // The first sample of the window stays: the rates need two.
        while samples.count > 2, samples[1].time <= now - Self.window { samples.removeFirst() }
    }

    package var rowsPerSecond: Double { rate { $0.rows } }
    package var bytesPerSecond: Double { rate { $0.bytes } }

    private func rate(_ count: (Sample) -> Int) -> Double {
        let (first, last) = (samples[0], samples[samples.count - 1])
        let elapsed = last.time - first.time
        return elapsed > 0 ? Double(count(last) - count(first)) / elapsed : 0
    }

    /// ` 42 %  ETA 0:42`, ` 42 %  estimating`; empty before there is progress.
    package var whole: [String] {
        guard let progress else { return [] }
        return Self.whole(progress.fraction, remainingSeconds: progress.remainingSeconds)
    }

    /// The same for any work; a fraction that isn't known is left out.
    package static func whole(_ fraction: Double?, remainingSeconds: Double?) -> [String] {
        let part = fraction.map { "\(Int($0 * 100))".padded(to: 3, .trailing) + " %" }
        return [part, remainingSeconds.map { "ETA \(Figures.clock($0))" } ?? "estimating"].compactMap(\.self)
    }

    /// ` 42 %  ETA 0:42  1,234 rows  567 rows/s  8.9 MB/s  Post`, and without rows ` 71 %  ETA 0:12  indexes`.
    package func text(_ activity: String, movesRows: Bool) -> String {
        var parts = whole
        if movesRows {
            parts += [
                Figures.count(progress?.rows ?? 0, "row", "rows"),
                Figures.grouped(Int(rowsPerSecond.rounded())) + " rows/s", Figures.bytes(bytesPerSecond) + "/s",
            ]
        }
        if !activity.isEmpty { parts.append(activity) }
        return parts.joined(separator: "  ")
    }
}
