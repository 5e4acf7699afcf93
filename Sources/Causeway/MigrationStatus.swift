import CausewayEngine
import CausewayStores

/// How far a migration of a store is, read from its work directory. It doesn't disturb a running migration.
///
/// ```swift
/// let status = try MigrationStatus(store: "Library.sqlite")
/// if status.state != .none, status.processID == nil { print("a migration has ended early; run it again") }
/// ```
public struct MigrationStatus: Hashable, Sendable, Codable {
    /// The store's path, links resolved.
    public var store: String
    /// How far it is.
    public var state: State
    /// The work directory, whether it is there or not.
    public var workDirectory: String
    /// Bytes of all files in the work directory.
    public var workBytes: Int
    /// Every version of the path; empty where there is no plan.
    public var path: [String]
    /// The current run of steps, counted from 0.
    public var step: Int
    /// How many there are.
    public var stepCount: Int
    /// The versions that it leads through, both ends included.
    public var versions: [String]
    /// The current station, for people: a pass, an index, a handler; nil between two.
    public var station: String?
    /// What the run is doing, or was doing when it ended: `check` (of the store, before anything is made), `rows`,
    /// `relationships`, `validation`, `indexes`, `verification` (of the new store), `swap`, or a stage's name; nil
    /// before the first of these. New names may come.
    public var phase: String?
    /// Rows read by the last checkpoint, over all runs of steps.
    public var rows: Int
    /// Bytes of these rows.
    public var bytes: Int
    /// Rows to read in total, approximately.
    public var totalRows: Int
    /// The checkpoints of the current run of steps, the newest last.
    public var checkpoints: [Checkpoint]
    /// The process that works on it; nil where none does, or one on another machine.
    public var processID: Int?

    /// How far a migration is.
    public enum State: String, Hashable, Sendable, Codable {
        /// There is no unfinished work: no migration has begun, or the last one is done.
        case none
        /// There is no plan yet: the next run starts over.
        case starting
        /// The run moves rows, or did so when it ended.
        case running
        /// The new store is complete and about to take its place.
        case swapping
        /// The new store is in place; only the work directory is left.
        case swapped
    }

    /// A checkpoint file.
    public struct Checkpoint: Hashable, Sendable, Codable {
        /// Its name in the work directory.
        public var file: String
        /// The number of the commit of which it is a copy.
        public var sequence: Int
        /// Bytes of the file.
        public var bytes: Int
        /// Seconds since it was written; nil where the clocks disagree.
        public var ageSeconds: Double?
    }

    /// Reads the status; no file is changed, and the store itself isn't opened.
    ///
    /// - Parameter store: path of the store's main file, or the path that a migration's `output` will have.
    /// - Throws: `MigrationError` where neither the store nor a work directory for it can be reached.
    public init(store: String) throws(MigrationError) {
        do throws(EngineError) {
            self.init(try Self.read(store))
        } catch {
            throw MigrationError(error)
        }
    }

    private static func read(_ store: String) throws(EngineError) -> CausewayEngine.MigrationStatus {
        let existing: EngineError
        do throws(EngineError) {
            return try CausewayEngine.MigrationStatus(of: StoreLocation(existing: store))
        } catch {
            existing = error
        }
        // An output isn't there before it is complete; its work directory is.
        guard existing.kind == .missing, let location = try? StoreLocation(new: store) else { throw existing }
        let status = try CausewayEngine.MigrationStatus(of: location)
        guard status.state != .none else { throw existing }
        return status
    }

    private init(_ status: CausewayEngine.MigrationStatus) {
        store = status.store
        state =
            switch status.state {
            case .none: .none
            case .starting: .starting
            case .running: .running
            case .swapping: .swapping
            case .swapped: .swapped
            }
        workDirectory = status.workDirectory
        workBytes = status.workBytes
        path = status.path
        step = status.step
        stepCount = status.steps
        versions = status.versions
        station = status.station
        phase = status.phase
        rows = status.rows
        bytes = status.bytes
        totalRows = status.totalRows
        checkpoints = status.checkpoints.map {
            Checkpoint(
                file: $0.file, sequence: Int(clamping: $0.sequence), bytes: $0.bytes, ageSeconds: $0.ageSeconds)
        }
        processID = status.processID.map(Int.init)
    }
}
