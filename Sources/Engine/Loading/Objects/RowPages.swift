import CausewayCheckpoint
import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Packs the rows that mappings make into leaves of their tables, while no connection is open on the new store.
///
/// The rows of a table must come in the order of their keys, and what is written is neither read nor changed. Whatever
/// else is asked for is a misfit: statements can do it.
///
/// A row that gets a new key in a table whose other rows keep theirs comes after all of these: such rows wait in
/// segments.
///
/// Leaves are packed from so many bytes at a time, and at the end of each mapping; the rows between are saved with the
/// progress. So the pages follow from the rows and their batches alone: tables get theirs by turns.
final class RowPages {
    /// The part of the progress that has the rows which wait to be packed.
    static let part = "rows for pages"
    /// Pages of leaves that are packed at a time, if they are no more than so many bytes: the last of them isn't full.
    private static let pagesAtATime = 64
    private static let bytesAtATime = 1 << 20
    /// Bytes that wait in all tables: they are saved with the progress.
    private static let mostWaiting = 16 << 20

    private let map: StorageMap
    private let pages: StagingPages
    private let former: PolicyRecordFormer
    private let packer: LeafPacker
    private let leaves: PackedLeaves
    private let checkpoints: CheckpointFiles
    var tables: [Table]
    var waitingBytes = 0
    var inspection: RowInspection
    /// Bytes of one table's rows that are packed, or set aside, at a time.
    private let limit: Int

    /// One entity table of the new store.
    struct Table {
        let root: Int
        let columns: [PolicyRecordFormer.Column]
        let waiting = RowBatch()
        /// Whether SQLite has made an index with the table, and expects it to have every row.
        let isConstrained: Bool
        /// The key of its last row; nil without one.
        var last: Int64?
        /// The largest key that its rows can keep; nil where none keeps its key.
        var largestKept: Int64?
        /// Rows with larger keys, as far as they aren't in segments, and the key of the last of them.
        let late = RowBatch()
        var lastLate: Int64?
        /// The largest integer of each column with places in an ordered relationship, by its place among the columns.
        var largestPlaces: [Int: Int64]
    }

    /// - Parameters:
    ///   - map: of the new store.
    ///   - pages: its file.
    ///   - schema: what SQLite has made of it.
    ///   - largestKept: the largest key that rows of a table can keep, by the table's place.
    ///   - rules: that the rows must fulfil.
    ///   - checkpoints: of the step.
    /// - Throws: `.verification` where a table of the plan isn't there.
    init(
        _ map: StorageMap, _ pages: StagingPages, _ schema: StoreSchema, following largestKept: [Int: Int64],
        _ rules: ValidationRules, _ checkpoints: CheckpointFiles
    ) throws(EngineError) {
        inspection = RowInspection(rules, map)
        self.checkpoints = checkpoints
        limit = min(Self.pagesAtATime * pages.pageSize, Self.bytesAtATime)
        self.map = map
        self.pages = pages
        former = PolicyRecordFormer()
        packer = LeafPacker(pageSize: pages.pageSize)
        leaves = PackedLeaves(pageSize: pages.pageSize)
        tables = []
        let constrained = Set(
            schema.objects.filter { $0.kind == .index && $0.sql == nil }.map { $0.table.lowercased() })
        for storage in map.tables {
            guard let table = schema.table(storage.name.name) else {
                throw EngineError(
                    .verification, "\(storage.name.name): a table of the plan isn't there",
                    remedy: "please report this")
            }
            let places = map.layout.tables[tables.count].columns.enumerated().filter { $1.role.isPlace }.map(\.offset)
            tables.append(
                Table(
                    root: Int(table.rootPage), columns: PolicyRecordFormer.columns(of: table, storage),
                    isConstrained: constrained.contains(table.name.lowercased()),
                    largestKept: largestKept[tables.count],
                    largestPlaces: Dictionary(uniqueKeysWithValues: places.map { ($0, 0) })))
        }
    }

    /// The rows that come next carry cells of such rows.
    func carry(from input: MappedRowForm.Input) { former.carry(from: input) }

    var pageSize: Int { pages.pageSize }

    /// Of a table's records.
    func columns(ofTable table: Int) -> [PolicyRecordFormer.Column] { tables[table].columns }

    /// Rows of one entity, and what workers have found in them.
    struct Part {
        let rows: MappedRows
        /// Z_ENT.
        let entity: Int32
    }

