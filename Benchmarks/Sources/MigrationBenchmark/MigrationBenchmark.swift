import ArgumentParser

/// Measures migrations beside what else does the same work: SQL by hand, copies, other tools.
///
/// Every piece of work runs in a process of its own, and all kinds are measured from outside in the same way; they take
/// turns in every round, there and back, so that a machine that slows down slows all of them.
@main
struct MigrationBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "MigrationBenchmark",
        abstract: "Measures migrations beside SQL by hand, copies and other tools.",
        subcommands: [
            Pages.self, Sweep.self, Linear.self, Planning.self, Safety.self, Explicit.self, MigrateOnce.self,
            ExplicitOnce.self,
            LinearGenerate.self, LinearOnce.self,
        ],
        defaultSubcommand: Pages.self)
}
