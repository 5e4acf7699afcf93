import CausewayCheckpoint
import CausewayObjects
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStores

/// What mapping models know besides the rows: the assigned keys, and the associations. Saved for resumed runs: keys in
/// the progress itself, associations in segments.
final class ObjectMemory {
    private let ledger: StepLedger
    private let keys: KeySource
    private let associations: Associations
    private var isKept = false

    /// Entries that are held before they go into a segment: some 300 KB.
    private static let heldEntries = 8_192
    /// Most bytes of values by which rows are found that are held, give or take one entry.
    private static let heldBytes = 8 << 20
    /// Most entities and tables of a model.
    private static let maximumEntries = 1_000_000
    private static let keysPart = "keys"
    private static let segmentsPart = "associations"

    init(_ ledger: StepLedger, keys: KeySource, associations: Associations) {
        self.ledger = ledger
        self.keys = keys
        self.associations = associations
    }

    /// Restores what an earlier run saved, and saves from now on.
    func keep() throws(EngineError) {
        isKept = true
        let (keys, checkpoints) = (keys, ledger.checkpoints)
        try ledger.keep(
            Self.keysPart,
            restore: { (reader: inout FieldReader) throws(CheckpointError) in
                let state = try Self.readKeys(&reader)
                if !Mutant.isOn(.keysForgotten) { keys.state = state }
            },
            save: { writer in Self.write(keys.state, &writer) })
        var saved: (count: Int, chain: [UInt8])?
        try ledger.keep(
            Self.segmentsPart,
            restore: { (reader: inout FieldReader) throws(CheckpointError) in
                saved = (try reader.int(), try reader.bytes())
            },
            save: { writer in checkpoints.saveSegments(&writer) })
        if let saved {
            try checkpoints.readSegments(count: saved.count, chain: saved.chain) { kind, payload throws(EngineError) in
                if kind == .associations { try replay(payload) }
            }
        }
        associations.keepJournal()
        ledger.beforeCommit(of: Self.segmentsPart) { [associations] () throws(EngineError) in
            try Self.write(associations, to: checkpoints)
        }
    }

    /// Later stations don't need it.
    func forget() {
        isKept = false
        ledger.forget(Self.keysPart)
        ledger.forget(Self.segmentsPart)
    }

    /// Writes a segment if much is held.
    func relieve() throws(EngineError) {
        guard isKept, associations.journalCount >= Self.heldEntries || associations.journalBytes >= Self.heldBytes
        else { return }
        try Self.write(associations, to: ledger.checkpoints)
    }

    /// Entries stay in the journal until their segment is durable: the next commit tries again.
    private static func write(_ associations: Associations, to checkpoints: CheckpointFiles) throws(EngineError) {
        guard associations.journalCount > 0, let journal = associations.journal else { return }
        try checkpoints.addSegment(.associations, payload(journal))
        associations.clearJournal()
    }

    // MARK: - Segments

    static func payload(_ journal: AssociationJournal) -> [UInt8] {
        var writer = FieldWriter()
        writer.write(bytes: DeltaColumns.encode(journal.columns))
        writer.write(count: journal.shared.count)
        for shared in journal.shared {
            writer.write(Int(shared.entity))
            writer.write(shared.attribute)
            write(shared.value, &writer)
            writer.write(shared.key)
        }
        return writer.bytes
    }

    private static func write(_ value: CellValue, _ writer: inout FieldWriter) {
        switch value {
        case .null: preconditionFailure("nothing is found by NULL")
        case .integer(let value):
            writer.write(0)
            writer.write(value)
        case .real(let value):
            writer.write(1)
            writer.write(fixed: value.bitPattern)
        case .text(let value):
            writer.write(2)
            writer.write(value)
        case .blob(let value):
            writer.write(3)
            writer.write(bytes: value)
        }
    }

    static func journal(_ payload: [UInt8]) throws(CheckpointError) -> AssociationJournal {
        var reader = FieldReader(payload)
        var journal = AssociationJournal()
        journal.columns = try DeltaColumns.decode(
            try reader.bytes(), columns: AssociationJournal.columnCount, limit: maximumSegmentEntries)
        for _ in 0..<(try reader.count(limit: maximumSegmentEntries)) {
            let entity = Int32(truncatingIfNeeded: try reader.int())
            let attribute = try reader.string()
            let value = try value(from: &reader)
            journal.shared.append(
                AssociationJournal.Shared(
                    entity: entity, attribute: attribute, value: value, key: try reader.signed()))
        }
        try reader.requireEnd()
        return journal
    }

    /// A batch's entries and those held before; a batch has at most a million rows.
    private static let maximumSegmentEntries = 100_000_000

    private static func value(from reader: inout FieldReader) throws(CheckpointError) -> CellValue {
        switch try reader.int() {
        case 0: return .integer(try reader.signed())
        case 1: return .real(Double(bitPattern: try reader.fixed()))
        case 2: return .text(try reader.string())
        case 3: return .blob(try reader.bytes())
        default: throw CheckpointError(.malformed, "a value of unknown kind in a segment")
        }
    }

    private func replay(_ payload: [UInt8]) throws(EngineError) {
        do {
            try associations.replay(try Self.journal(payload))
        } catch let error as CheckpointError {
            throw EngineError(.foreignCheckpoint, "a segment can't be read: \(error.message)")
        } catch {
            throw EngineError(error, during: "the associations")
        }
    }

    // MARK: - Keys

    private static func write(_ state: KeySource.State, _ writer: inout FieldWriter) {
        writer.write(count: state.last.count)
        for key in state.last { writer.write(key) }
        writer.write(count: state.rows.count)
        for (number, rows) in state.rows.sorted(by: { $0.key < $1.key }) {
            writer.write(Int(number))
            writer.write(rows)
        }
        writer.write(count: state.places.count)
        for place in state.places {
            writer.write(place.table)
            writer.write(place.column)
            writer.write(place.place)
        }
    }

    private static func readKeys(_ reader: inout FieldReader) throws(CheckpointError) -> KeySource.State {
        var state = KeySource.State(last: [], rows: [:], places: [])
        for _ in 0..<(try reader.count(limit: maximumEntries)) { state.last.append(try reader.signed()) }
        for _ in 0..<(try reader.count(limit: maximumEntries)) {
            let number = Int32(truncatingIfNeeded: try reader.int())
            state.rows[number] = try reader.int()
        }
        for _ in 0..<(try reader.count(limit: maximumEntries)) {
            let (table, column) = (try reader.string(), try reader.string())
            state.places.append(.init(table: table, column: column, place: try reader.signed()))
        }
        return state
    }
}
