import CausewayCheckpoint
import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// How far a step is, saved together with the rows that it speaks of (InsideCrashSafety §4.3).
///
/// A step goes through *stations*: tables, passes, indexes, hooks. Which ones there are, and in which order, follows from
/// the plan and from what earlier stations did, so a resumed run reaches the same stations, passes over those that are
/// done, and goes on in the one that was open. What else a later station needs to know of earlier ones is kept in
/// *parts*, each under a name; its owner knows what it means.
///
/// Used by the one thread that writes the staging store.
final class StepLedger {
    /// How far a station that moves rows is. What the fields mean is the station's own affair; a fresh one is all zero.
    struct Cursor: Hashable, Sendable {
        /// Source rows that are done with.
        var rows = 0
        /// The key of the last of them.
        var key: Int64 = 0
        var entity: Int64 = 0
        var ordinal: Int64 = 0
    }

    /// Result of reaching a station.
    enum Entry {
        /// An earlier run has done it.
        case done
        /// It begins, or goes on after the cursor.
        case open(Cursor?)
    }

    /// Where the record is saved.
    private let keeping: ProgressRow
    let checkpoints: CheckpointFiles
    private let commitInterval: Double
    private let checkpointInterval: Double

    private(set) var record: StepRecord
    /// Parts that were saved and that no station has read yet.
    private var carried: [String: [UInt8]]
    private var keepers: [(name: String, save: (inout FieldWriter) -> Void)] = []
    private var preparations: [(name: String, body: () throws(EngineError) -> Void)] = []
    /// The station that the next `enter` reaches.
    private var next = 0
    private var isInside = false
    /// Inside of a station that is done as a whole: stations in it aren't counted.
    private var isHeld = false
    private var resumesAt: (station: Int, name: String, cursor: Cursor)?
    private var lastCommit = MonotonicClock.seconds()
    private var lastCheckpoint = MonotonicClock.seconds()
    /// Rows and bytes that the last checkpoint speaks of.
    private var checkpointedAt = (rows: 0, bytes: 0)
    /// What a pass must have moved for a checkpoint at its end: less is moved again within a tenth of a second.
    private static let rowsWorthACheckpoint = 10_000
    private static let bytesWorthACheckpoint = 8 << 20
    /// Whether everything up to the cursor, and nothing after it, is in the transaction.
    private(set) var isAtCursor = true
    /// What commits and checkpoint files have taken so far, fsyncs included, in seconds.
    private(set) var savingSeconds = 0.0
    /// Told after each checkpoint file.
    var checkpointed: (_ sequence: UInt64, _ rows: Int) -> Void = { _, _ in }

    /// Begins a step whose new store was just created; `room` is for the progress: bytes that it takes at most, about.
    convenience init(
        beginning place: StepPlace, in staging: StagingConnection, room: Int, options: EngineOptions
    ) throws(EngineError) {
        self.init(try ProgressRow(reserving: room, in: staging), StepRecord(step: place.index), place, options)
    }

    /// Resumes a step from what was saved; nil where nothing can be resumed: the progress can't be read, or is of another
    /// plan.
    convenience init?(
        resuming place: StepPlace, in staging: StagingConnection, options: EngineOptions
    ) throws(EngineError) {
        let keeping = ProgressRow(in: staging)
        guard let content = try keeping.read(place.identity),
            let record = try? StepRecord(content.payload, sequence: content.sequence), record.step == place.index
        else { return nil }
        self.init(keeping, record, place, options)
        try checkpoints.adopt(upTo: record.sequence)
    }

    private init(_ keeping: ProgressRow, _ record: StepRecord, _ place: StepPlace, _ options: EngineOptions) {
        self.keeping = keeping
        self.record = record
        checkpoints = CheckpointFiles(place, level: options.compressionLevel)
        commitInterval = options.commitInterval
        checkpointInterval = options.checkpointInterval
        carried = record.parts
        resumedRows = record.sequence > 0 ? record.status.rows : nil
        checkpointedAt = (record.status.rows, record.status.bytes)
        if let open = record.open { resumesAt = (record.completed, open.name, open.cursor) }
    }

    /// Rows that earlier runs had read; nil for a step that begins.
    let resumedRows: Int?
    /// Whether an earlier run has left something.
    var isResumed: Bool { resumedRows != nil }

    // MARK: - Stations

    /// Reaches a station.
    ///
    /// - Throws: `.foreignCheckpoint` where the record speaks of another station at this place.
    func enter(_ name: String) throws(EngineError) -> Entry {
        if isHeld { return .open(nil) }
        precondition(!isInside, "a station is left before the next is entered")
        let station = next
        next += 1
        if station < record.completed { return .done }
        isInside = true
        var cursor: Cursor?
        if let resumed = resumesAt {
            resumesAt = nil
            guard resumed.station == station, resumed.name == name else {
                throw EngineError(
                    .foreignCheckpoint,
                    """
                    \(keeping.path): the unfinished work stands at “\(resumed.name)”, where this run comes to “\(name)”
                    """,
                    remedy: "run again with --restart to discard it")
            }
            cursor = resumed.cursor
        }
        record.open = StepRecord.Open(name: name, cursor: cursor ?? Cursor())
        return .open(cursor)
    }

