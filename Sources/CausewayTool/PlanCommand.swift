public import ArgumentParser
import Causeway

/// `causeway plan`: what a migration would do.
public struct PlanCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows what a migration would do, and changes nothing.",
        usage: "causeway plan [<options>] <store> ... --models <models>",
        discussion: helpText(
            """
            Shows the path from version to version, every pass with its rows, what changes in every entity and property,
            what is lost (counted), and the disk and memory that the migration needs. It refuses what can't be migrated,
            with every reason at once. --format markdown is for a pull request.
            """))

    @OptionGroup var arguments: MigrateArguments

    @Flag(help: "Print the statements too.")
    var sql = false

    @Flag(help: "Show every change; without it, long lists are cut.")
    var all = false

    @OptionGroup var output: FormatArguments<ReportFormat>

    /// For the argument parser.
    public init() {}

    /// Refuses stores that can't be planned in one call.
    public func validate() throws {
        if arguments.stores.count > 1 { _ = try StoreShares(arguments) }
    }

    /// Plans and prints.
    public func run() throws {
        try run(MigrationOptions())
    }

    /// The same with options that only `migrate` has.
    func run(_ options: MigrationOptions) throws {
        guard arguments.stores.count == 1 else { return try runStores(options) }
        let migrator = try arguments.migrator(options)
        let plan = try reportingFailure(
            asJSON: output.chosen == .json, aboutStore: true, store: arguments.store
        ) { () throws(MigrationError) in
            try migrator.plan()
        }
        switch output.chosen {
        case .json: try printResult([try JSONText.document(plan)])
        case .markdown: try printResult(PlanMarkdown(plan: plan, showsSQL: sql).lines)
        case .text:
            try printResult(PlanText(plan: plan, showsSQL: sql, layout: .output(showsAll: all)).lines)
        }
    }
}
