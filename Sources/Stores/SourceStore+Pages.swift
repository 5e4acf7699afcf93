import CausewayPlatform
package import CausewaySQLiteFile

extension SourceStore {
    /// The store's file, to read its pages, and nothing else: the lock of the store's connection keeps writers away.
    ///
    /// Opened once and kept as long as the store: closing any descriptor of a file drops the process's locks on it, those
    /// of SQLite too (InsideCrashSafety §2.1).
    ///
    /// - Throws: `SourceRefusal` where only SQLite can read the file.
    package func pageFile() throws(SourceRefusal) -> PageFile {
        if let opened { return opened }
        let file: OpenFile
        do throws(FileError) {
            file = try OpenFile(location.path, mode: .read)
        } catch {
            throw .unreadable(error)
        }
        let layout = try DatabaseLayout(of: file)
        let result = PageFile(file, layout)
        opened = result
        return result
    }

    /// Whether pages newer than the file's are in its -wal.
    package var hasNewerPages: Bool { (walBefore?.size ?? 0) > 0 }
}
