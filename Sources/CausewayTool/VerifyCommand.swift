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
            It examines the database's structure, metadata and the store's own model, Z_PRIMARYKEY, entity numbers,
            every value against its attribute (storage class, UTF-8, range, missing, doubled), links that lead nowhere
            or aren't led back, and files of external storage. The store's bytes stay as they are, and no row's content
            is shown.

            Damage gives 65. Inconsistencies that apps are known to live with (one-sided and dangling links, NULL in
            mandatory properties, numbers and dates out of range, doubled unique values, a Z_MAX that is too low) are
            listed and give 0, with --strict 65. A store whose rows can't be examined, because there is no model of its
            version, gives 66. SQLite keeps no checksums: a value that turned into another valid value can't be found in
            a single store.
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

    @Flag(help: "Exit with 65 for inconsistencies too, which apps are known to live with.")
    var strict = false

    @Flag(help: "Print JSON.")
    var json = false

    /// Made by the argument parser.
    public init() {}

    /// Verifies and prints; exits with 65 where the store is damaged, with 66 where it couldn't be examined.
    public func run() throws {
        let verification = try reportingFailure(asJSON: json, aboutStore: true) { () throws(MigrationError) in
            try StoreVerification(store: store, models: models, isQuick: quick)
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
