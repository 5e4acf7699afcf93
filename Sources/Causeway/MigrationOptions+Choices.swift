import CausewayEngine
import CausewayPreparation
import CausewayStores

extension MigrationOptions {
    /// What a run does with the unfinished work of an earlier run on the same store.
    public enum UnfinishedWork: String, Hashable, Sendable, CaseIterable {
        /// Resume it. Work of another plan, or of a store that was written to since, is refused.
        case resume
        /// Refuse it, so that the user can look at it first.
        case refuse
        /// Discard it and start over.
        case restart
    }

    /// How much of the new store is checked before it takes the old one's place.
    public enum Verification: String, Hashable, Sendable, CaseIterable {
        /// Compare the number of rows written with the number read.
        case none
        /// Also counts and digests of the passes, metadata, hashes, the structure of every page, uniqueness and links.
        case quick
        /// Also every carried value, read again from both stores, and SQLite's integrity check.
        case full
    }

    /// What happens to a bad row: one that lacks a value which the new version requires and has no default for, or
    /// whose entity is abstract in the new version or unknown to the old one.
    public enum BadRows: String, Hashable, Sendable, CaseIterable {
        /// The migration stops; the error names the row.
        case fail
        /// The row is left out and written to the rejects file. One that only refers to an external file that is
        /// missing or can't be read is kept, and listed there too.
        case quarantine
    }

    /// Rows: more don't make batches faster, and one batch is held in memory whole.
    public static let batchRowCounts = 1...1_000_000
    /// Bytes: from a page to what a machine of today has to spare for each thread.
    public static let batchByteCounts = 4_096...(1 << 30)
    /// Threads: more than any machine has cores.
    public static let jobCounts = 1...1_024
    /// Levels that zstd has without modes of their own.
    public static let compressionLevels = 1...19
    /// Seconds. A day is as good as never; more is a mistake.
    public static let intervals = 0.0...86_400.0

    /// Refuses values that make no sense.
    func check() throws(EngineError) {
        if onViolation == .reject || badRows == .quarantine, rejects == nil {
            throw EngineError(
                .usage, "rows can't be rejected without a rejects file",
                remedy: "name one with --rejects")
        }
        guard Self.batchRowCounts.contains(batchRows), Self.batchByteCounts.contains(batchBytes),
            Self.jobCounts.contains(jobs ?? 1)
        else {
            throw EngineError(
                .usage, "a batch must have 1 to 1,000,000 rows and 4 KiB to 1 GiB; jobs must be 1 to 1,024")
        }
        guard Self.compressionLevels.contains(checkpointCompression) else {
            throw EngineError(.usage, "the compression level of checkpoints must be 1 to 19")
        }
        // NaN is in no range.
        guard Self.intervals.contains(checkpointInterval), Self.intervals.contains(swapTimeout) else {
            throw EngineError(.usage, "intervals and waiting times must be 0 to 86,400 seconds")
        }
    }
}

extension ResumePolicy {
    init(_ choice: MigrationOptions.UnfinishedWork) {
        self =
            switch choice {
            case .resume: .automatic
            case .refuse: .never
            case .restart: .restart
            }
    }
}

extension VerificationLevel {
    init(_ choice: MigrationOptions.Verification) {
        self =
            switch choice {
            case .none: .none
            case .quick: .quick
            case .full: .full
            }
    }
}

extension BadRowPolicy {
    init(_ choice: MigrationOptions.BadRows) {
        self =
            switch choice {
            case .fail: .fail
            case .quarantine: .quarantine
            }
    }
}

extension ViolationPolicy {
    init(_ choice: OnViolation) {
        self =
            switch choice {
            case .stop: .stop
            case .useDefault: .useDefault
            case .reject: .reject
            }
    }
}
