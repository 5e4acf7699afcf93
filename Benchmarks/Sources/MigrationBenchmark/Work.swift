import ArgumentParser
import Causeway
import Foundation

/// The kinds of work that are compared.
enum Work: String, CaseIterable {
    case copy = "cp"
    case transfer = "insert-select"
    case migrate = "causeway"
    case migrateUnsaved = "causeway-without-checkpoints"
    case migrateUnverified = "causeway-verify-none"
    case migrateVerified = "causeway-verify-full"

    /// Arguments with which this executable does the work in a process of its own.
    func arguments(_ files: Files, jobs: Int?) -> [String] {
        switch self {
        case .copy: ["copy-once", files.source, files.result(self)]
        case .transfer: ["transfer-once", files.source, files.result(self), files.script]
        case .migrate, .migrateUnsaved, .migrateUnverified, .migrateVerified:
            ["migrate-once", files.source, files.result(self)] + (jobs.map { ["--jobs", String($0)] } ?? [])
                + ["--verify", verification.rawValue]
        }
    }

    private var verification: VerificationChoice {
        switch self {
        case .migrateUnverified: .none
        case .migrateVerified: .full
        case .copy, .transfer, .migrate, .migrateUnsaved: .quick
        }
    }

    /// What the process gets beside its arguments.
    var environment: [String: String] {
        self == .migrateUnsaved ? ["CAUSEWAY_HARNESS": "1", "CAUSEWAY_WITHOUT_CHECKPOINTS": "1"] : [:]
    }
}

/// What one piece of work took.
struct Outcome: Codable {
    var seconds: Double
    /// Of all threads, in the program and in the system on its behalf; what the system writes later by itself isn't in it.
    var processorSeconds: Double?
    /// What commits and checkpoints took of the seconds, as the migration itself counts it; nil where there are none.
    var savingSeconds: Double?
    /// nil where another program did the work.
    var peakMemoryBytes: Int?
    /// Rows and links; nil where nobody counts them.
    var rows: Int?
    /// Seconds by phase; empty where there are no phases.
    var phases: [String: Double] = [:]

    /// Runs work and takes its time. The result must be on the disk when it returns.
    static func measuring(_ work: () async throws -> (rows: Int?, phases: [String: Double])) async throws -> Outcome {
        let start = ContinuousClock.now
        let processorStart = ProcessorTime.seconds()
        let (rows, phases) = try await work()
        let seconds = (ContinuousClock.now - start).inSeconds
        return Outcome(
            seconds: seconds, processorSeconds: ProcessorTime.seconds() - processorStart,
            peakMemoryBytes: PeakMemory.bytes(), rows: rows, phases: phases.mapValues(\.rounded3))
    }

    func printed() throws {
        print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }
}

/// The migration, with everything that belongs to it: plan, checks, verification.
struct MigrateOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var source: String
    @Argument var result: String
    @Option var jobs: Int?
    @Option var verify = VerificationChoice.quick

    func run() async throws {
        var options = MigrationOptions()
        options.output = result
        options.target = Newsroom.target
        options.jobs = jobs
        options.verification =
            switch verify {
            case .none: .none
            case .quick: .quick
            case .full: .full
            }
        let migrator = Migrator(store: source, models: Newsroom.models, options: options)
        var savingSeconds = 0.0
        var outcome = try await Outcome.measuring {
            let watch = PhaseWatch()
            let summary = try await migrator.migrate { watch.receive($0) }
            savingSeconds = summary.savingSeconds
            return (summary.rows, watch.seconds())
        }
        outcome.savingSeconds = savingSeconds.rounded3
        try outcome.printed()
    }
}

/// The same work as SQL in one transaction, with the settings that the migration uses for its new store.
struct TransferOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var source: String
    @Argument var result: String
    @Argument var script: String

    func run() async throws {
        let sql = try String(contentsOfFile: script, encoding: .utf8)
        let outcome = try await Outcome.measuring {
            let database = try Database(result)
            try database.execute(
                """
                PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA main.locking_mode = EXCLUSIVE;
                PRAGMA main.journal_mode = PERSIST; PRAGMA main.synchronous = NORMAL;
                ATTACH '\(source)' AS source;
                """)
            try database.execute("BEGIN; \(sql) COMMIT;")
            try database.execute("PRAGMA main.journal_mode = DELETE")
            return (nil, [:])
        }
        try outcome.printed()
    }
}

/// A copy of the file, synced: what the disk can do.
struct CopyOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var source: String
    @Argument var result: String

    func run() async throws {
        var outcome = try await Outcome.measuring {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/cp")
            process.arguments = [source, result]
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw BenchmarkError("cp failed") }
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: result))
            try file.synchronize()
            try file.close()
            return (nil, [:])
        }
        (outcome.processorSeconds, outcome.peakMemoryBytes) = (nil, nil)
        try outcome.printed()
    }
}
