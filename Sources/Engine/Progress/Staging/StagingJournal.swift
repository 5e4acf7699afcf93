import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// The rollback journal beside a staging file.
///
/// SQLite makes the name of a new journal durable with an fsync of the folder, and ignores it if that fails (os_unix.c,
/// `unixSync`): after a power cut the journal could be missing while pages whose old content it held are half written,
/// and nobody would know. So the name is made here, with its failure reported, before the first page changes; PERSIST
/// keeps it from then on.
struct StagingJournal {
    private let path: String

    /// - Parameter store: the staging file, which has a page: beside an empty file SQLite removes a journal.
    init(of store: String) {
        path = store + WorkFile.journal
    }

    /// Keeps one journal for all transactions of a connection, which has none open. What an earlier run left in it is
    /// rolled back.
    ///
    /// - Parameter connection: the only one on the file.
    /// - Throws: `.inputOutput`; where an fsync failed, nothing of the store can be trusted.
    func keep(on connection: borrowing Connection) throws(EngineError) {
        // Reads the schema first: a hot journal is gone after it, and the next one has another file.
        try EngineError.writing(path) { try connection.setJournalMode(.persist) }
        do throws(FileError) {
            try OpenFile(path, mode: .create).sync()
            try Files.syncDirectory(Paths.parent(of: path))
        } catch {
            guard error.operation == "sync" else { throw EngineError(.inputOutput, "\(path): \(error.message)") }
            throw EngineError(losing: error.message, during: path)
        }
    }

    /// Removes the journal as the connection's last act: a reader would have to check it.
    func remove(on connection: borrowing Connection) throws(EngineError) {
        try EngineError.writing(path) { try connection.setJournalMode(.delete) }
    }
}
