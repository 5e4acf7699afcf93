import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The new store under construction, as a file; statements need a `StagingConnection` on it.
struct StagingFile {
    let path: String
    /// The record that the store was verified. It describes this file and is removed with it.
    let record: String
    private let work: String

    init(work: String, step: Int) {
        self.work = work
        path = work + "/" + WorkFile.staging(step)
        record = work + "/" + WorkFile.verified(step)
    }

    /// Whether there is a file.
    func exists() throws(EngineError) -> Bool {
        try EngineError.at(path) { try Files.exists(path) }
    }

    /// Whether there is a store that may have content.
    ///
    /// A file without a second page has no table: the run that made it ended before its first commit, so nothing is
    /// lost. The first page is written on its own, when `auto_vacuum` is set.
    func hasContent() throws(EngineError) -> Bool {
        try EngineError.at(path) {
            guard let status = try Files.statusIfExists(path), status.size > 0 else { return false }
            let head = try Files.readPrefix(of: path, length: DatabaseHeader.length)
            return DatabaseHeader(head).map { status.size > $0.pageSize } ?? true
        }
    }

    /// What SQLite reads of the schema. The file's pages may be in the making: only the schema is read.
    /// `hasHouse` is false before the step has made Core Data's own tables.
    ///
    /// - Throws: `.foreignCheckpoint` where it isn't the file that an earlier run left, `.inputOutput`.
    func schema(hasHouse: Bool = true) throws(EngineError) -> StoreSchema {
        do throws(EngineError) {
            return try EngineError.reading(path) {
                try StoreSchema(
                    reading: try Connection(path: path, mode: .readOnly, hardening: .own), hasHouse: hasHouse)
            }
        } catch {
            // No damage to the user's data: the step can be made again.
            guard error.kind == .sourceData else { throw error }
            throw EngineError(
                .foreignCheckpoint, "\(path): the unfinished store can't be read any more: \(error.message)")
        }
    }

    /// Sets the header's count of commits, durably; no connection has the file open.
    ///
    /// - Throws: `.inputOutput`; where an fsync failed, nothing of the store can be trusted.
    func setChangeCounter(_ counter: UInt32) throws(EngineError) {
        do throws(FileError) {
            try ChangeCounter.set(counter, in: path)
        } catch {
            var failure = EngineError(.inputOutput, "\(path): \(error.message)", remedy: "run again")
            failure.isFailedSync = error.operation == "sync"
            throw failure
        }
    }

    /// Fills free pages with zeros; no connection has the file open. Not durable before the next sync.
    ///
    /// - Throws: `.verification` where the list of free pages is broken, `.inputOutput`.
    func clearFreePages() throws(EngineError) {
        let pages = try pages()
        let file = try EngineError.at(path) { try OpenFile(path, mode: .readWrite) }
        do throws(PageReadError) {
            try pages.clearFreePages(in: file)
        } catch {
            throw EngineError(
                error.cause == nil ? .verification : .inputOutput, "\(path): its free pages: \(error)",
                remedy: "check the disk, then run again")
        }
    }

    /// Its pages, as many as the header counts. Nobody may have a connection open on the file: when the pages are let
    /// go of, this process's locks on it are gone.
    ///
    /// - Throws: `.verification` where it isn't a file that pages can be read of, `.inputOutput`.
    func pages() throws(EngineError) -> PageFile { try Self.pages(at: path) }

    /// As `pages()`.
    static func pages(at path: String) throws(EngineError) -> PageFile {
        let file = try EngineError.at(path) { try OpenFile(path, mode: .read) }
        do throws(SourceRefusal) {
            let layout = try DatabaseLayout(of: file)
            return PageFile(file, layout)
        } catch {
            throw EngineError(error, ofNewStore: path)
        }
    }

    // MARK: - Removing

    /// Removes the record that the store was verified. The sync of the folder is the caller's.
    ///
    /// - Returns: whether there was one.
    func removeRecord() throws(EngineError) -> Bool {
        try EngineError.at(record) { try Files.unlink(record) }
    }

    /// Removes the store with its record, durably. It tries both before it reports a failure: if one can't be removed,
    /// the other is.
    func remove() throws(EngineError) {
        var failures: [FileError] = []
        do throws(FileError) {
            try Files.unlink(path)
            // Only after the store: without its journal the store would never be rolled back.
            try Files.unlink(path + WorkFile.journal)
        } catch {
            failures.append(error)
        }
        do throws(FileError) {
            try Files.unlink(record)
        } catch {
            failures.append(error)
        }
        do throws(FileError) {
            try Files.syncDirectory(work)
        } catch {
            failures.append(error)
        }
        if let failure = failures.first { throw EngineError(.inputOutput, "\(failure.path): \(failure.message)") }
    }

    // MARK: - Sealing

    /// Makes a verified store as Core Data would leave it: no progress, the source's journal flag, no file beside it.
    /// It can be repeated after a crash at any point.
    ///
    /// - Parameter inWALMode: whether the finished store's header says WAL.
    /// - Throws: `.inputOutput`; where an fsync failed, nothing of the store can be trusted.
    func seal(inWALMode: Bool) throws(EngineError) {
        try finishHeader(inWALMode: inWALMode)
        try EngineError.at(path) {
            // SQLite doesn't say when it couldn't fold a -wal in as it closed.
            guard try (Files.statusIfExists(path + "-wal")?.size ?? 0) == 0 else {
                throw EngineError(losing: "its -wal is still there", during: "finishing \(path)")
            }
            // The journal that PERSIST left is spent: it says so itself, should a power cut bring its name back.
            for suffix in [WorkFile.journal, "-wal", "-shm"] { try Files.unlink(path + suffix) }
        }
        KillPoint.reach(.sealed)
        try sync()
    }

    private func finishHeader(inWALMode: Bool) throws(EngineError) {
        let title = "finishing \(path)"
        let connection = try EngineError.writing(title) { () throws(SQLiteError) in
            let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            try connection.setPragma("synchronous", to: "FULL")
            try connection.setPragma("secure_delete", to: 1)
            return connection
        }
        let isWAL = try EngineError.writing(title) { try connection.journalMode() == .wal }
        // An earlier run had come so far: nothing is left to be written.
        if !isWAL { try StagingJournal(of: path).keep(on: connection) }
        try EngineError.writing(title) {
            try ProgressRow.remove(on: connection)
            // The last statement: it leaves only the flag.
            if inWALMode != isWAL { try connection.setJournalMode(inWALMode ? .wal : .delete) }
        }
        do throws(SQLiteError) {
            try connection.close()
        } catch {
            throw EngineError(writing: error, during: title)
        }
    }

    private func sync() throws(EngineError) {
        do {
            try Files.syncFile(path)
            try Files.syncDirectory(work)
        } catch {
            var failure = EngineError(.inputOutput, "\(path): \(error.message)")
            failure.isFailedSync = true
            throw failure
        }
    }
}

extension EngineError {
    /// Pages of the new store can't be read: the system couldn't, or what is there isn't what was written.
    init(_ refusal: SourceRefusal, ofNewStore path: String) {
        let message = "\(path): its pages can't be read: \(refusal)"
        if case .unreadable = refusal {
            self.init(.inputOutput, message, remedy: "check the disk, then run again")
        } else {
            self.init(.verification, message)
        }
    }
}
