import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// What a worker makes of a batch's source rows.
struct MappedRows: Sendable {
    let leaves: PackedLeaves
    /// In the rows' order.
    var keys: [Int64] = []
    var findings = RecordInspection.Findings()
    var outcome = RowHook.Outcome()

    /// Keeps the memory for the next batch.
    mutating func removeAll(keepingCapacity limit: Int) {
        leaves.removeAll(keepingCapacity: limit)
        keys.removeAll(keepingCapacity: true)
        findings.removeAll()
        outcome = RowHook.Outcome()
    }
}

/// Makes the rows of a mapping without code: records go straight from cells of the source's to leaves of the new table.
///
/// Of one thread.
final class MappedRowMaker {
    private struct Column {
        let affinity: Affinity
        let fill: Fill
    }

    private enum Fill {
        case null
        case integer(Int64)
        case real(Double)
        /// The same text or blob in every row.
        case constant(EncodedCells)
        /// With the affinity of the column that the cell is of.
        case carry(Int, Affinity?)
        case compute(Int)
        case key(Int)
        case keyEntity(Int)
        case keyPlace(Int)
    }

    private let pass: MappedPass
    private let session: MigrationSession
    private let columns: [Column]
    private let keys: [EntityMappingPlan.KeyFill]
    /// Of the row in hand, for each key: the target's Z_ENT, where the link stays.
    private var targets: [Int64?]
    private let source: RowView
    private let made: RowView
    private let writer = AffinityWriter()
    private let packer: LeafPacker
    /// The records of one batch.
    private let records = RowBatch()
    private var inspection: RecordInspection
    /// Whether expressions or the filter read the row through the session.
    private let evaluates: Bool

    /// - Parameters:
    ///   - pass: whose rows it makes.
    ///   - fills: of the columns, as the plan has them.
    ///   - session: of this thread.
    /// - Throws: `.plan` where a default is too long for a record.
    init(
        _ pass: MappedPass, _ fills: [EntityMappingPlan.ColumnFill], _ session: MigrationSession
    ) throws(EngineError) {
        (self.pass, self.session) = (pass, session)
        let affinities = pass.reading.affinities
        columns = try pass.columns.map { column throws(EngineError) in
            guard let place = column.place else { return Column(affinity: column.affinity, fill: .null) }
            let fill: Fill =
                switch fills[place] {
                case .constant(let value): try Self.constant(value, column.affinity, pass.title)
                case .carry(let cell): .carry(cell, affinities.indices.contains(cell) ? affinities[cell] : nil)
                case .compute(let attribute): .compute(attribute)
                case .key(let key): .key(key)
                case .keyEntity(let key): .keyEntity(key)
                case .keyPlace(let key): .keyPlace(key)
                }
            return Column(affinity: column.affinity, fill: fill)
        }
        keys = pass.plan.keys
        targets = keys.map { _ in nil }
        source = pass.reading.makeView()
        made = RowView(capacity: columns.count)
        packer = LeafPacker(pageSize: pass.pageSize)
        inspection = RecordInspection(pass.questions, pass.columns)
        evaluates =
            pass.plan.filter != nil || columns.contains { if case .compute = $0.fill { true } else { false } }
    }

    private static func constant(
        _ value: CellValue, _ affinity: Affinity, _ title: String
    ) throws(EngineError) -> Fill {
        switch value {
        case .null: return .null
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .text, .blob:
            if case .text = value, affinity != .text, affinity != .blob {
                throw EngineError(rowsDontFit: "\(title): a default of another kind than its column")
            }
            do throws(RecordError) {
                return .constant(try EncodedCells([value]))
            } catch {
                throw EngineError(.plan, "\(title): a default: \(error.message)")
            }
        }
    }

