import ArgumentParser

/// `swift run reliability`: the harnesses that prove what the article Reliability promises.
@main
struct Reliability: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reliability",
        abstract: "Crashes, faults, kills and contests, and what became of the rows.",
        subcommands: [RunCommand.self, ExploreCommand.self, WriterCommand.self, ReaderCommand.self],
        defaultSubcommand: RunCommand.self)
}
