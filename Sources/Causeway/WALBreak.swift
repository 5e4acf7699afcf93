import CausewayEngine
import CausewayStores

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

    init(_ found: CausewayStores.WALBreak, copy: String? = nil) {
        readableCommits = found.readableCommits
        unreadableFrames = found.unreadableFrames
        self.copy = copy
    }
}
