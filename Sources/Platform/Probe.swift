#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Points at which the reliability harness can end or pause the process: every numbered step of InsideCrashSafety §4.2.
///
/// Compiled into debug builds and into builds with `-DCAUSEWAY_HARNESS` only; elsewhere `reach` is nothing. They also
/// need `CAUSEWAY_HARNESS` in the environment: without it a debug build behaves like a release.
///
/// - `CAUSEWAY_KILL_AT=name[:n]` ends the process with SIGKILL at the n-th time (default 1) that the place is reached.
/// - `CAUSEWAY_PAUSE_AT=name:milliseconds` sleeps there, each time.
package enum KillPoint: String, CaseIterable, Sendable {
    /// 1: the work directory has its name; the lock is held; recovery has decided.
    case workDirectoryMade, locked, recovered
    /// Before 2: a hot journal, or a -wal that can't be read to its end, is copied.
    case sidecarCopied
    /// Before 2: the store's WAL mode is noted.
    case modeNoted
    /// 2: the guard holds RESERVED and the WAL is folded in; identity and pre-flight are done.
    case storeOwned, preflighted
    /// 3: the plan is durable; the staging store has its tables and its progress row.
    case planWritten, stagingCreated
    /// 4: the staging store is a copy of the source, with its old schema.
    case pagesCopied
    /// 4: no connection is open on the staging store, whose pages are written; they are all written, and the header
    /// counts them, of which no progress speaks; it does, and a connection can be opened.
    case pagesBegun, pagesWhole, pagesDone
    /// 4: rows of a batch are in the transaction; before and after its commit; a segment or checkpoint file is durable.
    case batchWritten, committing, committed, segmentWritten, checkpointWritten
    /// Stations between and after the rows.
    case rowsMade, rowsRelated, rowsValidated, indexMade, handlersBegun, handlersDone, schemaFinished
    /// 5: rows are verified; the record of it is durable; the step before is removed.
    case verified, verifiedWritten, stepHandedOver
    /// 6: the progress row is removed and the journal mode set; owner and permissions are set; file and folder are
    /// synced.
    case sealed, attributesCopied, stagingSynced
    /// 7: external files are linked in.
    case externalFilesLinked
    /// 8: the exclusive lock is held; sidecars are proven absent.
    case lockedExclusively, sidecarsAbsent
    /// 9–11: intent, backup, swap.
    case intentWritten, backupLinked, swapped, swapDurable
    /// 13: the work directory is being removed.
    case cleaningUp, intentRemoved, planRemoved, lockRemoved
    /// In a rollback: the log and the journal of a store that can't be read are beside its second name.
    case sidecarsMoved

    #if DEBUG || CAUSEWAY_HARNESS
        private static let killing = Setting("CAUSEWAY_KILL_AT")
        private static let pausing = Setting("CAUSEWAY_PAUSE_AT")
        private static let count = Mutex(0)

        /// Ends or pauses the process if the environment says so.
        package static func reach(_ point: KillPoint) {
            if pausing?.name == point.rawValue, let milliseconds = pausing?.number {
                usleep(UInt32(clamping: milliseconds) &* 1_000)
            }
            guard let killing, killing.name == point.rawValue else { return }
            let reached = count.withLock {
                $0 += 1
                return $0
            }
            if reached == max(1, killing.number ?? 1) { _ = kill(getpid(), SIGKILL) }
        }
    #else
        @inlinable
        package static func reach(_ point: KillPoint) {}
    #endif
}

/// Deliberate violations of the protocol, one at a time, with which the harness proves that it detects them
/// (InsideCrashSafety §3.4). `CAUSEWAY_MUTANT=name`, in debug and harness builds only.
package enum Mutant: String, CaseIterable, Sendable {
    /// The progress row is committed before its rows; or after, in a transaction of its own.
    case progressFirst, progressAfter
    /// SQLite doesn't sync the staging store; `plan.json` isn't synced; folders are never synced.
    case noStagingSync, noPlanSync, noDirectorySync
    /// Two renames instead of link and rename; the new store is put in place before it is verified.
    case twoRenames, swapBeforeVerification
    /// `-wal` and `-journal` are neither checked nor removed; the store isn't locked against writers.
    case noSidecarCheck, noGuard
    /// The new store isn't locked when it gets its name.
    case noHandover
    /// The store's file is opened and closed by another means before the swap.
    case rawClose
    /// A staging store whose fsync failed is still used.
    case trustAfterSyncError
    /// Work is resumed despite a changed source or another plan.
    case noSourceCheck, noPlanCheck
    /// A checkpoint is written before the pages that it speaks of are durable.
    case noPageSync
    /// The progress says that the file of pages is whole before it is; or before that is durable.
    case wholeTooEarly, noWholeSync
    /// Roots that an earlier run has filled aren't emptied.
    case rootsKept
    /// A resumed pass begins a row early; the keys given before the crash are forgotten.
    case cursorTooEarly, keysForgotten

    #if DEBUG || CAUSEWAY_HARNESS
        private static let chosen = Setting("CAUSEWAY_MUTANT")?.name

        /// Whether this violation is switched on.
        package static func isOn(_ mutant: Mutant) -> Bool { chosen == mutant.rawValue }
    #else
        @inlinable
        package static func isOn(_ mutant: Mutant) -> Bool { false }
    #endif
}

/// What a measurement or the harness changes about a run, by a variable of the environment; in debug and harness builds
/// only.
package enum RunSetting: String, CaseIterable, Sendable {
    /// Measures a run without its safety: nothing is committed before a step's end, and SQLite syncs nothing.
    case withoutCheckpoints = "CAUSEWAY_WITHOUT_CHECKPOINTS"
    /// Every batch has as many rows as the flag says, so that few rows have many batches.
    case smallBatches = "CAUSEWAY_SMALL_BATCHES"

    #if DEBUG || CAUSEWAY_HARNESS
        private static let chosen = Set(allCases.filter { Setting($0.rawValue) != nil })

        /// Whether the environment has it.
        package static func isOn(_ setting: RunSetting) -> Bool { chosen.contains(setting) }
    #else
        @inlinable
        package static func isOn(_ setting: RunSetting) -> Bool { false }
    #endif
}

#if DEBUG || CAUSEWAY_HARNESS
    internal import Synchronization

    /// `name` or `name:number` from the environment.
    private struct Setting: Sendable {
        let name: String
        let number: Int?

        init?(_ variable: String) {
            guard unsafe getenv("CAUSEWAY_HARNESS") != nil,
                let text = unsafe getenv(variable).map({ unsafe String(cString: $0) })
            else { return nil }
            let parts = text.split(separator: ":", maxSplits: 1)
            guard let first = parts.first else { return nil }
            name = String(first)
            number = parts.count > 1 ? Int(parts[1]) : nil
        }
    }
#endif
