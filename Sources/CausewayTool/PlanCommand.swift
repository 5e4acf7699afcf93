public import ArgumentParser

/// `causeway plan`: what a migration would do.
public struct PlanCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows what a migration would do, and changes nothing.",
        usage: "causeway plan [<options>] <store> --models <models>",
        discussion: helpText(
            """
            Shows the path from version to version, every pass with its rows, what is lost, and the disk and memory that
            the migration needs. It refuses what can't be migrated, with every reason at once.
            """))

    @OptionGroup var arguments: MigrateArguments

    @Flag(help: "Print the statements too.")
    var sql = false

    @Flag(help: "Print JSON, which always holds the statements.")
    var json = false

    /// For the argument parser.
    public init() {}

    /// Plans and prints.
    public func run() throws {
        let migrator = try arguments.migrator()
        let plan = try reportingFailure(asJSON: json, aboutStore: true) { () throws(MigrationError) in
            try migrator.plan()
        }
        try printResult(json ? [try JSONText.document(plan)] : PlanText(plan: plan, showsSQL: sql).lines)
    }
}
