import CausewayPlatform
import CausewaySQLite

/// Keeps writers away from a store from the first row read to the swap.
///
/// In rollback mode a RESERVED lock lets readers work and tells writers that the store is busy; a connection that was
/// opened before the swap and writes after it gets an error instead of bringing the old store back
/// (InsideCrashSafety §1).
package final class Guardian {
    private let location: StoreLocation
    private var connection: Connection
    /// The header's flag before. It is restored if the migration doesn't get to the swap, unless its work is kept: that
    /// work expects the store as it is now.
    private let restoresWAL: Bool
    /// Whether unfinished work expects the store as it is, by default.
    private let hasWork: Bool
    private var version: Int64
    private var isDone = false

    package init(_ location: StoreLocation, restoringWAL: Bool, hasWork: Bool = false) throws(EngineError) {
        self.location = location
        restoresWAL = restoringWAL
        self.hasWork = hasWork
        let wal = try EngineError.at(location.wal) { try Files.statusIfExists(location.wal) }
        connection = try Connection.owning(location)
        do {
            // Folds the -wal in and removes it; busy if anyone else has the store open. A hot journal is rolled back.
            try connection.setJournalMode(.delete)
        } catch {
            throw EngineError(reading: error, during: location.path)
        }
        // The journal of the fold is unlinked, but not durably: it must not come back beside work that expects the
        // store as it is now.
        try EngineError.at(location.directory) { try Files.syncDirectory(location.directory) }
        do {
            try Self.requireRemoved(location.wal, wal)
            if !Mutant.isOn(.noGuard) { try connection.begin(.immediate) }
            version = try connection.dataVersion()
        } catch {
            if restoringWAL, !hasWork { try? connection.setJournalMode(.wal) }
            throw EngineError(error, during: location.path)
        }
    }

    /// SQLite ignores it when it can't remove a -wal that it has folded in. Beside the new store it would be taken for
    /// another program's.
    private static func requireRemoved(_ path: String, _ before: FileStatus?) throws {
        guard let before, let after = try Files.statusIfExists(path), after.size > 0, after.inode == before.inode
        else { return }
        throw EngineError(
            .inputOutput, "\(path): can't be removed, although all of it is in the store",
            remedy: "check the disk, and that you may remove files from this folder, then run again")
    }

    deinit {
        release(keepingWork: hasWork)
    }

    /// Raises the lock from RESERVED to EXCLUSIVE. If another program could write in between, the store has changed and
    /// nothing is swapped. It is one statement, which keeps RESERVED while it waits for readers to end: no one writes
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - timeout: seconds for readers to end.
    ///   - cancellation: ends the wait too.
    /// - Throws: `.busy` when the time is over, `.undecided` where the store has changed, or the request to stop.
    package func lockExclusively(timeout: Double, cancellation: Cancellation = Cancellation()) throws(EngineError) {
        try EngineError.at(location.path) {
            // Nothing was written. A COMMIT would wait for readers by itself, for as long as a connection waits by
            // default.
            try connection.rollback()
            connection.setBusyHandler(Self.patience(timeout, cancellation))
            defer { connection.removeBusyHandler() }
            do throws(SQLiteError) {
                try connection.begin(.exclusive)
            } catch {
                try cancellation.check()
                throw error
            }
            try cancellation.check()
            guard try connection.dataVersion() == version else {
                throw EngineError(
                    .undecided, "\(location.path): the store was written to while it was migrated",
                    remedy: "close the program that uses it, then run again with --restart")
            }
        }
    }

    /// Milliseconds between two tries for the lock, and until a request to stop is seen.
    private static let pause: UInt32 = 20
    /// Seconds; longer waits are this long.
    private static let longestWait = 1_000_000.0

    /// Waits a moment; returns whether to try again.
    private static func patience(_ timeout: Double, _ cancellation: Cancellation) -> () -> Bool {
        let seconds = timeout.isNaN ? 0 : max(0, min(timeout, longestWait))
        let end = ContinuousClock.now + .seconds(seconds)
        return {
            guard !cancellation.isCancelled, ContinuousClock.now < end else { return false }
            Pause.rest(milliseconds: pause)
            return true
        }
    }

    /// Ends the guard and gives the store its journal mode back, unless unfinished work expects it as it is, or it is
    /// now the backup.
    package func release(keepingWork: Bool) {
        if isDone { return }
        isDone = true
        // The store is complete in either mode: a failure here leaves the flag of rollback mode, which Core Data
        // changes back when it opens the store.
        try? connection.rollback()
        if restoresWAL, !keepingWork { try? connection.setJournalMode(.wal) }
    }
}
