import Foundation

/// Harness 7: stores with damage, and inputs made to do harm (InsideCrashSafety §2.4).
///
/// Everything runs in child processes with limits on time, memory and file size: a trap there is a finding, and the
/// harness continues. The line of a failure says how to make the input again.
package struct DamageHarness: Sendable {
    /// What a run of the harness found.
    package struct Result: Sendable {
        /// Damaged stores, hostile inputs and damaged checkpoints that were tried.
        package var tried = 0
        /// Those of them after which everything held.
        package var survived = 0
        /// Rows that SQLite reads from a damaged source, and that a migration with exit code 0 lost.
        package var rowsLost = 0
        /// Migrations with exit code 0 whose result holds every row that SQLite reads from the damaged source.
        package var copiedFaithfully = 0
        /// Refused migrations by exit code that left the original untouched.
        package var refused: [Int32: Int] = [:]
        /// Children that a signal ended, or that were killed at their time limit.
        package var crashed = 0
        /// One line each, with the command that replays it; crashes are among them.
        package var failures: [String] = []
        /// Refusals with an exit code other than 65, one line each.
        package var unusual: [String] = []
        /// Figures for the report.
        package var details: [String: Int] = [:]
        /// What wasn't run, and why.
        package var skipped: [String] = []
        /// Seconds of the slowest child.
        package var slowest = 0.0

        package init() {}

        package var isClean: Bool { crashed == 0 && rowsLost == 0 && failures.isEmpty }

        /// Adds what another part has found.
        package mutating func add(_ other: Result) {
            tried += other.tried
            survived += other.survived
            rowsLost += other.rowsLost
            copiedFaithfully += other.copiedFaithfully
            refused.merge(other.refused, uniquingKeysWith: +)
            crashed += other.crashed
            failures += other.failures
            unusual += other.unusual
            details.merge(other.details, uniquingKeysWith: +)
            skipped += other.skipped
            slowest = max(slowest, other.slowest)
        }
    }

    /// Path of the `causeway` executable.
    package let command: String
    /// A folder for copies; each case makes a folder in it and removes that.
    package let folder: String
    /// Cases that run at once.
    package let threads: Int
    /// Where inputs that failed are kept; nil keeps none.
    package let findings: String?

    package init(command: String, folder: String, threads: Int = 1, findings: String? = nil) {
        self.command = command
        self.folder = folder
        self.threads = threads
        self.findings = findings
    }

    /// A line of progress is printed after so many damaged stores.
    private static let report = 500

    /// Tries `variants` damaged copies of each subject; a subject without an oracle isn't migrated.
    ///
    /// - Throws: if the harness itself fails: a full disk, no more processes.
    func damagedStores(
        _ subjects: [(subject: DamageSubject, oracle: RowOracle?)], variants: Int, seed: UInt64,
        say: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> Result {
        let count = subjects.count * variants
        return try Workers.run(count, threads: threads) { index in
            if index > 0, index % Self.report == 0 { say("    \(index) of \(count) damaged stores") }
            // Consecutive cases are of different stores, so that small and large ones are mixed.
            let (place, variant) = (index % subjects.count, index / subjects.count)
            let damage = StoreDamage(run: seed, store: place, variant: variant)
            return try inFolder { folder in
                try DamagedStore(
                    subjects[place].subject, damage, variant: variant, oracle: subjects[place].oracle, folder: folder,
                    harness: self
                ).run()
            }
        }
    }

    /// Calls the body with a new folder.
    func inFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
        let path = "\(folder)/damage-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}

/// A store to damage, and the migration that is tried on it.
struct DamageSubject: Sendable {
    /// Its name in reports.
    let name: String
    /// A copy that belongs to the harness; a -wal beside it is part of it.
    let store: String
    /// nil: it is only inspected and verified.
    let models: String?
    /// nil is the models' current version.
    let target: String?

    init(name: String, store: String, models: String?, target: String? = nil) {
        self.name = name
        self.store = store
        self.models = models
        self.target = target
    }

    /// The bytes of the main file, and of the -wal if there is one with frames.
    func bytes() throws -> (store: [UInt8], wal: [UInt8]?) {
        let store = Array(try Data(contentsOf: URL(fileURLWithPath: self.store)))
        let wal = FileManager.default.contents(atPath: self.store + "-wal").map { Array($0) }
        return (store, wal?.isEmpty == true ? nil : wal)
    }
}

extension RowOracle {
    /// The columns that an undisturbed migration of the subject keeps.
    ///
    /// - Throws: if the subject can't be migrated, or nothing is kept.
    init(of subject: DamageSubject, by harness: DamageHarness) throws {
        self = try harness.inFolder { folder in
            let (store, output) = (folder + "/Store.sqlite", folder + "/New.sqlite")
            let bytes = try subject.bytes()
            try Data(bytes.store).write(to: URL(fileURLWithPath: store))
            if let wal = bytes.wal { try Data(wal).write(to: URL(fileURLWithPath: store + "-wal")) }
            let arguments = ["migrate", store, "--models", subject.models ?? store, "--output", output]
            let process = try BoundedProcess(
                harness.command, arguments + (subject.target.map { ["--to", $0] } ?? []), in: folder)
            guard process.end == .exit(0) else {
                throw HarnessFailure("\(subject.name) isn't migrated undamaged: \(process.end): \(process.text)")
            }
            guard FileManager.default.fileExists(atPath: output) else {
                throw HarnessFailure("\(subject.name) has the target version already")
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
