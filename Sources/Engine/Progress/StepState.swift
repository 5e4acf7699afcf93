import CausewayCheckpoint
import CausewayPlanning
import CausewaySQLiteFile

/// What a step has written so far: for the verification, for the outcome, and for a resumed run.
final class StepState {
    private let step: StepPlan
    /// What passes have moved, in the order in which they began.
    private(set) var passes: [PassCount] = []
    /// What the step's mapping models have done.
    var objects = ObjectCounts()
    /// Rows made by entity mappings, by entity; counted where they were written.
    var entities: [String: Int] = [:]
    /// What handlers have done.
    var stage: StageOutcome?
    /// What happened to bad rows.
    var quarantine = QuarantineOutcome()
    /// What a copy of the source has brought; nil where the store began empty, or before it is restored.
    var kept: KeptTrees?

    /// Tables whose records this run has read again, all of them, and found as they were packed; not saved.
    var reread: Set<String> = []

    /// Whether rows are digested, because they will be verified.
    let takesSums: Bool

    init(_ step: StepPlan, takesSums: Bool) {
        self.step = step
        self.takesSums = takesSums
    }

    /// What the pass of that name has moved so far; nil if it hasn't begun.
    func count(_ id: String) -> PassCount? {
        passes.first { $0.pass.id == id }
    }

    func set(_ count: PassCount) {
        if let index = passes.firstIndex(where: { $0.pass.id == count.pass.id }) {
            passes[index] = count
        } else {
            passes.append(count)
        }
    }

    /// For the verification.
    var written: WrittenRows {
        WrittenRows(
            passes: passes, entities: entities, hasObjects: step.objects != nil, indexes: objects.indexes,
            reread: reread, stage: stage, quarantined: quarantine.keys)
    }

    /// Approximately the most bytes that a step's progress takes: its digests don't compress.
    static func room(for step: StepPlan) -> Int {
        let digests = step.allPasses.reduce(0) { total, pass in
            var writer = FieldWriter()
            PassDigest(pass).write(to: &writer)
            // An empty sum may be written shorter than a full one.
            return total + writer.bytes.count * 10 + 64
        }
        return 8_192 + digests + step.methods.carriedIndexes.count * EntrySum.writtenLength
    }

    /// The plan's pass of that name.
    private func pass(_ id: String) -> RowPass? {
        step.allPasses.first { $0.id == id }
    }
}

// MARK: - Saving

extension StepState {
    /// Entries of one list: tables, entities and indexes of a model.
    fileprivate static let maximumEntries = 1_000_000

    func save(_ writer: inout FieldWriter) {
        writer.write(takesSums)
        writer.write(count: passes.count)
        for pass in passes {
            writer.write(pass.pass.id)
            writer.write(pass.written)
            writer.write(pass.bytes)
            writer.write(pass.dropped)
            writer.write(pass.quarantined)
            pass.digest.write(to: &writer)
            pass.ended.save(&writer)
        }
        objects.save(&writer)
        Self.save(entities, &writer)
        writer.write(stage != nil)
        stage?.save(&writer)
        quarantine.save(&writer)
    }

    func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        let hasSums = try reader.bool()
        // The other way round, nobody asks for those of the rows so far.
        guard hasSums || !takesSums else {
            throw CheckpointError(.foreignPlan, "the step was begun with --verify none")
        }
        passes = []
        for _ in 0..<(try reader.count(limit: Self.maximumEntries)) {
            let id = try reader.string()
            guard let pass = pass(id) else {
                throw CheckpointError(.foreignPlan, "the plan has no pass “\(id)”")
            }
            let (written, bytes, dropped) = (try reader.int(), try reader.int(), try reader.int())
            let quarantined = try reader.int()
            passes.append(
                PassCount(
                    pass: pass, written: written, bytes: bytes, dropped: dropped,
                    quarantined: quarantined, digest: try PassDigest(pass, from: &reader),
                    ended: try EndedCells(from: &reader)))
        }
        objects = try ObjectCounts(from: &reader)
        entities = try Self.counts(from: &reader)
        stage = try reader.bool() ? try StageOutcome(from: &reader) : nil
        quarantine = try QuarantineOutcome(from: &reader)
    }

    func saveKept(_ writer: inout FieldWriter) { (kept ?? KeptTrees()).save(&writer) }

    func restoreKept(_ reader: inout FieldReader) throws(CheckpointError) { kept = try KeptTrees(from: &reader) }

    static func save(_ counts: [String: Int], _ writer: inout FieldWriter) {
        writer.write(count: counts.count)
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            writer.write(name)
            writer.write(count)
        }
    }

    static func counts(from reader: inout FieldReader) throws(CheckpointError) -> [String: Int] {
        var result: [String: Int] = [:]
        for _ in 0..<(try reader.count(limit: maximumEntries)) {
            let name = try reader.string()
            result[name] = try reader.int()
        }
        return result
    }
}

