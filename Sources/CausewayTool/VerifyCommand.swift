public import ArgumentParser
import Causeway

/// `causeway verify`: whether anything is wrong with a store.
public struct VerifyCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Looks for damage in a store, without changing it.",
        discussion: helpText(
            """
            Asked are the database's structure, metadata and the store's own model, Z_PRIMARYKEY, entity numbers, links
            that lead nowhere or aren't led back, missing mandatory values, doubled unique values, and files of external
            storage. The store's bytes stay as they are, and no row's content is shown.

            A sound store gives 0, one with findings 65. SQLite keeps no checksums: a value that turned into another
            valid value can't be found in a single store.
            """))

    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            "The model's versions, to tell the store's version by; without them the store's own cache is asked.",
            valueName: "models"),
        completion: .file())
    var models: String?

    @Flag(help: "Leave out the comparison of indexes with rows, which costs most on a large store.")
    var quick = false

    @Flag(help: "Print JSON.")
    var json = false

    /// Made by the argument parser.
    public init() {}

    /// Verifies and prints; exits with 65 where something is wrong.
    public func run() throws {
        let verification = try reportingFailure(asJSON: json, aboutStore: true) { () throws(MigrationError) in
            try StoreVerification(store: store, models: models, isQuick: quick)
        }
        try printResult(
            json ? [try JSONText.document(verification)] : VerificationText(verification: verification).lines)
        if !verification.isSound { throw ExitCode(MigrationError.Code.sourceData.exitCode) }
    }
}
