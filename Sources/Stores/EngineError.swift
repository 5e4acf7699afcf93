/// Why a command failed, with one kind for each exit code (InsideCrashSafety §4.6).
package struct EngineError: Error, Sendable, CustomStringConvertible {
    package var kind: Kind
    /// What went wrong, naming file, version, entity, attribute and row; never a row's content.
    package var message: String
    /// Every single reason, where there are several.
    package var details: [String]
    /// What to do about it; empty where the message says so.
    package var remedy: String
    /// What the run has done to the store.
    package var state: StoreState
    /// What is left of the work.
    package var work = WorkState.none
    /// A staging store's fsync failed, or the store is damaged: its pages must be taken as lost, whatever a later fsync
    /// says.
    package var isFailedSync = false
    /// SQLite found the new store damaged while it wrote: by the disk, by memory, or because its pages are copies.
    package var isDamage = false
    /// SQLite found pages of the store that is read damaged.
    package var isOfPages = false
    /// Rows of the source don't fit the copy of it that the plan begins with: the new store must be made anew.
    package var isMisfit = false

    /// Whether the cause may go away without a change to store or plan: a rerun can succeed.
    package var isPassing: Bool {
        switch kind {
        case .inputOutput, .busy, .interrupted, .terminated, .cannotCreate: true
        case .usage, .sourceData, .missing, .verification, .undecided, .foreignCheckpoint, .plan: false
        }
    }

    /// Whether somebody has ended the run.
    package var isInterrupt: Bool { kind == .interrupted || kind == .terminated }

    /// Whether work is kept that the same command resumes.
    package var isResumable: Bool { isPassing && work == .kept && !state.isReplaced }

    /// The kinds of failure; the raw values are the process's exit codes.
    package enum Kind: Int32, Hashable, Sendable, CaseIterable {
        /// The call's arguments are wrong.
        case usage = 64
        /// The store's data can't be migrated as it is.
        case sourceData = 65
        /// The store or the models are missing or can't be read.
        case missing = 66
        /// Verification or an internal check failed; nothing was swapped.
        case verification = 70
        /// The work directory or the output can't be created or trusted.
        case cannotCreate = 73
        /// Input, output or a full disk.
        case inputOutput = 74
        /// Another program uses the store, or another process is migrating it.
        case busy = 75
        /// The state on disk needs a decision.
        case undecided = 76
        /// A checkpoint of another plan, tool or format.
        case foreignCheckpoint = 77
        /// A model, a mapping or the path between versions is wrong.
        case plan = 78
        case interrupted = 130
        case terminated = 143
    }

    /// What a failed run leaves at the store's path.
    package enum StoreState: Hashable, Sendable {
        /// This run has changed no byte of the store.
        case untouched
        /// No row has changed, but this sentence says what was done to the files.
        case settled(String)
        /// The complete new store is in place; what failed came after.
        case alreadyNew
        /// A rollback has put the backup in place; what failed came after.
        case restored

        /// Whether the path has another store than before.
        package var isReplaced: Bool { self == .alreadyNew || self == .restored }
    }

    /// What a failed run leaves of the work that it, or a run before it, began.
    package enum WorkState: Hashable, Sendable, CaseIterable {
        /// Nothing was started.
        case none
        /// There is unfinished work: this run's, or an earlier one's that this run left as it was.
        case kept
        /// The work was removed.
        case discarded
        /// Another process is migrating the store.
        case others
    }

    package init(
        _ kind: Kind, _ message: String, details: [String] = [], remedy: String = "", state: StoreState = .untouched
    ) {
        self.kind = kind
        self.message = message
        self.details = details
        self.remedy = remedy
        self.state = state
    }

    package var description: String {
        ([message] + details.map { "  - \($0)" }).joined(separator: "\n")
    }
}
