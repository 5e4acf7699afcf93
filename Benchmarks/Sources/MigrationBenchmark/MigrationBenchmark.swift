import ArgumentParser

/// Measures a migration side by side with a hand-written `INSERT … SELECT` of the same work and with a copy of the file.
///
/// Stores of `Models/Newsroom.xcdatamodeld` v1 go to v2: attributes renamed, added and dropped in tables with text bodies,
/// to-one and many-to-many relationships and indexes. Every piece of work runs in a process of its own, so that peak
/// memory is its own; the kinds of work take turns in every round, so that a machine that slows down slows all of them.
@main
struct MigrationBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "MigrationBenchmark",
        abstract: "Measures a migration against INSERT … SELECT and cp.",
        subcommands: [
            Measure.self, Linear.self, Safety.self, Split.self, MigrateOnce.self, SplitOnce.self, TransferOnce.self,
            CopyOnce.self, LinearGenerate.self, LinearOnce.self,
        ],
        defaultSubcommand: Measure.self)
}
