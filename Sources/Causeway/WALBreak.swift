import CausewayEngine
import CausewayStores

/// A `-wal` of which SQLite reads only the first part, although more of the same generation lies behind it: a frame's
/// checksum fails there.
///
/// After a power loss that is normal: the commits behind were never finished, unless the disk had said so. Otherwise it is
/// damage, and they are lost. The file doesn't tell which. A migration goes on with what SQLite reads; in place it keeps a
/// copy of the `-wal` beside the backup, since the `-wal` itself is folded in and removed.
public struct WALBreak: Hashable, Codable, Sendable {
    /// Commits that can be read.
    public var readableCommits: Int
    /// Frames after them that can't: pages, as they were written.
    public var unreadableFrames: Int
    /// Where a copy of the `-wal` is kept; nil where the `-wal` is still in its place.
    public var copy: String?

    init(_ found: CausewayStores.WALBreak, copy: String? = nil) {
        readableCommits = found.readableCommits
        unreadableFrames = found.unreadableFrames
        self.copy = copy
    }
}
