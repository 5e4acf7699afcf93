public import ArgumentParser

/// `causeway status`: how far a migration is.
public struct StatusCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows how far a migration of a store is.",
        discussion: helpText(
            """
            Reads the checkpoints in the work directory, and touches neither a running migration nor the store. On
            SIGUSR1 a running migration prints the same to its own terminal.
            """))

    @Argument(
        help: "The store's main file; with --output, the path that was given there.", completion: .file())
    var store: String

    @Flag(help: "Print JSON.")
    var json = false

    /// For the argument parser.
    public init() {}

    /// Reads and prints.
    public func run() throws {
        let status = try reportingFailure(asJSON: json, aboutStore: true, store: store) { () throws(MigrationError) in
            try MigrationStatus(store: store)
        }
        try printResult(json ? [try JSONText.document(status)] : StatusText(status: status).lines)
    }
}
