import CausewayPlatform
import CausewaySQLite

/// Makes a verified staging store what Core Data would have left: no progress, the source's journal flag, no file beside
/// it. Can be done again after a crash at any point.
struct StagingSeal {
    let path: String
    /// Whether the finished store's header says WAL.
    let inWALMode: Bool

    func close() throws(EngineError) {
        do {
            try removeProgress()
        } catch {
            throw EngineError(writing: error, during: "finishing \(path)")
        }
        do {
            // PERSIST has left a journal, which says nothing any more: SQLite has looked at it above.
            for suffix in ["-journal", "-wal", "-shm"] { try Files.unlink(path + suffix) }
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
        KillPoint.reach(.sealed)
        try sync()
    }

    private func removeProgress() throws(SQLiteError) {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        // FULL doesn't sync the folder after the journal is unlinked: a power cut could bring the journal back beside a file
        // that is shorter by then, and SQLite would roll that back.
        try connection.setPragma("synchronous", to: "EXTRA")
        try connection.execute("DROP TABLE IF EXISTS \(StagingStore.progressTable)")
        if try connection.pragmaInteger("auto_vacuum") == Self.incremental {
            // The row's pages are given back.
            try connection.execute("PRAGMA incremental_vacuum(\(Self.vacuumedPages))")
        }
        if inWALMode {
            // The last statement: it leaves only the flag.
            try connection.setJournalMode(.wal)
        } else if try connection.journalMode() != .delete {
            try connection.setJournalMode(.delete)
        }
        try connection.close()
    }

    /// `PRAGMA auto_vacuum` of all stores that Core Data makes.
    private static let incremental: Int64 = 2

    /// Pages that are given back at most: a progress row takes a few, and moving many would take long.
    private static let vacuumedPages = 64

    private func sync() throws(EngineError) {
        do {
            try Files.syncFile(path)
            try Files.syncDirectory(Paths.parent(of: path))
        } catch {
            var failure = EngineError(.inputOutput, "\(path): \(error.message)")
            failure.isFailedSync = true
            throw failure
        }
    }
}
