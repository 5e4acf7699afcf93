/// What an earlier run has left, and what happens now: the recovery table of InsideCrashSafety §4.5, row by row. Of the
/// steps of unfinished work `StepRecovery` decides.
///
/// | plan | intent | at the store's path | and | what happens |
/// |---|---|---|---|---|
/// | – | – | | | `fresh`: begin |
/// | yes | – | | | `unfinished`: resume, if plan and source are the same |
/// | | yes | the new store | | `swapped`: only the work directory is to be removed |
/// | yes | yes | the source | the new store is there | `readyToSwap`: swap again, if the plan is the same |
/// | yes | yes | the source | the new store is lost | `unfinished`: what is there of every step says how far it is |
/// | – | yes | the source | the new store is there | `fresh` |
/// | – | yes | the source | the new store is lost | `stagingLost`: start over |
/// | | yes | nothing | the backup is the source | `storeMissing`: it gets its name back, then the swap is done again |
/// | | yes | nothing | no backup | `unknown` |
/// | | yes | another file | | `unknown`: stop and touch nothing |
///
/// Decided from facts alone, so that every row can be tested; `UnfinishedWork` gathers the facts. An intent whose new
/// store was started over since doesn't count.
package enum RecoveryDecision: Hashable, Sendable {
    case fresh, unfinished, readyToSwap, swapped, storeMissing, stagingLost, unknown

    /// The table's input.
    package struct Facts: Hashable, Sendable {
        package enum File: Hashable, Sendable {
            case absent, unreadable, readable
        }

        package enum Store: Hashable, Sendable {
            /// The file that the intent calls the source, or the destination.
            case source, destination
            case other, absent
        }

        package var plan: File
        package var intent: File
        /// The file at the store's path, by the intent; `.other` without one.
        package var store: Store
        /// The intent's destination is still in the work directory.
        package var hasStaging: Bool
        /// The backup that the intent names is the source's file.
        package var hasBackup: Bool

        package init(plan: File, intent: File, store: Store, hasStaging: Bool, hasBackup: Bool) {
            self.plan = plan
            self.intent = intent
            self.store = store
            self.hasStaging = hasStaging
            self.hasBackup = hasBackup
        }
    }

    package init(_ facts: Facts) {
        guard facts.intent == .readable else {
            // An intent gets its name when it is durable: an unreadable one doesn't count.
            self = facts.plan == .readable ? .unfinished : .fresh
            return
        }
        switch facts.store {
        case .destination: self = .swapped
        case .source where facts.plan == .readable: self = facts.hasStaging ? .readyToSwap : .unfinished
        case .source: self = facts.hasStaging ? .fresh : .stagingLost
        case .absent: self = facts.hasBackup ? .storeMissing : .unknown
        case .other: self = .unknown
        }
    }
}
