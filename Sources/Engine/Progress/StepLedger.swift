import CausewayCheckpoint
import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// How far a step is, saved together with its rows (InsideCrashSafety §4.3), or after its pages (InsideTheHouse §4).
///
/// A step goes through *stations*: tables, passes, indexes, hooks. Their order follows from the plan and from what
/// earlier stations did, so a resumed run reaches the same stations, skips those that are done, and resumes the open
/// one. Other data that later stations need is kept in *parts*, each under a name; only its owner interprets it.
///
/// Used by the one thread that writes the staging store.
final class StepLedger {
    /// How far a station that moves rows is. Each station defines what the fields mean; a fresh cursor is all zero.
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
        /// It begins, or resumes after the cursor.
        case open(Cursor?)
    }

    /// Where the record is saved.
    private enum Keeping {
        /// In the store, with the rows that it speaks of.
        case row(ProgressRow)
        /// In checkpoint files alone, each written when the pages that it speaks of are durable.
        case files(sync: () throws(EngineError) -> Void)
    }

    private let place: StepPlace
    private var keeping: Keeping
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
    /// Inside a station that is done as a whole: stations in it aren't counted.
    private var isHeld = false
    private var resumesAt: (station: Int, name: String, cursor: Cursor)?
    private var lastCommit = MonotonicClock.seconds()
    private var lastCheckpoint = MonotonicClock.seconds()
    /// Rows and bytes at the last checkpoint.
    private var checkpointedAt = (rows: 0, bytes: 0)
    /// The least rows of a pass for a checkpoint at its end: fewer are moved again within a tenth of a second.
    private static let rowsWorthACheckpoint = 10_000
    private static let bytesWorthACheckpoint = 8 << 20
    /// Whether everything up to the cursor, and nothing after it, is in the transaction.
    private(set) var isAtCursor = true
    /// Seconds that commits and checkpoint files took so far, fsyncs included.
    private(set) var savingSeconds = 0.0
    /// Called after each checkpoint file.
    var checkpointed: (_ sequence: UInt64, _ rows: Int) -> Void = { _, _ in }

    /// Begins a step whose new store was just created; `room` is approximately the most bytes that the progress takes.
    convenience init(
        beginning place: StepPlace, in staging: StagingConnection, room: Int, options: EngineOptions
    ) throws(EngineError) {
        self.init(
            .row(try ProgressRow(reserving: room, in: staging)), StepRecord(step: place.index), place, options)
    }

    /// Begins a step whose new store begins as a copy; no page of it is there yet. `keep(inFilesAfter:)` must follow.
    convenience init(copying place: StepPlace, options: EngineOptions) {
        self.init(.files(sync: {}), StepRecord(step: place.index), place, options)
    }

    /// Resumes a step from what was saved; nil if nothing can be resumed: the progress can't be read, or belongs to
    /// another plan.
    ///
    /// - Parameters:
    ///   - place: the step's files.
    ///   - staging: the store's connection.
    ///   - newer: the last checkpoint of pages; it counts where the row is older.
    ///   - options: how the run works.
    /// - Throws: where the row or the folder can't be read.
    convenience init?(
        resuming place: StepPlace, in staging: StagingConnection, orFrom newer: StepRecord? = nil,
        options: EngineOptions
    ) throws(EngineError) {
        let row = ProgressRow(in: staging)
        guard let content = try row.read(place.identity),
            var record = try? StepRecord(content.payload, sequence: content.sequence), record.step == place.index
        else { return nil }
        if let newer, newer.sequence >= record.sequence { record = newer }
        self.init(.row(row), record, place, options)
        try checkpoints.adopt(upTo: record.sequence)
    }

    /// Resumes a step in the middle of its copy or of its pages, from a checkpoint file. `keep(inFilesAfter:)` must
    /// follow.
    convenience init(
        resuming place: StepPlace, from record: StepRecord, options: EngineOptions
    ) throws(EngineError) {
        self.init(.files(sync: {}), record, place, options)
        try checkpoints.adopt(upTo: record.sequence)
    }

    private init(_ keeping: Keeping, _ record: StepRecord, _ place: StepPlace, _ options: EngineOptions) {
        self.keeping = keeping
        self.place = place
        self.record = record
        checkpoints = CheckpointFiles(place, level: options.compressionLevel)
        commitInterval = options.commitInterval
        checkpointInterval = options.checkpointInterval
        carried = record.parts
        resumedRows = record.sequence > 0 ? record.status.rows : nil
        checkpointedAt = (record.status.rows, record.status.bytes)
        if let open = record.open { resumesAt = (record.completed, open.name, open.cursor) }
    }

    /// From now on the progress is in checkpoint files, and `sync` makes durable what the next one speaks of.
    func keep(inFilesAfter sync: @escaping () throws(EngineError) -> Void) { keeping = .files(sync: sync) }

    /// From now on the progress is in the store.
    func keep(in staging: StagingConnection) { keeping = .row(ProgressRow(in: staging)) }

    /// Rows that earlier runs had read; nil for a new step.
    let resumedRows: Int?
    /// Whether an earlier run has left something.
    var isResumed: Bool { resumedRows != nil }

    // MARK: - Stations

    /// Reaches a station.
    ///
    /// - Throws: `.foreignCheckpoint` if the record has another station here.
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
                    \(place.staging.path): the unfinished work stopped at “\(resumed.name)”, but this run is at “\(name)”
                    """,
                    remedy: "run again with --restart to discard it")
            }
            cursor = resumed.cursor
        }
        record.open = StepRecord.Open(name: name, cursor: cursor ?? Cursor())
        return .open(cursor)
    }

    /// Called before rows are written that the cursor doesn't include yet.
    func depart() { isAtCursor = false }

    /// Called when all rows up to the cursor are written; commits if it is time.
    func advance(to cursor: Cursor) throws(EngineError) {
        if isHeld { return }
        record.open?.cursor = cursor
        isAtCursor = true
        try commitIfDue()
    }

    /// Closes the open station. Writes a checkpoint if much was read since the last one.
    func leave() throws(EngineError) {
        if isHeld { return }
        precondition(isInside, "a station is entered before it is left")
        isInside = false
        record.completed = next
        record.open = nil
        isAtCursor = true
        let read = (rows: record.status.rows - checkpointedAt.rows, bytes: record.status.bytes - checkpointedAt.bytes)
        guard read.rows >= Self.rowsWorthACheckpoint || read.bytes >= Self.bytesWorthACheckpoint,
            !RunSetting.isOn(.withoutCheckpoints)
        else { return try commitIfDue() }
        try commit()
        if checkpointedAt != (record.status.rows, record.status.bytes) {
            try writeCheckpoint()
        }
    }

    /// Runs a station that is done completely or not at all.
    func once(_ name: String, _ body: () throws(EngineError) -> Void) throws(EngineError) {
        guard case .open = try enter(name) else { return }
        depart()
        try body()
        try leave()
    }

    /// Like `once`, for a body with stations of its own that can't be resumed in the middle: nothing is committed
    /// before it ends.
    func asOne(_ name: String, _ body: () throws(EngineError) -> Void) throws(EngineError) {
        try once(name) { () throws(EngineError) in
            isHeld = true
            defer { isHeld = false }
            try body()
        }
    }

    /// Whether an earlier run has done the next `count` stations.
    func hasDone(next count: Int) -> Bool { next + count <= record.completed }

    /// Whether an earlier run has begun the next station.
    var hasBegunNext: Bool { record.completed > next || resumesAt?.station == next }

    /// How many stations the step has reached.
    var stations: Int { next }

    /// Skips stations that an earlier run has done.
    func skip(to station: Int) {
        precondition(station >= next && station <= record.completed, "only what is done is passed over")
        next = station
    }

    // MARK: - Parts

    /// Saves a part with every commit. `restore` is called now with what an earlier run saved.
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
                    .foreignCheckpoint,
                    "\(place.staging.path): the saved part “\(name)” can't be read: \(error.message)",
                    remedy: "run again with --restart to discard the unfinished work")
            }
        }
        keepers.append((name, save))
    }

    /// What an earlier run saved of a part that has no keeper yet.
    func saved(_ name: String) -> [UInt8]? { carried[name] }

    /// Later stations of this step don't need the part.
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
        guard MonotonicClock.seconds() - lastCommit >= commitInterval, !RunSetting.isOn(.withoutCheckpoints) else {
            return
        }
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
        switch keeping {
        case .row(let row): try row.commit(container)
        case .files(let sync): try sync()
        }
        let now = MonotonicClock.seconds()
        savingSeconds += now - start
        lastCommit = now
        if now - lastCheckpoint >= checkpointInterval || isInFiles { try writeCheckpoint(container) }
    }

    private var isInFiles: Bool { if case .files = keeping { true } else { false } }

    /// `container` is what the last commit saved, if available.
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

    /// Saves what can be saved when a run ends before the step is done: everything up to the cursor if the transaction
    /// holds exactly that, else what the last commit saved.
    func saveBeforeEnding() throws(EngineError) {
        if case .row(let row) = keeping, !row.canCommit { return }
        guard isAtCursor else { return }
        try commit()
        // In files it is one.
        if !isInFiles { try writeCheckpoint() }
    }
}
