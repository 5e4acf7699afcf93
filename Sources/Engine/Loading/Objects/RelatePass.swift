import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Stage 2 of one entity mapping: every destination row that was associated in stage 1, in the source's order.
struct RelatePass {
    let model: StageRun
    let plan: EntityMappingPlan
    let policy: EntityMigrationPolicy

    /// Associations that are read at a time.
    private static let pageSize = 4_096

    private var run: ObjectRun { model.run }
    private var session: MigrationSession { model.session }

    func relate() throws(EngineError) {
        if plan.keeping == .always { try relateKept() }
        try relateRecorded()
    }

    /// For mappings whose associations are in the keys: reads the source rows again, each with the row that has its
    /// key.
    private func relateKept() throws(EngineError) {
        guard case .open(let begun) = try run.ledger.enter("relate \(plan.index), kept keys") else { return }
        var source = try StatementSource.rows(
            of: plan.linkShape, key: plan.linkCells[TableStorage.primaryKey], after: begun,
            in: run.source.connection, isUTF8: run.source.isUTF8, title: plan.description.name)
        var cursor = begun ?? StepLedger.Cursor()
        let batch = RowBatch()
        let view = RowView(capacity: plan.linkShape.cells.count)
        let limits = BatchLimits(rows: run.options.batchRows, bytes: run.options.batchBytes)
        var more = true
        while more {
            try run.cancellation.check()
            batch.removeAll(keepingCapacity: limits.bytes * 2)
            more = try source.fill(batch, limits: limits)
            let present = try presentKeys(in: batch)
            run.ledger.depart()
            for row in 0..<batch.count {
                // Without an entry on disk, only the row with the source's key can be the result.
                if let present, !present.contains(batch.rowid(at: row)) { continue }
                let object = ObjectID(side: .source, entity: plan.sourceEntity ?? 0, key: batch.rowid(at: row))
                try hook(object) {
                    try view.load(row, of: batch)
                    session.source.stand(on: object, view: view, cells: plan.linkCells, row: row)
                    if present != nil, let entity = plan.destinationEntity {
                        try relate(ObjectID(side: .destination, entity: entity, key: object.key), from: object)
                        return
                    }
                    for destination in try session.keptDestinations(of: object, mapping: plan.index) {
                        try relate(destination, from: object)
                    }
                }
            }
            try model.settle()
            cursor.rows += batch.count
            if batch.count > 0 { cursor.key = batch.rowid(at: batch.count - 1) }
            try run.ledger.advance(to: cursor)
        }
        session.leaveRow()
        try run.ledger.leave()
    }

    /// Keys of a batch that the destination has too, with one query; nil if associations on disk must be read.
    private func presentKeys(in batch: RowBatch) throws(EngineError) -> Set<Int64>? {
        guard !model.associations.hasEntries(plan.index), let entity = plan.destinationEntity, batch.count > 0 else {
            return nil
        }
        return try EngineError.at(plan.description.name) {
            try session.destination.keys(
                of: entity, from: batch.rowid(at: 0), through: batch.rowid(at: batch.count - 1))
        }
    }

    /// Associations on disk; rows that `relateKept` has done have none left.
    private func relateRecorded() throws(EngineError) {
        guard case .open(let begun) = try run.ledger.enter("relate \(plan.index)") else { return }
        var cursor = begun ?? StepLedger.Cursor()
        var place: (entity: Int32, source: Int64, ordinal: Int64) = (0, .min, 0)
        if let begun, begun.rows > 0 {
            place = (Int32(truncatingIfNeeded: begun.entity), begun.key, begun.ordinal)
        }
        while true {
            try run.cancellation.check()
            let page = try EngineError.at(plan.description.name) {
                try model.associations.everyEntry(of: plan.index, after: place, limit: Self.pageSize)
            }
            guard let last = page.last else { break }
            run.ledger.depart()
            place = (last.source.entity, last.source.key, last.ordinal)
            for entry in page where plan.keeping != .always || entry.source.entity != plan.sourceEntity {
                guard let destination = entry.destination else { continue }
                try hook(entry.source) { try relate(destination, from: entry.source) }
            }
            try model.settle()
            cursor.rows += page.count
            (cursor.entity, cursor.key, cursor.ordinal) = (Int64(place.entity), place.source, place.ordinal)
            try run.ledger.advance(to: cursor)
        }
        try run.ledger.leave()
    }

    private func relate(_ destination: ObjectID, from source: ObjectID) throws {
        session.begin(destination: destination, from: source)
        try policy.createRelationships(
            forDestination: session.destination.object(with: destination), in: session.mappings[plan.index],
            manager: model.manager)
        session.endPair()
        try session.checkCancelled()
        try session.destination.flushIfFull()
    }

    private func hook(_ source: ObjectID, _ body: () throws -> Void) throws(EngineError) {
        do {
            try body()
        } catch {
            throw EngineError(
                hook: error, step: run.step.versions, mapping: plan.description.name,
                row: session.source.uri(of: source))
        }
    }
}
