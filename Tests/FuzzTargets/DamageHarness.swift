import Foundation

/// Harness 7: stores with damage, and inputs made to do harm (reliability.md §2.4).
///
/// Everything runs in child processes with bounds on time, memory and file size. Paths of failures are gone when it
/// returns; the line of a failure holds what makes the input again.
package struct DamageHarness: Sendable {
    /// A store that is damaged, and the migration that is tried on it.
    package struct Subject: Sendable {
        package let store: String
        package let models: String
        /// nil: the models' current version.
        package let target: String?

        package init(store: String, models: String, target: String? = nil) {
            self.store = store
            self.models = models
            self.target = target
        }
    }

    /// What a run of the harness found.
    package struct Result: Sendable {
        /// Damaged stores or hostile inputs that were tried.
        package var tried = 0
        /// Refused with a documented exit code, the original's bytes untouched.
        package var refused = 0
        /// Exit code 0, and every row that SQLite reads from the damaged source is in the result.
        package var copiedFaithfully = 0
        /// Ended by a signal, or killed because it ran over its time.
        package var crashed = 0
        /// One line each, with what replays it; crashes are among them.
        package var failures: [String] = []
        /// Seconds of the slowest child.
        package var slowest = 0.0

        package init() {}

        package var isClean: Bool { crashed == 0 && failures.isEmpty }
    }

    /// Exit codes that a refusal may have (reliability.md §4.6).
    static let refusals: Set<Int32> = [65, 66, 70, 73, 74, 75, 76, 77, 78]

    /// Path of the `causeway` executable.
    package let command: String
    /// A folder for copies; each run makes and removes one inside.
    package let folder: String

    package init(command: String, folder: String) {
        self.command = command
        self.folder = folder
    }

    /// Migrates `variants` damaged copies of each subject; every second in place, the others to a new file.
    ///
    /// - Throws: where the harness itself fails: a subject that can't be migrated undamaged, a full disk.
    package func damagedStores(_ subjects: [Subject], variants: Int, seed: UInt64) throws -> Result {
        var result = Result()
        for subject in subjects {
            let name = URL(fileURLWithPath: subject.store).lastPathComponent
            let original = Array(try Data(contentsOf: URL(fileURLWithPath: subject.store)))
            let oracle = try RowOracle(of: subject, original, by: self)
            for variant in 0..<variants {
                let damage = StoreDamage(seed: seed &+ UInt64(variant))
                let damaged = damage.applied(to: original)
                try inFolder { folder in
                    try attempt(
                        Attempt(
                            subject: subject, title: "\(name): \(damage)", bytes: damaged, inPlace: variant % 2 == 0,
                            folder: folder),
                        oracle, &result)
                }
            }
        }
        return result
    }

    private struct Attempt {
        let subject: Subject
        let title: String
        let bytes: [UInt8]
        let inPlace: Bool
        let folder: String

        var store: String { folder + "/Store.sqlite" }
        var output: String { inPlace ? store : folder + "/New.sqlite" }

        var arguments: [String] {
            ["migrate", store, "--models", subject.models] + (subject.target.map { ["--to", $0] } ?? [])
                + (inPlace ? [] : ["--output", output])
        }
    }

    private func attempt(_ attempt: Attempt, _ oracle: RowOracle, _ result: inout Result) throws {
        try Data(attempt.bytes).write(to: URL(fileURLWithPath: attempt.store))
        let pristine = attempt.folder + "/Pristine.sqlite"
        try Data(attempt.bytes).write(to: URL(fileURLWithPath: pristine))
        let process = try BoundedProcess(command, attempt.arguments, in: attempt.folder)
        result.tried += 1
        result.slowest = max(result.slowest, process.seconds)
        switch process.end {
        case .hung, .signal:
            result.crashed += 1
            result.failures.append("\(attempt.title): \(process.end): \(process.text.suffix(300))")
        case .exit(0):
            let losses = try oracle.losses(from: pristine, to: attempt.output)
            if losses.isEmpty { result.copiedFaithfully += 1 }
            result.failures += losses.map { "\(attempt.title): exit 0, but \($0)" }
            if !attempt.inPlace { try requireUntouched(attempt, &result) }
        case .exit(let code) where Self.refusals.contains(code):
            result.refused += 1
            try requireUntouched(attempt, &result)
        case .exit(let code):
            result.failures.append("\(attempt.title): exit \(code), which no table knows: \(process.text.suffix(300))")
        }
    }

    private func requireUntouched(_ attempt: Attempt, _ result: inout Result) throws {
        let url = URL(fileURLWithPath: attempt.store)
        guard FileManager.default.fileExists(atPath: attempt.store) else {
            result.failures.append("\(attempt.title): the store is gone")
            return
        }
        let after = Array(try Data(contentsOf: url))
        guard Self.ownable(after) != Self.ownable(attempt.bytes) else { return }
        result.failures.append("\(attempt.title): refused, but the original's bytes changed")
    }

    /// Without what owning a store changes in its header and gives back: journal mode, change counter and its copies.
    private static func ownable(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 100 else { return bytes }
        var result = bytes
        for place in [18, 19] + Array(24..<28) + Array(92..<100) { result[place] = 0 }
        return result
    }

    /// Lends a new folder.
    func inFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
        let path = "\(folder)/damage-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}

extension RowOracle {
    /// What an undisturbed migration of the subject keeps.
    fileprivate init(of subject: DamageHarness.Subject, _ bytes: [UInt8], by harness: DamageHarness) throws {
        self = try harness.inFolder { folder in
            let (store, output) = (folder + "/Store.sqlite", folder + "/New.sqlite")
            try Data(bytes).write(to: URL(fileURLWithPath: store))
            let arguments = ["migrate", store, "--models", subject.models, "--output", output]
            let process = try BoundedProcess(
                harness.command, arguments + (subject.target.map { ["--to", $0] } ?? []), in: folder)
            guard process.end == .exit(0) else {
                throw HarnessFailure("\(subject.store) isn't migrated undamaged: \(process.end): \(process.text)")
            }
            return try RowOracle(before: store, after: output)
        }
    }
}

/// The harness can't do its work.
struct HarnessFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
