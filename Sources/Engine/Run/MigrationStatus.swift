import CausewayCheckpoint
import CausewayPlatform
package import CausewayStores

/// How far a migration is, read from the files of its work directory alone: it doesn't disturb a running migration.
package struct MigrationStatus: Sendable {
    package enum State: String, Hashable, Sendable {
        /// No work directory, or one with copies of sidecars only: no run has begun, or the last one is done.
        case none
        /// There is no readable plan yet: the next run starts over.
        case starting
        /// Rows are being made.
        case running
        /// The new store is complete and about to take its place.
        case swapping
        /// The new store is in place; only the work directory is left.
        case swapped
    }

    /// One checkpoint file.
    package struct Checkpoint: Hashable, Sendable {
        package var file: String
        package var sequence: UInt64
        /// Bytes of the file.
        package var bytes: Int
        /// Seconds since the file was written; nil where the clocks disagree.
        package var ageSeconds: Double?
    }

    package var state: State
    package var store: String
    package var workDirectory: String
    /// Every version on the way.
    package var path: [String] = []
    /// The current step, counted from 0, and the number of steps.
    package var step = 0
    package var steps = 0
    /// Versions of the current step.
    package var versions: [String] = []
    /// The current station; nil between two.
    package var station: String?
    /// What the run is doing, or did when it ended: `check`, `rows`, `relationships`, `validation`, `indexes`,
    /// `verification`, `swap`, or a stage's name; nil before the first of these.
    package var phase: String?
    /// Rows and bytes read over all steps at the last checkpoint, and approximate rows to read.
    package var rows = 0
    package var bytes = 0
    package var totalRows = 0
    /// Newest last.
    package var checkpoints: [Checkpoint] = []
    /// Bytes of all files in the work directory.
    package var workBytes = 0
    /// The process that holds the work directory's lock, by its own entry there; nil if that process has ended.
    package var processID: Int32?

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
        (processID, phase) = LockText.read(in: workDirectory)
        state = .starting
        guard let plan = try WorkDirectory.plan(in: workDirectory) else {
            if try WorkDirectory.intent(in: workDirectory) != nil { state = .swapped }
            return
        }
        path = plan.path
        steps = plan.steps.count
        try readProgress(plan, names)
        try readIntent(location, isVerified: try isVerified(plan))
        versions = plan.steps.indices.contains(step) ? plan.steps[step] : []
    }

    /// Whether only the swap is left.
    private func isVerified(_ plan: PlanRecord) throws(EngineError) -> Bool {
        try WorkDirectory.verified(plan.steps.count - 1, of: plan, in: workDirectory) != nil
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
        step = max(0, steps - 1)
    }

    private mutating func readProgress(_ plan: PlanRecord, _ names: [String]) throws(EngineError) {
        state = .running
        for index in plan.steps.indices {
            guard let record = try WorkDirectory.verified(index, of: plan, in: workDirectory) else { break }
            step = min(index + 1, steps - 1)
            (rows, bytes) = (record.progressRows, record.progressBytes)
        }
        for name in names where WorkFile.isCheckpoint(name, of: step) {
            // A checkpoint that is being replaced may be missing or incomplete: the other one counts.
            guard let record = try? Self.record(workDirectory + "/" + name, plan) else { continue }
            let file = try? Files.statusIfExists(workDirectory + "/" + name)
            let written = Double(file?.modificationTime ?? 0) / 1e9 - Self.referenceDate
            let age = WallClock.secondsSinceReferenceDate() - written
            checkpoints.append(
                Checkpoint(
                    file: name, sequence: record.sequence, bytes: Int(clamping: file?.size ?? 0),
                    ageSeconds: age >= 0 ? age : nil))
            station = record.open?.name
            (rows, bytes, totalRows) = (record.status.rows, record.status.bytes, record.status.total)
        }
    }

    /// Seconds from 1970 to 2001, both UTC.
    private static let referenceDate = 978_307_200.0
    /// Bytes of a checkpoint file: the payload's limit and the header.
    private static let maximumFile = 65 << 20

    private static func record(_ path: String, _ plan: PlanRecord) throws -> StepRecord {
        let content = try CheckpointContainer.decode(
            try Files.readFile(path, limit: maximumFile), expecting: plan.identity)
        return try StepRecord(content.payload, sequence: content.sequence)
    }
}