extension ObjectCounts {
    func save(_ writer: inout FieldWriter) {
        for number in [read, bytes, endedLinks, dropped] { writer.write(number) }
        writer.write(count: made.count)
        for (number, count) in made.sorted(by: { $0.key < $1.key }) {
            writer.write(Int(number))
            writer.write(count)
        }
        writer.write(count: indexes.count)
        for index in indexes.sorted() { writer.write(index) }
        writer.write(recorded != nil)
        writer.write(count: recorded?.count ?? 0)
        for mapping in (recorded ?? []).sorted() { writer.write(mapping) }
        writer.write(looksUpAll)
        writer.write(doubts != nil)
        (doubts ?? []).save(&writer)
        writer.write(stations ?? 0)
        validation.save(&writer)
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        self.init()
        read = try reader.int()
        bytes = try reader.int()
        endedLinks = try reader.int()
        dropped = try reader.int()
        for _ in 0..<(try reader.count(limit: StepState.maximumEntries)) {
            let number = Int32(truncatingIfNeeded: try reader.int())
            made[number] = try reader.int()
        }
        for _ in 0..<(try reader.count(limit: StepState.maximumEntries)) { indexes.insert(try reader.string()) }
        let isDecided = try reader.bool()
        var mappings: Set<Int> = []
        for _ in 0..<(try reader.count(limit: StepState.maximumEntries)) { mappings.insert(try reader.int()) }
        recorded = isDecided ? mappings : nil
        looksUpAll = try reader.bool()
        let hasLooked = try reader.bool()
        let doubted = try Set(from: &reader)
        doubts = hasLooked ? doubted : nil
        let passed = try reader.int()
        stations = passed > 0 ? passed : nil
        validation = try ValidationOutcome(from: &reader)
    }
}

extension ValidationOutcome {
    /// What a resumed run must report: everything except single rows.
    func save(_ writer: inout FieldWriter) {
        writer.write(count: counts.count)
        for count in counts {
            writer.write(count.entity)
            writer.write(count.property)
            writer.write(count.code)
            writer.write(count.reason)
            writer.write(count.count)
        }
        writer.write(defaulted)
        StepState.save(rejectedRows, &writer)
        writer.write(strayLinks)
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        self.init()
        for _ in 0..<(try reader.count(limit: StepState.maximumEntries)) {
            let (entity, property) = (try reader.string(), try reader.string())
            let (code, reason) = (try reader.int(), try reader.string())
            counts.append(
                Count(entity: entity, property: property, code: code, reason: reason, count: try reader.int()))
        }
        defaulted = try reader.int()
        rejectedRows = try StepState.counts(from: &reader)
        strayLinks = try reader.int()
    }
}

extension StageOutcome {
    func save(_ writer: inout FieldWriter) {
        before.save(&writer)
        after.save(&writer)
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        self.init(before: try StoreCounts(from: &reader), after: try StoreCounts(from: &reader))
    }
}

extension StoreCounts {
    func save(_ writer: inout FieldWriter) {
        StepState.save(tables, &writer)
        writer.write(count: entities.count)
        for (number, count) in entities.sorted(by: { $0.key < $1.key }) {
            writer.write(number)
            writer.write(count)
        }
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        let tables = try StepState.counts(from: &reader)
        var entities: [Int: Int] = [:]
        for _ in 0..<(try reader.count(limit: StepState.maximumEntries)) {
            let number = try reader.int()
            entities[number] = try reader.int()
        }
        self.init(tables: tables, entities: entities)
    }
}
