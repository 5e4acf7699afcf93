/// What one harness came to, for the table and the page.
package struct HarnessReport: Sendable, Codable {
    package var result: HarnessResult
    /// What wasn't run, and why.
    package var skipped: [String]
    package var seconds: Double

    package init(result: HarnessResult, skipped: [String] = [], seconds: Double = 0) {
        self.result = result
        self.skipped = skipped
        self.seconds = seconds
    }

    package init(_ tally: Tally) {
        self.init(result: tally.result, skipped: tally.skipped)
    }
}
