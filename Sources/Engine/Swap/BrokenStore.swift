import CausewayPlatform
import CausewayStores

/// What lies at a store's path where SQLite can't read it: a file that is no database, or a log and a journal whose store is
/// gone. It is set aside as it is, since something of it may yet be recovered.
final class BrokenStore {
    private let location: StoreLocation
    private let lock: RangeLock?
    /// Old and new names of what was set aside.
    private var moved: [(from: String, to: String)] = []

    /// Keeps other programs from the file: what has it open as a database holds one of SQLite's locks, or is told that it
    /// was moved.
    ///
    /// - Throws: `.busy` where somebody uses it, `.inputOutput`.
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

    /// Gives log and journal the name that the file gets: beside the backup, SQLite would play them into that.
    ///
    /// - Returns: what was done.
    func moveSidecars(to kept: String) throws(EngineError) -> [String] {
        do {
            for (path, suffix) in [(location.wal, "-wal"), (location.journal, "-journal"), (location.shm, "-shm")] {
                guard let status = try Files.statusIfExists(path) else { continue }
                // The index of a log is made anew.
                if try path == location.shm || location.isSpent(path, status) {
                    try Files.unlink(path)
                    continue
                }
                guard try Files.statusIfExists(kept + suffix) == nil else {
                    throw EngineError(.cannotCreate, "\(kept)\(suffix): is there already", remedy: "move it away")
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

    /// The file keeps its name after all.
    func moveSidecarsBack() {
        // The failure that counts is the one that is thrown.
        for (from, to) in moved.reversed() { _ = try? Files.rename(to, to: from) }
        moved = []
    }
}
