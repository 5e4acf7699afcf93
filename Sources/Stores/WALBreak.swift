import CausewayPlatform
import CausewaySQLiteFile

/// A `-wal` of which SQLite reads only the first part, although more of the same generation follows: a frame's checksum
/// fails there.
///
/// After a power loss this is normal: the commits after it were never finished, unless the disk had reported them as
/// written. Otherwise it is damage, and they are lost. The file doesn't tell which. A migration continues with what
/// SQLite reads. In place it keeps a copy of the `-wal` beside the backup, since SQLite folds the `-wal` itself in and
/// removes it.
public struct WALBreak: Hashable, Codable, Sendable {
    /// Commits that can be read.
    public var readableCommits: Int
    /// Frames after them that can't: pages, as they were written.
    public var unreadableFrames: Int
    /// Where a copy of the `-wal` is kept; nil while the `-wal` itself is still there.
    public var copy: String?

    /// Checks a log that others may write to meanwhile: a break must be found twice. nil if the log can be read to its
    /// end, or ends as logs do.
    ///
    /// - Parameters:
    ///   - path: the `-wal`; it need not be there.
    ///   - pageSize: the database's.
    /// - Throws: `.missing` or `.inputOutput` where it can't be read at all.
    package init?(in path: String, pageSize: Int) throws(EngineError) {
        var last: (status: FileStatus, found: WALBreak)?
        do {
            for _ in 0..<Self.attempts {
                guard let status = try Files.statusIfExists(path), status.kind == .regular,
                    let found = try Self(scanning: path, pageSize: pageSize)
                else { return nil }
                if let last, last == (status, found) { break }
                last = (status, found)
                Pause.rest(milliseconds: Self.interval)
            }
        } catch {
            if error.code == .notFound { return nil }
            throw EngineError(reading: error, at: path)
        }
        guard let last else { return nil }
        self = last.found
    }

    /// Milliseconds between two looks, and the most looks.
    private static let interval: UInt32 = 20
    private static let attempts = 50

    private init?(scanning path: String, pageSize: Int) throws(FileError) {
        let scan = try WriteAheadLogScan(of: OpenFile(path, mode: .read), pageSize: pageSize)
        let frames = max(scan.unreadableFrames, scan.otherFrames)
        guard frames > 0 else { return nil }
        (readableCommits, unreadableFrames) = (scan.readableCommits, frames)
    }

    /// One sentence, which begins with the file.
    package func sentence(_ path: String) -> String {
        if readableCommits == 0 {
            return """
                \(path): none of its commits can be read (frames: \(unreadableFrames)): it doesn't belong to this \
                store, or its beginning is damaged; the store by itself is read. After a power loss this may be normal
                """
        }
        return """
            \(path): commits that can be read: \(readableCommits); frames after them that can't, since a checksum \
            fails: \(unreadableFrames); after a power loss this is normal, otherwise it is damage; the file doesn't tell \
            which
            """
    }
}
