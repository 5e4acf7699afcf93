import CausewayPlatform
package import CausewayStores

/// Why a migration, a plan or an inspection failed.
///
/// The message names file, version, entity, attribute and row; it never holds a row's content.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. New kinds may come: treat an unknown one as a failure.
    public struct Code: Hashable, Sendable {
        /// The exit code that the command-line tool gives.
        public let exitCode: Int32
        /// A short name, stable over releases.
        public let name: String

        /// Two stores that were compared differ.
        public static let different = Code(exitCode: 1, name: "different")
        /// A team's check of its models found something.
        public static let checkFailed = Code(exitCode: 3, name: "checkFailed")
        /// The call's arguments are wrong.
        public static let usage = Code(.usage)
        /// The store's data can't be migrated as it is.
        public static let sourceData = Code(.sourceData)
        /// The store or the models are missing or can't be read.
        public static let missing = Code(.missing)
        /// Verification or an internal check failed; nothing was swapped.
        public static let verification = Code(.verification)
        /// The work directory or the output can't be created or trusted.
        public static let cannotCreate = Code(.cannotCreate)
        /// Input, output or a full disk.
        public static let inputOutput = Code(.inputOutput)
        /// The store is in use, or another process is migrating it.
        public static let busy = Code(.busy)
        /// The state on disk needs a decision.
        public static let undecided = Code(.undecided)
        /// A checkpoint of another plan, tool or format.
        public static let foreignCheckpoint = Code(.foreignCheckpoint)
        /// A model, a mapping or the path between versions is wrong.
        public static let plan = Code(.plan)
        /// Interrupted by the user.
        public static let interrupted = Code(.interrupted)
        /// The system asked the process to end.
        public static let terminated = Code(.terminated)

        /// Every code with its meaning, in the order of the exit codes: the one table behind every `--help` and the
        /// article on failures.
        public static let table: [(code: Code, meaning: String)] = [
            (different, "the stores that were compared differ"),
            (checkFailed, "a check of the models found something; every reason is listed"),
            (usage, "the command line is wrong"),
            (sourceData, "the store's data is damaged or can't be migrated as it is; the message names the rows"),
            (missing, "the store, its model or a backup is missing or can't be read"),
            (verification, "verification or an internal check failed; nothing was swapped"),
            (cannotCreate, "the work directory or the output can't be created or trusted"),
            (inputOutput, "an input or output error, or a full disk; fix it, then run again to resume"),
            (busy, "the store is in use, or another process is migrating it; run again when it is free"),
            (
                undecided,
                "the files aren't as expected, the store has changed, or --no-resume found unfinished work; "
                    + "decide what to do"
            ),
            (foreignCheckpoint, "unfinished work belongs to another plan, tool or format; --restart discards it"),
            (plan, "a model, a mapping or the path between versions is wrong"),
            (interrupted, "interrupted (SIGINT); run again to resume"),
            (terminated, "terminated (SIGTERM, SIGHUP); run again to resume"),
        ]

        init(_ kind: EngineError.Kind) {
            self.init(exitCode: kind.rawValue, name: "\(kind)")
        }

        private init(exitCode: Int32, name: String) {
            self.exitCode = exitCode
            self.name = name
        }
    }

    /// The kind of failure.
    public let code: Code
    /// What went wrong.
    public let message: String
    /// Every single reason, where there are several.
    public internal(set) var details: [String]
    /// What to do; empty where the message says so.
    public let remedy: String
    /// Whether the complete new store is in place already. Otherwise no row of the original has changed; ``outcome``
    /// says what was done to its files, if anything.
    public let storeIsNew: Bool
    /// Whether work is kept that the same call resumes. False where nothing was started, and where a rerun fails the
    /// same way.
    public let isResumable: Bool
    /// One line: the state of the store, what is left of the work, and what to do.
    public let outcome: String
    /// Whether SQLite's locks made the store busy, not another migration of it.
    let isByLock: Bool

    /// The message and every reason, a line each; what a terminal would obey is escaped.
    public var description: String {
        ([message] + details.map { "  - \($0)" }).joined(separator: "\n").printable
    }

    /// Failures of the engine in their public form.
    static func wrapping<Value>(_ body: () throws(EngineError) -> Value) throws(MigrationError) -> Value {
        do throws(EngineError) {
            return try body()
        } catch {
            throw MigrationError(error)
        }
    }

    /// The public form of a failure of the engine.
    package init(_ error: EngineError) {
        code = Code(error.kind)
        message = error.message
        details = error.details
        remedy = error.remedy
        storeIsNew = error.state == .alreadyNew
        isResumable = error.isResumable
        outcome = error.outcome
        isByLock = error.work != .others
    }
}
