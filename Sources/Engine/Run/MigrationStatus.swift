import CausewayCheckpoint
import CausewayPlatform
package import CausewayStores

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
    public var workBytes = 0
    /// Every version of the path; empty where there is no plan.
    public var path: [String] = []
    /// The current run of steps, counted from 1; 0 where there is no plan.
    public var step = 0
    /// How many there are.
    public var stepCount = 0
    /// The versions that it leads through, both ends included.
    public var versions: [String] = []
    /// The current station, for people: a pass, an index, a handler; nil between two.
    public var station: String?
    /// What the run is doing, or was doing when it ended: `check` (of the store, before anything is made), `rows`,
    /// `relationships`, `validation`, `indexes`, `verification` (of the new store), `swap`, or a stage's name; nil
    /// before the first of these. New names may come.
    public var phase: String?
    /// Rows read by the last checkpoint, over all runs of steps.
    public var rows = 0
    /// Bytes of these rows.
    public var bytes = 0
    /// Rows to read in total, approximately.
    public var totalRows = 0
    /// The part of the whole work that is done, from 0 to 1, as of the last checkpoint; nil where the run hasn't said.
    public var fraction: Double?
    /// Seconds until the end; nil where that can't be told, and where no process works on it.
    public var remainingSeconds: Double?
    /// The checkpoints of the current run of steps, the newest last.
    public var checkpoints: [Checkpoint] = []
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
        /// The number of the commit of which it is a copy; while pages are written, it is the commit itself
        /// (<doc:InsideTheHouse>, §4).
        public var sequence: Int
        /// Bytes of the file.
        public var bytes: Int
        /// Seconds since it was written; nil where the clocks disagree.
        public var ageSeconds: Double?
    }

    /// Reads the status of a store's migration in place, or of one whose output the store will be.
    ///
    /// - Throws: `.cannotCreate` where the work directory can't be read.
    package init(of location: StoreLocation) throws(EngineError) {
        store = location.path
        workDirectory = location.workDirectory
        state = .none
        let names: [String]
        do {
            guard try Files.exists(workDirectory) else { return }
            names = try Files.list(workDirectory)
            for name in names {
                workBytes += Int(clamping: try Files.statusIfExists(workDirectory + "/" + name)?.size ?? 0)
            }
        } catch {
            throw EngineError(.cannotCreate, "\(workDirectory): \(error.message)")
        }
        // Copies of sidecars aren't unfinished work.
        if !names.isEmpty, names.allSatisfy(WorkDirectory.outlastsWork) { return }
        let lock = LockText.read(in: workDirectory)
        (processID, phase) = (lock.processID.map(Int.init), lock.phase)
        state = .starting
        guard let plan = try WorkDirectory.plan(in: workDirectory) else {
            if try WorkDirectory.intent(in: workDirectory) != nil { state = .swapped }
            return
        }
        path = plan.path
        (step, stepCount) = (min(1, plan.steps.count), plan.steps.count)
        try readProgress(plan, names)
        let last = try WorkDirectory.verified(plan.steps.count - 1, of: plan, in: workDirectory)
        try readIntent(location, isVerified: last != nil)
        if state == .swapped || state == .swapping { versions = plan.steps.last ?? [] }
        estimate(lock.outlook)
    }

    /// What the run expected of its phase, and how far that is by now.
    private mutating func estimate(_ outlook: WorkOutlook?) {
        guard state == .running || state == .swapping, let outlook else { return }
        let lock = try? Files.statusIfExists(workDirectory + "/" + WorkFile.lock)
        let began = Double(lock?.modificationTime ?? 0) / 1e9 - WallClock.referenceDate
        let age = max(0, WallClock.secondsSinceReferenceDate() - began)
        let checkpoint = checkpoints.last?.ageSeconds.map { max(0, age - $0) }
        let now = outlook.now(rows: rows, seconds: processID == nil ? nil : age, checkpointSeconds: checkpoint)
        (fraction, remainingSeconds) = (now.fraction, now.remainingSeconds)
    }

    private mutating func readIntent(_ location: StoreLocation, isVerified: Bool) throws(EngineError) {
        guard let intent = try WorkDirectory.intent(in: workDirectory) else { return }
        // By its inode alone: opening the store's file could drop locks of this process.
        let status = try? Files.statusIfExists(location.path)
        let staging = try? Files.statusIfExists(workDirectory + "/" + intent.staging)
        if status?.inode == intent.destination.inode {
            // Another program may have written another version into the same file since: the next run looks.
            state = .swapped
        } else if isVerified, staging?.inode == intent.destination.inode {
            state = .swapping
        } else {
            // The new store was started over since.
            return
        }
        step = stepCount
    }

    private mutating func readProgress(_ plan: PlanRecord, _ names: [String]) throws(EngineError) {
        state = .running
        var current = 0
        for index in plan.steps.indices {
            guard let record = try WorkDirectory.verified(index, of: plan, in: workDirectory) else { break }
            current = min(index + 1, stepCount - 1)
            (rows, bytes) = (record.progressRows, record.progressBytes)
        }
        // Steps that run together have the files of the last of them.
        let last =
            plan.steps.indices.dropFirst(current).first { index in names.contains { WorkFile.isWork($0, of: index) } }
            ?? current
        step = current + 1
        versions = plan.steps[min(current, plan.steps.count)..<min(last + 1, plan.steps.count)].reduce(into: []) {
            $0 += $0.isEmpty ? $1 : Array($1.dropFirst())
        }
        for name in names where WorkFile.isCheckpoint(name, of: last) {
            // A checkpoint that is being replaced may be missing or incomplete: the other one counts.
            guard let record = try? Self.record(workDirectory + "/" + name, plan) else { continue }
            let file = try? Files.statusIfExists(workDirectory + "/" + name)
            let written = Double(file?.modificationTime ?? 0) / 1e9 - WallClock.referenceDate
            let age = WallClock.secondsSinceReferenceDate() - written
            checkpoints.append(
                Checkpoint(
                    file: name, sequence: Int(clamping: record.sequence), bytes: Int(clamping: file?.size ?? 0),
                    ageSeconds: age >= 0 ? age : nil))
            station = record.open?.name
            (rows, bytes, totalRows) = (record.status.rows, record.status.bytes, record.status.total)
        }
    }

    /// Bytes of a checkpoint file: the payload's limit and the header.
    private static let maximumFile = 65 << 20

    private static func record(_ path: String, _ plan: PlanRecord) throws -> StepRecord {
        let content = try CheckpointContainer.decode(
            try Files.readFile(path, limit: maximumFile), expecting: plan.identity)
        return try StepRecord(content.payload, sequence: content.sequence)
    }
}