    /// Makes the rows of a batch.
    func make(_ batch: RowBatch, into rows: inout MappedRows) throws(EngineError) {
        records.removeAll(keepingCapacity: pass.reading.limits.bytes * 4)
        inspection.begin(&rows.findings)
        for row in 0..<batch.count { try make(row, of: batch, &rows) }
        session.leaveRow()
        do throws(PageBuildError) {
            try packer.pack(records, into: rows.leaves)
        } catch {
            throw EngineError(writing: error, during: pass.title)
        }
    }

    private func make(_ row: Int, of batch: RowBatch, _ rows: inout MappedRows) throws(EngineError) {
        let key = batch.rowid(at: row)
        var object: ObjectID?
        do {
            try source.load(row, of: batch)
            guard try pass.reading.isOwn(source) else {
                rows.outcome.elsewhere += 1
                return
            }
            let id = ObjectID(side: .source, entity: pass.entity, key: key)
            object = id
            if evaluates { session.source.stand(on: id, view: source, cells: pass.plan.cells, row: row) }
            if let filter = pass.plan.filter {
                session.scope.evaluated = .object(id)
                session.scope.source = .object(id)
                guard try filter.evaluate(session.scope) else {
                    rows.outcome.dropped += 1
                    return
                }
            }
            try form(id)
            if !inspection.isEmpty {
                try made.load(records.count - 1, of: records)
                inspection.inspect(made, &rows.findings)
            }
            rows.keys.append(key)
        } catch {
            throw pass.error(error, row: object.map { session.source.uri(of: $0) } ?? "\(pass.sourceName) p\(key)")
        }
    }

    /// Adds the record of the row in hand.
    private func form(_ id: ObjectID) throws {
        for (index, key) in keys.enumerated() { targets[index] = try target(of: key) }
        writer.begin()
        var place = 0
        do {
            while place < columns.count {
                try append(columns[place], id)
                place += 1
            }
            try writer.finish(into: records, rowid: id.key)
        } catch let failure as AffinityWriter.Failure {
            let name = place < columns.count ? pass.columns[place].place.map { pass.names[$0] } : nil
            throw EngineError(failure, "\(pass.title), row \(id.key)", column: name)
        }
    }

    private func append(_ column: Column, _ id: ObjectID) throws {
        switch column.fill {
        case .null: writer.record.appendNull()
        case .integer(let value): try writer.append(value, as: column.affinity)
        case .real(let value): try writer.append(value, as: column.affinity)
        case .constant(let cells): writer.record.append(cells)
        case .carry(let cell, let origin):
            try writer.append(carried: cell, of: source, from: origin, as: column.affinity)
        case .compute(let attribute):
            try writer.append(try session.computed(attribute, of: pass.plan.index, from: id), as: column.affinity)
        case .key(let key): try append(linked: keys[key].key, of: key, column.affinity)
        case .keyPlace(let key): try append(linked: keys[key].place, of: key, column.affinity)
        case .keyEntity(let key):
            // If the source doesn't tell the entity, the new row doesn't either.
            let isTold = keys[key].entity.map { source.integer(at: $0) != nil } ?? true
            if isTold, let number = targets[key] {
                try writer.append(number, as: column.affinity)
            } else {
                writer.record.appendNull()
            }
        }
    }

    private func append(linked cell: Int?, of key: Int, _ affinity: Affinity) throws(AffinityWriter.Failure) {
        guard let cell, targets[key] != nil else { return writer.record.appendNull() }
        try writer.append(carried: cell, of: source, from: nil, as: affinity)
    }

    /// Z_ENT of what a link leads to; nil where there is none, or its rows aren't migrated.
    private func target(of fill: EntityMappingPlan.KeyFill) throws -> Int64? {
        if source.isNull(at: fill.key) { return nil }
        guard source.integer(at: fill.key) != nil else {
            throw ObjectError(
                .type, "\(pass.entityName) p\(source.rowid).\(fill.relationship.name): the stored key isn't an integer")
        }
        let stored = fill.entity.flatMap { source.integer(at: $0) }.map { Int32(truncatingIfNeeded: $0) }
        return fill.numbers[stored ?? fill.declared].map { Int64($0) }
    }
}
