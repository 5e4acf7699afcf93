import CausewayPlatform
import CausewaySQLite

/// Keeps writers away from a store from the first row read to the swap.
///
/// In rollback mode a RESERVED lock lets readers work and tells writers that the store is busy; a connection that was
/// opened before the swap and writes after it gets an error instead of bringing the old store back (reliability.md §0.3).
final class Guardian {
    private let location: StoreLocation
    private let connection: Connection
    /// The header's flag before; given back when the migration doesn't come to the swap, unless its work is kept: then the
    /// store stays as that work knows it.
    private let restoresWAL: Bool
    private var version: Int64
    private var isDone = false

    init(_ location: StoreLocation, restoringWAL: Bool) throws(EngineError) {
        self.location = location
        restoresWAL = restoringWAL
        do {
            connection = try Connection(path: location.path, mode: .readWrite, hardening: .untrusted)
            // Folds the -wal in and removes it; busy if anyone else has the store open. A hot journal is rolled back.
            try connection.setJournalMode(.delete)
        } catch {
            throw EngineError(reading: error, during: location.path)
        }
        do {
            // The journal of the fold is unlinked, but not durably: it must not come back beside work that counts on the
            // store as it is now.
            try Files.syncDirectory(location.directory)
        } catch {
            throw EngineError(.inputOutput, "\(location.directory): \(error.message)")
        }
        do {
            if !Mutant.isOn(.noGuard) { try connection.begin(.immediate) }
            version = try connection.dataVersion()
        } catch {
            if restoringWAL { try? connection.setJournalMode(.wal) }
            throw EngineError(reading: error, during: location.path)
        }
    }

    deinit {
        release(keepingWork: false)
    }

    /// From RESERVED to EXCLUSIVE. Between the two another program could write: then the store has changed and nothing is
    /// swapped.
    /// The timeout, in seconds, is for readers to end.
    func lockExclusively(timeout: Double) throws(EngineError) {
        do {
            if connection.isInTransaction { try connection.commit() }
            try connection.setBusyTimeout(milliseconds: Int32(clamping: Int(min(timeout, 1_000_000) * 1_000)))
            try connection.begin(.exclusive)
            guard try connection.dataVersion() == version else {
                throw EngineError(
                    .undecided, "\(location.path): the store was written to while it was migrated",
                    remedy: "close the program that uses it, then run again with --restart")
            }
        } catch {
            throw EngineError(error, during: location.path)
        }
    }

    /// Ends the guard and gives the store its journal mode back, unless unfinished work counts on it as it is.
    func release(keepingWork: Bool) {
        guard !isDone else { return }
        isDone = true
        // The store is complete in either mode: a failure here leaves the flag of rollback mode, which Core Data changes
        // back when it opens the store.
        try? connection.rollback()
        if restoresWAL, !keepingWork { try? connection.setJournalMode(.wal) }
    }

    /// Ends the guard on a file that is now the backup.
    func abandon() {
        guard !isDone else { return }
        isDone = true
        try? connection.rollback()
    }
}
