import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// Notes that a store is in WAL mode: once its `-wal` is folded in, its header doesn't say so any more. Until
/// there is a plan, only this note tells the next run which mode the new store must have.
///
/// A file in the work directory with the number of the store's inode, durable before the store is owned. It stays after
/// the work, until the store has its mode back or another store is in its place.
struct OriginalMode {
    private let location: StoreLocation
    private let path: String

    init(of location: StoreLocation, work: String) {
        self.location = location
        path = work + "/" + WorkFile.originalMode
    }

    /// Bytes of a note: the digits of a number of 64 bits.
    private static let maximumLength = 20

    /// Whether the store, as it was before a run owned it, was in WAL mode: the note is about the file that is there.
    /// One about another file goes: the new store may get that file's number.
    func isNoted() throws(EngineError) -> Bool {
        try EngineError.at(path) {
            guard try Files.exists(path) else { return false }
            let text = String(decoding: try Files.readFile(path, limit: Self.maximumLength), as: UTF8.self)
            if try text == inode() { return true }
            try Files.unlink(path)
            return false
        }
    }

    /// Notes that it is in WAL mode, durably.
    func note() throws(EngineError) {
        guard try !isNoted() else { return }
        try EngineError.at(path, remedy: "make room, then run again") {
            try Files.writeFileDurably(path, Array(try inode().utf8))
        }
        KillPoint.reach(.modeNoted)
    }

    private func inode() throws(FileError) -> String { String(try Files.status(of: location.path).inode) }

    /// Restores the mode that an interrupted run changed, if no work depends on the store, and removes the note. If
    /// that fails now, the note stays for the next run.
    ///
    /// - Returns: what was done to the store; nil where there was nothing to do.
    func settle() -> String? {
        do {
            guard try isNoted(), try !location.saysWAL() else {
                try Files.unlink(path)
                return nil
            }
            // The next run copies its journal first.
            guard try !StoreFile.hasHotJournal(location) else { return nil }
            let connection = try Connection.owning(location)
            try connection.setJournalMode(.wal)
            try connection.close()
            try Files.unlink(path)
            return "it is in WAL mode again, which an interrupted run had changed"
        } catch {
            return nil
        }
    }
}
