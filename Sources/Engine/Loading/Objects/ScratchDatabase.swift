import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// A database in the work directory for a step's look-ups: associations and shared rows. No other run uses it, so it
/// has no journal and isn't synced.
final class ScratchDatabase {
    /// KiB of page cache.
    private static let cacheKibibytes: Int64 = 16_000

    let path: String
    let connection: Connection

    /// Creates a fresh file.
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
