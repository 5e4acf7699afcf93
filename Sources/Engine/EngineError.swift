/// Why a command failed, as the layer above shows it: one kind for each exit code (reliability.md §4.6).
package struct EngineError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure; the raw values are the process's exit codes.
    package enum Kind: Int32, Hashable, Sendable, CaseIterable {
        /// The call's own words are off.
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
        /// Somebody else has the store, or another migrator works on it.
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

    package var kind: Kind
    /// What went wrong, naming file, version, entity, attribute and row; never a row's content.
    package var message: String
    /// Every single reason, where there are several.
    package var details: [String]
    /// What to do about it; empty where the message says so.
    package var remedy: String
    /// What has become of the store.
    package var state: StoreState
    /// A staging store's fsync failed, or the store is damaged: its pages must be taken as lost, whatever a later fsync says.
    package var isFailedSync = false

    /// Whether the work that was done is kept, so that the same command goes on where this run ended.
    package var isResumable: Bool {
        switch kind {
        case .inputOutput, .busy, .interrupted, .terminated, .cannotCreate: state == .untouched
        case .usage, .sourceData, .missing, .verification, .undecided, .foreignCheckpoint, .plan: false
        }
    }

    /// What a failure leaves at the store's path.
    package enum StoreState: Hashable, Sendable {
        case untouched
        /// The complete new store is in place; what failed came after.
        case alreadyNew
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
