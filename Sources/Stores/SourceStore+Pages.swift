import CausewayPlatform
package import CausewaySQLiteFile

extension SourceStore {
    /// The store's file, to read its pages, and nothing else: the lock of the store's connection keeps writers away.
    ///
    /// Opened once and kept as long as the store, even where it is refused: closing any descriptor of a file drops the
    /// process's locks on it, those of SQLite too (InsideCrashSafety §2.1).
    ///
    /// - Throws: `SourceRefusal` where only SQLite can read the file.
    package func pageFile() throws(SourceRefusal) -> PageFile {
        if let opened { return try opened.answer.get() }
        let file: OpenFile
        do throws(FileError) {
            file = try OpenFile(location.path, mode: .read)
        } catch {
            throw .unreadable(error)
        }
        let opened = OpenedPages(file)
        self.opened = opened
        return try opened.answer.get()
    }

    /// Whether pages newer than the file's are in its -wal.
    package var hasNewerPages: Bool { (walBefore?.size ?? 0) > 0 }
}

/// A store's file, opened to read its pages.
final class OpenedPages {
    let answer: Result<PageFile, SourceRefusal>
    /// Stays open like a file that is read.
    private let refused: OpenFile?

    init(_ file: consuming OpenFile) {
        let layout: DatabaseLayout
        do throws(SourceRefusal) {
            layout = try DatabaseLayout(of: file)
        } catch {
            answer = .failure(error)
            refused = consume file
            return
        }
        answer = .success(PageFile(file, layout))
        refused = nil
    }
}
