import CausewayCheckpoint
import CausewayPlatform
package import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// `plan.json`: what the unfinished work is for. Written once, before the first row, and never changed.
package struct PlanRecord: Codable, Hashable, Sendable {
    package static let format = "causeway-plan-1"

    package var format = PlanRecord.format
    /// Everything that decides what the rows become.
    package var fingerprint: PlanFingerprint
    /// The store that is read.
    package var source: SourceIdentity
    /// Whether its header said WAL before it was folded in.
    package var sourceIsWAL: Bool
    /// UUID of this migration, 32 hexadecimal digits: names the backup.
    package var migration: String
    /// The bits of the seconds since 2001 that `now()` gives in expressions.
    package var now: UInt64
    /// Every version on the way.
    package var path: [String]
    /// The versions of each step.
    package var steps: [[String]]
    /// Where the new store goes; nil for the source's place.
    package var output: String?
    /// Files that the run writes beside the new store.
    package var sideFiles: [String]
    /// Warnings of the check of the rows, for the summary of the run that finishes the work.
    package var notices: [String]?
    /// What the steps drop, counted before the first row: as `PreparedMigration.lossCounts`.
    package var lossCounts: [[Int?]]?

    /// The identity that this work's checkpoints must have.
    var identity: CheckpointIdentity {
        CheckpointIdentity(
            plan: fingerprint.digest, source: source.digest, migration: Hexadecimal.bytes(migration) ?? [])
    }

    /// Whether a store has the work's target version. No connection of this process has it open.
    func leads(to location: StoreLocation) throws(EngineError) -> Bool {
        let store = try SourceStore.reading(location)
        defer { store.release() }
        return fingerprint.hasModel(path.last ?? "", of: store.metadata.entityHashes)
    }

    /// Added to the store's name for its backup.
    var backupSuffix: String { ".premigration-" + String(migration.prefix(8)) }
}

/// `step-K.verified.json`: a step's store is complete and was verified.
package struct VerifiedRecord: Codable, Hashable, Sendable {
    package static let format = "causeway-verified-1"

    package var format = VerifiedRecord.format
    package var fingerprint: String
    package var migration: String
    /// Counted from 1.
    package var step: Int
    /// How many steps before it have run together with it; nil in records of older versions.
    package var stepsBefore: Int?
    package var rows: Int
    package var bytes: Int
    package var dropped: Int
    package var made: Int
    package var endedLinks: Int
    package var violations: Int
    package var defaulted: Int
    package var rejected: Int
    /// Source rows that were left out, links to them that ended, and rows that therefore lack a mandatory object.
    package var quarantined: Int
    package var quarantinedLinks: Int
    package var bereftRows: Int
    /// How thoroughly it was verified.
    package var verification: VerificationLevel
    /// Bytes of pages, shared with the source, that nothing has read; nil in records of older versions.
    package var unreadBytes: Int?
    /// Rows and bytes read by this step and those before.
    package var progressRows: Int
    package var progressBytes: Int
    /// Bytes of the files beside the new store when the step was done.
    package var sideFiles: SideFileMarks
    /// Rows of each pass and, in hexadecimal, the SHA-256 of its digest: the sums themselves are as many as its cells.
    package var passes: [Pass]

    package struct Pass: Codable, Hashable, Sendable {
        package var station: String
        package var title: String
        package var rows: Int
        package var digest: String
    }
}

/// `swap.json`: the new store is about to take the old one's place, or has taken it (InsideCrashSafety §4.2, step 9).
package struct SwapIntent: Codable, Hashable, Sendable {
    package static let format = "causeway-swap-1"

    package var format = SwapIntent.format
    package var fingerprint: String
    package var migration: String
    /// The store's name in its folder, and the backup's.
    package var store: String
    package var backup: String
    package var source: FileIdentity
    package var destination: FileIdentity
    /// The staging store's name in the work directory.
    package var staging: String
}

/// Identifies a file, with enough of its content to see that it is the same.
package struct FileIdentity: Codable, Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    package var bytes: Int64
    /// SHA-256 of the first 100 bytes, in hexadecimal: the database header, which every commit in rollback mode
    /// changes.
    package var header: String

    /// Reads a file that SQLite doesn't have open in this process; nil if nothing has the name.
    init?(of path: String) throws(FileError) {
        guard let status = try Files.statusIfExists(path), status.kind == .regular else { return nil }
        self.init(status, try Files.readPrefix(of: path, length: DatabaseHeader.length))
    }

    init(_ status: FileStatus, _ head: [UInt8]) {
        (device, inode, bytes) = (status.device, status.inode, status.size)
        header = Hexadecimal.text(Digest256.of(head))
    }

    /// The same file, whatever was written to it. Both are in one folder or its work directory; the device's number
    /// isn't compared, since it may change when the machine restarts (InsideCrashSafety §4.1).
    func isSameFile(as other: FileIdentity) -> Bool { inode == other.inode }
}

/// Which store is read, as it was when the work began (InsideCrashSafety §4.1).
package struct SourceIdentity: Codable, Hashable, Sendable {
    package var bytes: Int64
    /// SHA-256 of the first 100 bytes, in hexadecimal.
    package var header: String
    /// `NSStoreUUID`.
    package var uuid: String
    /// Where writers aren't kept out (`--output`), a commit in WAL mode changes no byte of the header: then the
    /// modification times of store and -wal, in nanoseconds, and the -wal's length show whether it happened.
    package var written: [Int64]

    /// For checkpoints.
    var digest: [UInt8] {
        Digest256.of(Array(([String(bytes), header, uuid] + written.map(String.init)).joined(separator: "\n").utf8))
    }

    /// The store as it is now, through its descriptor.
    init(_ descriptor: StoreDescriptor, uuid: String, isGuarded: Bool) throws(EngineError) {
        let file = try descriptor.identity()
        (bytes, header, self.uuid) = (file.bytes, file.header, uuid)
        written = []
        guard !isGuarded else { return }
        written = try EngineError.reading(descriptor.location.path) {
            let status = try Files.status(of: descriptor.location.path)
            let wal = try Files.statusIfExists(descriptor.location.wal).flatMap { $0.size > 0 ? $0 : nil }
            return [status.modificationTime, wal?.modificationTime ?? 0, wal?.size ?? 0]
        }
    }

    /// What differs, for a message; without the UUID, which the file's header doesn't have.
    func differences(from other: SourceIdentity) -> [String] {
        var result: [String] = []
        if bytes != other.bytes { result.append("its size was \(other.bytes) bytes and is \(bytes)") }
        if header != other.header { result.append("its header has changed: a program has written to it") }
        if written != other.written, result.isEmpty { result.append("it was written to since") }
        return result
    }
}
