/// What a run expects of a phase as it begins, for `causeway status`, which sees only checkpoints and the clock.
package struct WorkOutlook: Hashable, Sendable {
    /// The part of the whole work that is done before the phase, and after it.
    package var fraction: Double
    package var fractionAfter: Double
    /// Rows moved before the phase and after it; the same where it moves none.
    package var rows: Int
    package var rowsAfter: Int
    /// Seconds until the run's end; nil where that isn't known.
    package var remainingSeconds: Double?

    package init(fraction: Double, fractionAfter: Double, rows: Int, rowsAfter: Int, remainingSeconds: Double?) {
        (self.fraction, self.fractionAfter) = (fraction, fractionAfter)
        (self.rows, self.rowsAfter, self.remainingSeconds) = (rows, rowsAfter, remainingSeconds)
    }

    /// Columns of the text.
    static let length = 80

    /// Five numbers, filled up with spaces: parts and seconds in thousandths, -1 for seconds that aren't known.
    var text: String {
        func thousandths(_ value: Double) -> Int { Int(min(max(0, value), 1e12) * 1_000) }
        let numbers = [
            thousandths(fraction), thousandths(fractionAfter), rows, rowsAfter,
            remainingSeconds.map(thousandths) ?? -1,
        ]
        let text = String(numbers.map { String($0) }.joined(separator: " ").prefix(Self.length))
        return text + String(repeating: " ", count: Self.length - text.count)
    }

    init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 5 else { return nil }
        (fraction, fractionAfter) = (Double(numbers[0]) / 1_000, Double(numbers[1]) / 1_000)
        (rows, rowsAfter) = (numbers[2], numbers[3])
        remainingSeconds = numbers[4] < 0 ? nil : Double(numbers[4]) / 1_000
    }

    /// Where the run is now.
    ///
    /// - Parameters:
    ///   - rows: moved by the last checkpoint.
    ///   - seconds: since the phase began; nil where the run isn't running.
    ///   - checkpointSeconds: since it began until that checkpoint.
    /// - Returns: the part of the whole that is done, and the seconds until the end where they can be told.
    package func now(
        rows: Int, seconds: Double?, checkpointSeconds: Double?
    ) -> (fraction: Double, remainingSeconds: Double?) {
        let part = fractionAfter - fraction
        var done = fraction
        if rowsAfter > self.rows {
            done += part * min(1, max(0, Double(rows - self.rows) / Double(rowsAfter - self.rows)))
        } else if let seconds, let remainingSeconds, remainingSeconds > 0 {
            done += min(part * 0.95, (1 - fraction) * seconds / remainingSeconds)
        }
        guard let seconds else { return (done, nil) }
        if let measured = checkpointSeconds, measured >= 1, done - fraction >= 0.02 {
            let whole = measured / (done - fraction)
            return (done, max(0, whole * (1 - done) - (seconds - measured)))
        }
        return (done, remainingSeconds.map { max(0, $0 - seconds) })
    }
}
