import ArgumentParser
import Causeway

/// One migration, with everything that belongs to it: plan, checks, verification, swap.
struct MigrateOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var store: String
    @Option var models: String
    @Option(name: .customLong("to")) var target: String
    @Option var output: String?
    @Option var engine: Contender
    @Option var verify = VerificationChoice.quick
    @Option var jobs: Int?
    @Option var batchSize = MigrationOptions().batchRows
    @Option var batchBytes = MigrationOptions().batchBytes

    func run() async throws {
        var options = MigrationOptions()
        options.output = output
        options.target = target
        options.engine = engine.engine ?? .auto
        options.verification = verify.level
        options.jobs = jobs
        options.batchRows = batchSize
        options.batchBytes = batchBytes
        try await MigrationAccount(running: Migrator(store: store, models: models, options: options)).printed()
    }
}

extension MigrationAccount {
    /// Migrates.
    init(running migrator: Migrator) async throws {
        let watch = PhaseWatch()
        let summary = try await migrator.migrate { watch.receive($0) }
        rows = summary.rows
        savingSeconds = summary.savingSeconds.rounded3
        phases = watch.seconds().mapValues(\.rounded3)
    }
}
