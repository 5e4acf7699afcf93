/// What a harness has tried and found; the reliability page and the tests use it.
package struct HarnessResult: Sendable, Codable {
    /// Failures that are kept as text; the rest are only counted.
    private static let keptFailures = 20

    package var name: String
    /// Crash points, fault points, kills, rounds: whatever the harness repeats.
    package var tried = 0
    /// Those of them that equal an earlier one and weren't tried again.
    package var repeated = 0
    /// Those that were really tried.
    package var different: Int { tried - repeated }
    package var survived = 0
    /// The first failures as text, each with the command that replays it.
    package private(set) var failures: [String] = []
    package private(set) var failed = 0
    package var rowsLost = 0
    /// Figures of the harness's own.
    package var details: [String: Int] = [:]

    package init(name: String) {
        self.name = name
    }

    package var isClean: Bool { failed == 0 && rowsLost == 0 }

    package mutating func fail(_ text: String) {
        failed += 1
        if failures.count < Self.keptFailures { failures.append(text) }
    }

    package mutating func count(_ detail: String, _ number: Int = 1) {
        details[detail, default: 0] += number
    }

    /// Adds what another run of the same harness has found.
    package mutating func add(_ other: HarnessResult) {
        tried += other.tried
        repeated += other.repeated
        survived += other.survived
        rowsLost += other.rowsLost
        failed += other.failed
        failures += other.failures.prefix(max(0, Self.keptFailures - failures.count))
        details.merge(other.details, uniquingKeysWith: +)
    }
}

/// A harness can't work: something outside of the tested code is missing or broken.
package struct HarnessError: Error, CustomStringConvertible {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}
