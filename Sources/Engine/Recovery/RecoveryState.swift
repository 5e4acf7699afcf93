/// What an earlier run has left, and what that means: the recovery table of InsideCrashSafety §4.5, row by row.
///
/// Decided from facts alone, so that every row can be tested. What the facts are is looked at by `WorkDirectory`.
package enum RecoveryState: Hashable, Sendable {
    /// No work, or none that says what it is: begin.
    case fresh
    /// Work of a plan: go on, if plan and source are the same. An intent whose new store is lost, or was begun anew since,
    /// says nothing: what is there of every step does.
    case unfinished
    /// The new store is complete but not in place: the swap is done again, if the plan is the same.
    case readyToSwap
    /// The new store is in place: only the work directory is to be removed.
    case swapped
    /// The old store has lost its name, but its backup is there: it gets its name back, and the swap is done again.
    case storeMissing
    /// The new store is lost, and so is the plan: begin anew.
    case stagingLost
    /// Nothing that an ended run can have left: stop and touch nothing.
    case unknown

    /// What the table looks at.
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
            // An intent is renamed into place when it is durable: an unreadable one is none.
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
