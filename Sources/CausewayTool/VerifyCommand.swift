public import ArgumentParser
import Causeway

/// `causeway verify`: whether anything is wrong with a store.
public struct VerifyCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Looks for damage in a store, without changing it.",
        usage: "causeway verify [<options>] <store>",
        discussion: helpText(
            """
            Examines the database's structure, metadata and the store's own model, Z_PRIMARYKEY, entity numbers, every
            value against its attribute (storage class, UTF-8, range, missing, duplicate), dangling and one-sided links,
            and files of external storage. It doesn't change the store and shows no row content.

            Damage exits with 65. Apps tolerate some inconsistencies (one-sided and dangling links, NULL in mandatory
            properties, numbers and dates out of range, duplicate unique values, a Z_MAX that is too low): they are
            listed and exit with 0, with --strict 65. If there is no model of the store's version, the rows can't be
            examined and the exit status is 66. SQLite keeps no checksums: one valid value that turned into another
            can't be found in a single store.
            """))

    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            """
            The model's versions, to name the store's version; may be given several times. (default: the store's own \
            model cache)
            """,
            valueName: "models"),
        completion: .file())
    var models: [String] = []

    @Flag(help: "Skip the comparison of indexes with rows, the slowest part on a large store.")
    var quick = false

    @Flag(help: "Exit with 65 for inconsistencies too, though apps tolerate them.")
    var strict = false

    @OptionGroup var waiting: WaitArguments

    @Flag(help: "Print JSON, and events of progress as JSON lines on standard error.")
    var json = false

    /// For the argument parser.
    public init() {}

    /// Verifies and prints; exits with 65 where the store is damaged, with 66 where it couldn't be examined.
    public func run() throws {
        let line = ActivityLine(asJSON: json, store: store)
        let verification = try reportingFailure(asJSON: json, aboutStore: true, store: store) {
            () throws(MigrationError) in
            defer { line.finish() }
            return try waiting.whileBusy(store) { () throws(MigrationError) in
                try StoreVerification(store: store, models: models, isQuick: quick) { progress in
                    line.update(progress.activity, fraction: progress.fraction)
                }
            }
        }
        try printResult(
            json ? [try JSONText.document(verification)] : VerificationText(verification: verification).lines)
        if let code = Self.failure(verification.verdict, isStrict: strict) { throw ExitCode(code.exitCode) }
    }

    private static func failure(_ verdict: StoreVerification.Verdict, isStrict: Bool) -> MigrationError.Code? {
        switch verdict {
        case .damaged: .sourceData
        case .notExamined: .missing
        case .inconsistent: isStrict ? .sourceData : nil
        case .sound: nil
        }
    }
}
