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
                guard let status = try Files.statusIfExists(path) else { continue }
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

    /// Undoes it: the file keeps its name after all.
    func moveSidecarsBack() {
        // The thrown failure matters.
        for (from, to) in moved.reversed() { _ = try? Files.rename(to, to: from) }
        moved = []
    }
}
