/// The result of one harness, for the table and the page.
package struct HarnessReport: Sendable, Codable {
    package var result: HarnessResult
    /// What wasn't run, and why.
    package var skipped: [String]
    package var seconds: Double
    /// Why the harness itself couldn't work; then its result is one failure with that text.
    package var breakdown: String?

    package init(result: HarnessResult, skipped: [String] = [], seconds: Double = 0) {
        self.result = result
        self.skipped = skipped
        self.seconds = seconds
    }

    /// The report of a harness that couldn't work.
    package init(_ name: String, breakdown error: any Error) {
        self.init(result: HarnessResult(name: name))
        breakdown = "\(error)"
        result.fail("the harness couldn't work: \(error)")
    }

    package init(_ tally: Tally) {
        self.init(result: tally.result, skipped: tally.skipped)
    }
}