    /// Adds rows that workers have packed.
    ///
    /// - Parameters:
    ///   - parts: the rows, by their entity.
    ///   - leaves: all of them.
    ///   - table: their table's place.
    /// - Throws: a misfit where they don't come in the order of their keys.
    func add(_ parts: [Part], packed leaves: PackedLeaves, to table: Int) throws(EngineError) {
        let keys = parts.map(\.rows.keys)
        guard let first = keys.compactMap(\.first).min(), let last = keys.compactMap(\.last).max() else { return }
        guard !tables[table].isConstrained else { throw misfit(table, "a constraint of it has an index") }
        if let before = tables[table].last, first <= before {
            throw misfit(table, "its rows don't come in the order of their keys")
        }
        try pack(table)
        try pages.begin(.table, root: tables[table].root)
        try pages.add(leaves, toTreeAt: tables[table].root)
        tables[table].last = last
        for part in parts where !part.rows.keys.isEmpty {
            for key in part.rows.keys { inspection.note(row: key, of: part.entity) }
            note([part.rows.findings, part.rows.carriedFindings], ofTable: table)
        }
    }

    /// What workers have found in a batch's rows.
    private func note(_ findings: [RecordInspection.Findings], ofTable table: Int) {
        for found in findings {
            inspection.doubt(found.doubts, ofTable: table)
            for (check, keys) in found.links { inspection.note(links: keys, of: check) }
        }
    }

    /// Adds rows that get keys which follow each other.
    ///
    /// - Parameters:
    ///   - made: the rows.
    ///   - first: the key of the first one.
    ///   - entity: their Z_ENT.
    ///   - table: their table's place.
    /// - Throws: a misfit where they don't come in the order of their keys.
    func add(_ made: MappedRows, withKeysFrom first: Int64, of entity: Int32, to table: Int) throws(EngineError) {
        guard !tables[table].isConstrained else { throw misfit(table, "a constraint of it has an index") }
        note([made.findings, made.carriedFindings], ofTable: table)
        for place in 0..<made.records.count {
            let key = first + Int64(place)
            inspection.note(row: key, of: entity)
            try add(made.records, place, as: key, to: table)
        }
    }

    /// No row that comes keeps its key: others needn't wait for it.
    func endKeptRows(ofTable table: Int) {
        if tables[table].lastLate == nil { tables[table].largestKept = nil }
    }

    /// Packs new rows, which have their keys, or keeps them until there are enough.
    ///
    /// - Parameters:
    ///   - rows: of all tables.
    ///   - formed: their records, as far as a worker has made them.
    /// - Throws: a misfit where they don't come in the order of their keys, or where there is more than new rows.
    func write(_ rows: PendingRows, _ formed: FormedRows?) throws(EngineError) {
        for table in rows.tables.indices where rows.tables[table].hasChanges {
            let content = rows.tables[table]
            guard !tables[table].isConstrained else { throw misfit(table, "a constraint of it has an index") }
            guard content.deletedKeys.isEmpty, content.changes.isEmpty else {
                throw misfit(table, "rows that are written are changed")
            }
            let made = formed.flatMap { $0.tables.indices.contains(table) ? $0.tables[table] : nil }
            if let made, made.isWhole {
                try write(content, made, to: table)
            } else {
                try write(content, of: rows, to: table)
            }
        }
    }

    /// Rows whose records a worker has made.
    private func write(_ content: RowTable, _ made: FormedRows.Table, to table: Int) throws(EngineError) {
        guard made.records.count == content.newRows.count else {
            throw EngineError(.verification, "rows of a worker are missing", remedy: "please report this")
        }
        note([made.findings], ofTable: table)
        for (place, row) in content.newRows.enumerated() {
            let key = content.keys[row]
            inspection.note(row: key, of: content.entities[row])
            try add(made.records, place, as: key, to: table)
        }
    }

    /// Adds a record that a worker has made.
    private func add(_ records: RowBatch, _ place: Int, as key: Int64, to table: Int) throws(EngineError) {
        try add(key, to: table) { waiting throws(EngineError) in
            do throws(RecordError) {
                try unsafe waiting.append(rowid: key, record: records.record(at: place))
            } catch {
                throw EngineError(.sourceData, "table \(map.tables[table].name.name), row \(key): \(error.message)")
            }
        }
    }

    /// Adds a row to those that wait, in the order of the keys.
    private func add(
        _ key: Int64, to table: Int, _ form: (RowBatch) throws(EngineError) -> Void
    ) throws(EngineError) {
        let isLate = key > tables[table].largestKept ?? .max
        if let before = isLate ? tables[table].lastLate : tables[table].last, key <= before {
            throw misfit(table, "its rows don't come in the order of their keys")
        }
        if isLate { tables[table].lastLate = key } else { tables[table].last = key }
        let waiting = isLate ? tables[table].late : tables[table].waiting
        let before = waiting.byteCount
        try form(waiting)
        waitingBytes += waiting.byteCount - before
        if waitingBytes >= Self.mostWaiting {
            try packAll()
        } else if waiting.byteCount >= limit {
            if isLate { try set(aside: table) } else { try pack(table) }
        }
    }

