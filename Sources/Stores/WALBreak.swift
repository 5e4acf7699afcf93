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
    /// Approximate bytes per read.
    private static let pieceLength = 1 << 20

    private init?(scanning path: String, pageSize: Int) throws(FileError) {
        let file = try OpenFile(path, mode: .read)
        let head = UnsafeMutableRawBufferPointer.allocate(byteCount: WriteAheadLogScan.headerLength, alignment: 8)
        defer { unsafe head.deallocate() }
        let count = try unsafe file.read(into: head, at: 0)
        var scan = WriteAheadLogScan(header: unsafe Array(head[..<count]), pageSize: pageSize)
        let length = scan.frameLength * max(1, Self.pieceLength / scan.frameLength)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
        defer { unsafe piece.deallocate() }
        var offset = Int64(WriteAheadLogScan.headerLength)
        while true {
            let count = try unsafe file.read(into: piece, at: offset)
            // An incomplete frame at the end doesn't count.
            for start in stride(from: 0, through: count - scan.frameLength, by: scan.frameLength) {
                unsafe scan.add(UnsafeRawBufferPointer(rebasing: piece[start..<start + scan.frameLength]))
            }
            if count < length { break }
            offset += Int64(length)
        }
        guard scan.unreadableFrames > 0 else { return nil }
        (readableCommits, unreadableFrames) = (scan.readableCommits, scan.unreadableFrames)
    }

    /// One sentence, which begins with the file.
    package func sentence(_ path: String) -> String {
        """
        \(path): commits that can be read: \(readableCommits); frames after them that can't, since a checksum fails: \
        \(unreadableFrames); after a power loss this is normal, otherwise it is damage; the file doesn't tell which
        """
    }
}