    /// Rows are about to be written that the cursor doesn't speak of yet.
    func depart() { isAtCursor = false }

    /// All rows up to the cursor are written; commits if that is due.
    func advance(to cursor: Cursor) throws(EngineError) {
        if isHeld { return }
        record.open?.cursor = cursor
        isAtCursor = true
        try commitIfDue()
    }

    /// The open station is done. A checkpoint is written where much was read since the last one.
    func leave() throws(EngineError) {
        if isHeld { return }
        precondition(isInside, "a station is entered before it is left")
        isInside = false
        record.completed = next
        record.open = nil
        isAtCursor = true
        let read = (rows: record.status.rows - checkpointedAt.rows, bytes: record.status.bytes - checkpointedAt.bytes)
        guard read.rows >= Self.rowsWorthACheckpoint || read.bytes >= Self.bytesWorthACheckpoint, !UnsafeBaseline.isOn
        else { return try commitIfDue() }
        try commit()
        if checkpointedAt != (record.status.rows, record.status.bytes) {
            try writeCheckpoint()
        }
    }

    /// Goes through a station that is done as a whole or not at all.
    func once(_ name: String, _ body: () throws(EngineError) -> Void) throws(EngineError) {
        guard case .open = try enter(name) else { return }
        depart()
        try body()
        try leave()
    }

    /// As `once`, for a body with stations of its own that can't be resumed in its middle: nothing is committed
    /// before it has ended.
    func asOne(_ name: String, _ body: () throws(EngineError) -> Void) throws(EngineError) {
        try once(name) { () throws(EngineError) in
            isHeld = true
            defer { isHeld = false }
            try body()
        }
    }

    /// How many stations the step has reached.
    var stations: Int { next }

    /// Passes over stations that an earlier run has done.
    func skip(to station: Int) {
        precondition(station >= next && station <= record.completed, "only what is done is passed over")
        next = station
    }

    // MARK: - Parts

    /// Keeps a part with every commit. `restore` is called now with what an earlier run has saved.
    func keep(
        _ name: String, restore: (inout FieldReader) throws(CheckpointError) -> Void,
        save: @escaping (inout FieldWriter) -> Void
    ) throws(EngineError) {
        precondition(!keepers.contains { $0.name == name }, "each part has one keeper")
        if let bytes = carried.removeValue(forKey: name) {
            do {
                var reader = FieldReader(bytes)
                try restore(&reader)
                try reader.requireEnd()
            } catch {
                throw EngineError(
                    .foreignCheckpoint, "\(keeping.path): the saved part “\(name)” can't be read: \(error.message)",
                    remedy: "run again with --restart to discard the unfinished work")
            }
        }
        keepers.append((name, save))
    }

    /// A part is of no more use to later stations of this step.
    func forget(_ name: String) {
        keepers.removeAll { $0.name == name }
        preparations.removeAll { $0.name == name }
        carried[name] = nil
    }

    /// Called before each commit until the part is forgotten: for files that must be durable before what the part says.
    /// `body` holds all that it needs, and not the ledger: the last commit may come after its owner is gone.
    func beforeCommit(of name: String, _ body: @escaping () throws(EngineError) -> Void) {
        preparations.append((name, body))
    }

    // MARK: - Commits

    private func commitIfDue() throws(EngineError) {
        guard MonotonicClock.seconds() - lastCommit >= commitInterval, !UnsafeBaseline.isOn else { return }
        try commit()
    }

    /// Saves everything up to the cursor.
    func commit() throws(EngineError) {
        precondition(isAtCursor, "what is committed is what the cursor says")
        let start = MonotonicClock.seconds()
        for preparation in preparations { try preparation.body() }
        record.sequence += 1
        var parts = carried
        for keeper in keepers {
            var writer = FieldWriter()
            keeper.save(&writer)
            parts[keeper.name] = writer.bytes
        }
        record.parts = parts
        let container = try checkpoints.container(record)
        try keeping.commit(container)
        let now = MonotonicClock.seconds()
        savingSeconds += now - start
        lastCommit = now
        if now - lastCheckpoint >= checkpointInterval { try writeCheckpoint(container) }
    }

    /// `container` is what the last commit has saved, where it is at hand.
    private func writeCheckpoint(_ container: [UInt8]? = nil) throws(EngineError) {
        let start = MonotonicClock.seconds()
        let content = if let container { container } else { try checkpoints.container(record) }
        try checkpoints.write(content, record)
        lastCheckpoint = MonotonicClock.seconds()
        savingSeconds += lastCheckpoint - start
        checkpointedAt = (record.status.rows, record.status.bytes)
        checkpointed(record.sequence, record.status.rows)
    }

    /// How far the step is, for `status`.
    func report(rows: Int, bytes: Int, total: Int) {
        record.status.rows = rows
        record.status.bytes = bytes
        record.status.total = total
    }

    /// Saves what can be saved when a run ends before the step is done: everything up to the cursor where the transaction
    /// holds just that, else what the last commit saved.
    func saveBeforeEnding() throws(EngineError) {
        guard isAtCursor, keeping.canCommit else { return }
        try commit()
        try writeCheckpoint()
    }
}
