import CausewayPlatform
import CausewayStores

/// A store that SQLite can't read: a file that isn't a database, or a log and a journal whose store is gone. The files
/// are moved as they are, since parts may be recoverable.
final class BrokenStore {
    private let location: StoreLocation
    private let lock: RangeLock?
    /// Old and new names of the moved files.
    private var moved: [(from: String, to: String)] = []

    /// Keeps other programs from the file: a program that has it open as a database holds one of SQLite's locks, or
    /// SQLite tells it that the file was moved.
    ///
    /// - Throws: `.busy` if a program uses it, `.inputOutput`.
    init(_ location: StoreLocation) throws(EngineError) {
        self.location = location
        do {
            guard try Files.statusIfExists(location.path) != nil else {
                lock = nil
                return
            }
            let file = try OpenFile(location.path, mode: .readWrite)
            lock = try RangeLock(file, start: StoreHandover.lockStart, length: StoreHandover.lockLength)
        } catch {
            guard error.code == .busy else { throw EngineError(.inputOutput, "\(location.path): \(error.message)") }
            throw EngineError(
                .busy, "\(location.path): the file is in use", remedy: "close the program that uses it, then run again")
        }
    }

    /// Moves log and journal along with the file: beside the backup, SQLite would write them into that.
    ///
    /// - Returns: what was done.
    func moveSidecars(to kept: String) throws(EngineError) -> [String] {
        do {
            for (path, suffix) in [(location.wal, "-wal"), (location.journal, "-journal"), (location.shm, "-shm")] {
                guard let status = try Files.statusIfExists(path) else {
                    // Where no store was, a rollback of the same backup has moved it that was killed.
                    if try Files.statusIfExists(kept + suffix) != nil { moved.append((path, kept + suffix)) }
                    continue
                }
                // SQLite makes the index of a log again.
                if try path == location.shm || location.isSpent(path, status) {
                    try Files.unlink(path)
                    continue
                }
                guard try Files.statusIfExists(kept + suffix) == nil else {
                    throw EngineError(.cannotCreate, "\(kept)\(suffix): already exists", remedy: "move it away")
                }
                try Files.rename(path, to: kept + suffix)
                moved.append((path, kept + suffix))
            }
            try Files.syncDirectory(location.directory)
        } catch {
            moveSidecarsBack()
            throw EngineError(error, during: location.path)
        }
        return moved.map { "\($0.from): is kept as \($0.to)" }
    }

    /// Undoes what a rollback did that was killed before its commit point: while the store has a second name,
    /// `<store>.rolledback-<digits>`, its log and its journal may be beside that name. Without them rows are missing.
    ///
    /// - Throws: `.undecided` where a program has made others since, `.busy` where it uses the store.
    static func takeBack(_ location: StoreLocation) throws(EngineError) {
        // A store that can be read isn't what the rollback found: others may have put it there since.
        for kept in try secondNames(of: location) where try !canBeRead(location) {
            let store = try BrokenStore(location)
            for (path, suffix) in [(location.wal, "-wal"), (location.journal, "-journal")] {
                try EngineError.at(kept + suffix) {
                    guard try Files.statusIfExists(kept + suffix) != nil else { return }
                    if let there = try Files.statusIfExists(path) {
                        guard try location.isSpent(path, there) else {
                            throw EngineError(
                                .undecided,
                                "\(kept)\(suffix): a rollback that was ended moved it there; \(path) is another one",
                                remedy: "move one of them away, then run again")
                        }
                        try Files.unlink(path)
                    }
                    try Files.rename(kept + suffix, to: path)
                }
            }
            try EngineError.at(kept) {
                // The names of the log first: if this run is killed, too, the next one finds them.
                try Files.syncDirectory(location.directory)
                try Files.unlink(kept)
                try Files.syncDirectory(location.directory)
            }
            withExtendedLifetime(store) {}
        }
    }

    private static func canBeRead(_ location: StoreLocation) throws(EngineError) -> Bool {
        do throws(EngineError) {
            try SourceStore.reading(location).release()
            return true
        } catch {
            guard error.kind == .sourceData else { throw error }
            return false
        }
    }

    private static func secondNames(of location: StoreLocation) throws(EngineError) -> [String] {
        let status = try EngineError.reading(location.path) { try Files.statusIfExists(location.path) }
        guard let status, status.kind == .regular, status.linkCount > 1 else { return [] }
        var names: [String] = []
        for path in try StoreBackups(location: location).paths(of: .rolledback) {
            let other = try EngineError.reading(path) { try Files.statusIfExists(path) }
            if other?.isSameFile(as: status) == true { names.append(path) }
        }
        return names
    }

    /// Undoes it: the file keeps its name after all.
    func moveSidecarsBack() {
        // The thrown failure matters.
        for (from, to) in moved.reversed() { _ = try? Files.rename(to, to: from) }
        moved = []
    }
}
