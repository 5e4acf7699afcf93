import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// A database in the work directory for what a step looks up while it runs: associations and shared rows. It is of no
/// use to any other run, so nothing of it is synced or journalled.
final class ScratchDatabase {
    /// KiB of page cache.
    private static let cacheKibibytes: Int64 = 16_000

    let path: String
    let connection: Connection

    /// Creates the file anew.
    init(at path: String) throws(EngineError) {
        self.path = path
        try EngineError.at(path, as: .cannotCreate) { try Files.unlink(path) }
        do {
            connection = try Connection(path: path, mode: .create, hardening: .own)
            try connection.setPragma("locking_mode", to: "EXCLUSIVE")
            try connection.setPragma("journal_mode", to: "OFF")
            try connection.setPragma("synchronous", to: "OFF")
            try connection.setPragma("cache_size", to: -Self.cacheKibibytes)
            try connection.setPragma("threads", to: 0)
            try connection.begin(.immediate)
        } catch {
            throw EngineError(creating: error, at: path)
        }
    }

    /// Ends the transaction and removes the file.
    func remove() throws(EngineError) {
        try EngineError.writing(path) { try connection.commit() }
        try EngineError.at(path) { try Files.unlink(path) }
    }
}
