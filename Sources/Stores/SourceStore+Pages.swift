import CausewayPlatform
package import CausewaySQLiteFile

extension SourceStore {
    /// The store's file, to read its pages, and nothing else: the lock of the store's connection keeps writers away.
    ///
    /// With a -wal its newest pages are read there, as they are when this is first asked: good for what a plan
    /// estimates. In a store that is migrated in place it has been folded in before rows are read.
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
        let opened = OpenedPages(file, log: hasNewerPages ? location.wal : nil, pageSize: Int(pageSize))
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

    init(_ file: consuming OpenFile, log: String?, pageSize: Int) {
        let layout: DatabaseLayout
        let newer: LoggedPages?
        do throws(SourceRefusal) {
            newer = try Self.newer(log, pageSize)
            layout = try DatabaseLayout(of: file, newer: newer)
        } catch {
            answer = .failure(error)
            refused = consume file
            return
        }
        answer = .success(PageFile(file, layout, newer: newer))
        refused = nil
    }

    private static func newer(_ log: String?, _ pageSize: Int) throws(SourceRefusal) -> LoggedPages? {
        guard let log else { return nil }
        do throws(FileError) {
            let pages = try LoggedPages(OpenFile(log, mode: .read), pageSize: pageSize)
            return pages.pageCount > 0 ? pages : nil
        } catch {
            // It was folded in meanwhile.
            if error.code == .notFound { return nil }
            throw .unreadable(error)
        }
    }
}
