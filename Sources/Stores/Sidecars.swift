package import CausewayPlatform

extension StoreLocation {
    /// Whether a file beside an unused store holds nothing that SQLite would write into the store: an empty file, and a
    /// journal that a program in PERSIST mode has ended. SQLite zeroes its header then, and a journal whose first byte
    /// is zero isn't hot (pager.c, `hasHotJournal`).
    ///
    /// - Parameters:
    ///   - path: one of `wal`, `shm` and `journal`.
    ///   - status: the file's own.
    /// - Returns: whether it may be removed.
    /// - Throws: where a journal can't be read.
    package func isSpent(_ path: String, _ status: FileStatus) throws(FileError) -> Bool {
        if status.size == 0 { return true }
        guard path == journal, status.kind == .regular else { return false }
        do throws(FileError) {
            return try Files.readPrefix(of: path, length: 1) == [0]
        } catch {
            // A program that has just ended its transaction has removed it.
            guard error.code == .notFound else { throw error }
            return true
        }
    }
}
