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
    /// Of stage 2.
    let part: Part

    /// What the rows of a mapping are of all that stage 2 reads.
    struct Part {
        let before: Double
        let own: Double
        let whole: Double

        /// How far stage 2 is once this many of the mapping's rows are linked.
        func share(after rows: Int) -> Double { (before + min(Double(rows), own)) / whole }
    }

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
        if let rows = try reader(after: begun) {
            defer { rows.close() }
            var cursor = begun ?? StepLedger.Cursor()
            let view = rows.makeView()
            while let taken = try rows.next() {
                do throws(EngineError) {
                    try relate(taken, of: rows.way, view)
                } catch {
                    try model.checkAsked(session, by: plan)
                    throw error
                }
                try check()
                try model.settle()
                let batch = rows.batch
                cursor.rows += batch.count
                if batch.count > 0 { cursor.key = batch.rowid(at: batch.count - 1) }
                try run.ledger.advance(to: cursor)
                run.events(.advanced(share: part.share(after: cursor.rows)))
            }
            session.leaveRow()
        }
        try run.ledger.leave()
    }

    /// A hook may have seen what a store between steps that run together would have shown otherwise.
    private func check() throws(EngineError) {
        try model.checkAsked(session, by: plan)
        try model.checkLinks(session)
    }

    /// Reads the source rows again; nil where there are none.
    private func reader(after cursor: StepLedger.Cursor?) throws(EngineError) -> WayReader? {
        guard let way = try RowWay(model, plan, to: .taken(.relate)) else { return nil }
        if way.callsPolicies {
            throw EngineError(
                apart: "“\(plan.description.name)” links rows in stage 2, and policies of steps before make them",
                run.step.versions)
        }
        return try WayReader(way, after: cursor)
    }

    private func relate(_ batch: RowBatch, of rows: RowWay, _ view: RowView) throws(EngineError) {
        let present = try presentKeys(in: batch)
        run.ledger.depart()
        let (entity, cells, own) = (plan.sourceEntity ?? 0, rows.cells, rows.own)
        var next = 0
        for row in 0..<batch.count {
            let object = ObjectID(side: .source, entity: entity, key: batch.rowid(at: row))
            if let present {
                // Without an entry on disk, only the row with the source's key can be the result.
                while next < present.count, present[next] < object.key { next += 1 }
                guard next < present.count, present[next] == object.key else { continue }
            }
            do {
                try view.load(row, of: batch)
                guard try own.contain(view) else { continue }
                session.source.stand(on: object, view: view, cells: cells, row: row)
                if present != nil, let entity = plan.destinationEntity {
                    try relate(ObjectID(side: .destination, entity: entity, key: object.key), from: object)
                    continue
                }
                for destination in try session.keptDestinations(of: object, mapping: plan.index) {
                    try relate(destination, from: object)
                }
            } catch {
                throw hookError(error, object)
            }
        }
    }

    /// Keys of a batch that the destination has too, in their order, with one query; nil if associations on disk must
    /// be read: those of stage 1, as what hooks associate in stage 2 comes after some batches and before others.
    private func presentKeys(in batch: RowBatch) throws(EngineError) -> [Int64]? {
        guard run.state.objects.recorded?.contains(plan.index) != true, let entity = plan.destinationEntity,
            batch.count > 0
        else { return nil }
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
        // Other steps' stores have every row.
        let rows = run.before.isEmpty ? nil : try reader(after: begun.flatMap { before($0) })
        defer { rows?.close() }
        let view = rows?.makeView()
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
                do {
                    if let rows, let view { try stand(on: entry.source, rows, view) }
                    try relate(destination, from: entry.source)
                } catch {
                    try model.checkAsked(session, by: plan)
                    throw hookError(error, entry.source)
                }
            }
            try check()
            try model.settle()
            cursor.rows += page.count
            (cursor.entity, cursor.key, cursor.ordinal) = (Int64(place.entity), place.source, place.ordinal)
            try run.ledger.advance(to: cursor)
            run.events(.advanced(share: part.share(after: cursor.rows)))
        }
        if rows != nil { session.leaveRow() }
        try run.ledger.leave()
    }

    /// The rows from the last one on, as it may have more associations.
    private func before(_ cursor: StepLedger.Cursor) -> StepLedger.Cursor? {
        guard cursor.rows > 0, cursor.entity == Int64(plan.sourceEntity ?? 0) else { return nil }
        var cursor = cursor
        cursor.key &-= 1
        return cursor
    }

    /// Moves to a source row: the rows come in the order of the associations.
    private func stand(on source: ObjectID, _ rows: WayReader, _ view: RowView) throws {
        guard source.entity == plan.sourceEntity, let (batch, row) = try rows.find(source.key) else {
            return session.leaveRow()
        }
        try view.load(row, of: batch)
        guard try rows.own.contain(view) else { return session.leaveRow() }
        session.source.stand(on: source, view: view, cells: rows.way.cells, row: row)
    }

    private func relate(_ destination: ObjectID, from source: ObjectID) throws {
        // Another hook may have deleted it.
        guard try session.isThere(destination) else { return }
        session.begin(destination: destination, from: source)
        try policy.createRelationships(
            forDestination: session.destination.object(with: destination), in: session.mappings[plan.index],
            manager: model.manager)
        session.endPair()
        try session.checkCancelled()
        try session.destination.flushIfFull()
    }

    private func hookError(_ error: any Error, _ source: ObjectID) -> EngineError {
        EngineError(
            hook: error, step: run.step.versions, mapping: plan.description.name, row: session.source.uri(of: source))
    }
}
