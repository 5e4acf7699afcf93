import CausewayPlatform
import CausewaySQLite
import CausewayStores

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
            // SQLite doesn't say when it couldn't fold a -wal in as it closed.
            guard try (Files.statusIfExists(path + "-wal")?.size ?? 0) == 0 else {
                throw EngineError(losing: "its -wal is still there", during: "finishing \(path)")
            }
            // PERSIST has left a journal, which says nothing any more: SQLite has looked at it above.
            for suffix in ["-journal", "-wal", "-shm"] { try Files.unlink(path + suffix) }
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(error, during: path)
        }
        KillPoint.reach(.sealed)
        try sync()
    }

    private func removeProgress() throws(SQLiteError) {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        // FULL doesn't sync the folder after the journal is unlinked: a power cut could bring the journal back beside a file
        // that is shorter by then, and SQLite would roll that back.
        try connection.setPragma("synchronous", to: "EXTRA")
        // Sealed before, it isn't written to: in WAL mode by now, it would be through a -wal.
        if try hasProgress(connection) {
            try connection.begin(.immediate)
            try connection.execute("DROP TABLE \(StagingStore.progressTable)")
            if try connection.pragmaInteger("auto_vacuum") == Self.incremental {
                // The row's pages are given back.
                try connection.execute("PRAGMA incremental_vacuum(\(Self.vacuumedPages))")
            }
            try connection.commit()
        }
        let mode: Connection.JournalMode = inWALMode ? .wal : .delete
        // The last statement: it leaves only the flag.
        if try connection.journalMode() != mode { try connection.setJournalMode(mode) }
        try connection.close()
    }

    private func hasProgress(_ connection: borrowing Connection) throws(SQLiteError) -> Bool {
        var statement = try connection.prepare(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(StagingStore.progressTable)'")
        return try statement.step()
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