    private func write(_ content: RowTable, of rows: PendingRows, to table: Int) throws(EngineError) {
        let columns = tables[table].columns
        inspection.beginBatch(table)
        for row in content.newRows {
            let key = content.keys[row]
            try add(key, to: table) { waiting throws(EngineError) in
                do throws(PolicyRecordFormer.Failure) {
                    try former.form(row, of: content, rows, columns, into: waiting)
                } catch {
                    switch error {
                    case .misfit(let column):
                        throw misfit(table, "column \(map.tables[table].columns[column].name): a value of another kind")
                    case .record(let error):
                        throw EngineError(
                            .sourceData, "table \(map.tables[table].name.name), row \(key): \(error.message)")
                    }
                }
                inspection.inspect(row, of: content, table, rows, former)
                for (column, largest) in tables[table].largestPlaces {
                    guard let place = former.integer(row, column, of: content), place > largest else { continue }
                    tables[table].largestPlaces[column] = place
                }
            }
        }
    }

    /// A longer row doesn't fit a segment.
    private static let longestLateRow = 32 << 20

    /// Rows that come after all others of their table go into a segment.
    private func set(aside table: Int) throws(EngineError) {
        let late = tables[table].late
        guard !late.isEmpty else { return }
        var writer = FieldWriter()
        writer.write(table)
        Self.save(late, &writer)
        guard writer.bytes.count <= Self.longestLateRow else { throw misfit(table, "a row is too long to wait") }
        try checkpoints.addSegment(.rows, writer.bytes)
        waitingBytes -= late.byteCount
        late.removeAll(keepingCapacity: 2 * limit)
    }

    /// Adds the rows that waited for all others, those in segments first.
    private func takeLateRows() throws(EngineError) {
        guard tables.contains(where: { $0.lastLate != nil }) else { return }
        let rows = RowBatch()
        try checkpoints.eachSegment(of: .rows) { payload throws(EngineError) in
            let table: Int
            do throws(CheckpointError) {
                var reader = FieldReader(payload)
                table = try reader.int()
                try Self.restore(rows, &reader)
                try reader.requireEnd()
            } catch {
                throw EngineError(.foreignCheckpoint, "a segment can't be read: \(error.message)")
            }
            guard tables.indices.contains(table) else {
                throw EngineError(.foreignCheckpoint, "a segment has rows of a table that isn't there")
            }
            try append(rows, to: table)
        }
        for table in tables.indices {
            waitingBytes -= tables[table].late.byteCount
            try append(tables[table].late, to: table)
        }
    }

    /// A mapping has ended: few others fill its tables, and there may be hundreds.
    func packAll() throws(EngineError) {
        for table in tables.indices {
            try set(aside: table)
            try pack(table)
            // Of hundreds of tables the memory would add up.
            tables[table].late.removeAll(keepingCapacity: 0)
            tables[table].waiting.removeAll(keepingCapacity: 0)
        }
    }

    /// Moves rows behind all others of their table.
    private func append(_ rows: RowBatch, to table: Int) throws(EngineError) {
        for row in 0..<rows.count {
            do throws(RecordError) {
                try unsafe tables[table].waiting.append(rowid: rows.rowid(at: row), record: rows.record(at: row))
            } catch {
                throw EngineError(.verification, "\(map.tables[table].name.name): \(error.message)")
            }
            tables[table].last = rows.rowid(at: row)
            if tables[table].waiting.byteCount >= limit { try pack(table) }
        }
        rows.removeAll(keepingCapacity: 2 * limit)
    }

    /// The largest place of the rows so far.
    func largestPlace(table: Int, column: Int) -> Int64 { tables[table].largestPlaces[column] ?? 0 }

    private func misfit(_ table: Int, _ reason: String) -> EngineError {
        EngineError(rowsDontFit: "table \(map.tables[table].name.name): \(reason)")
    }

    private func pack(_ table: Int) throws(EngineError) {
        let (root, waiting) = (tables[table].root, tables[table].waiting)
        guard !waiting.isEmpty else { return }
        try pages.begin(.table, root: root)
        do throws(PageBuildError) {
            try packer.pack(waiting, into: leaves)
        } catch {
            throw EngineError(writing: error, during: map.tables[table].name.name)
        }
        try pages.add(leaves, toTreeAt: root)
        waitingBytes = max(0, waitingBytes - waiting.byteCount)
        // The memory of one huge row must not stay.
        leaves.removeAll(keepingCapacity: 2 * limit)
        waiting.removeAll(keepingCapacity: 2 * limit)
    }

    /// Packs what waits, and ends the trees.
    func finish() throws(EngineError) {
        try takeLateRows()
        for table in tables.indices where tables[table].last != nil {
            try pack(table)
            try pages.endTree(at: tables[table].root)
        }
    }
}

extension EngineError {
    /// Rows that mappings make can't become pages: the step is made anew, by statements.
    init(rowsDontFit reason: String) {
        self.init(.verification, "\(reason), so that statements write it", remedy: "run again with --engine statements")
        isMisfit = true
    }
}
