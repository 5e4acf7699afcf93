import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Calls a policy for the rows of batches, on one thread.
final class RowHook {
    private let rows: HookedRows
    private let plan: EntityMappingPlan
    private let filter: CompiledPredicate?
    private let cells: [Int]
    private let own: OwnRows
    private let session: MigrationSession
    private let manager: MigrationManager
    private let policy: EntityMigrationPolicy
    private let mapping: CausewayObjects.EntityMapping
    private let view: RowView

    /// What became of a batch's rows.
    struct Outcome: Sendable {
        /// Rows without a result.
        var dropped = 0
        /// Rows of other mappings.
        var elsewhere = 0
        /// Links that led to rows that weren't made.
        var endedLinks = 0
        /// Whether code has read links of the source rows.
        var readsLinks = false

        /// Adds rows of steps before.
        mutating func add(_ other: Outcome) {
            dropped += other.dropped
            elsewhere += other.elsewhere
            endedLinks += other.endedLinks
        }
    }

    init(
        _ rows: HookedRows, session: MigrationSession, manager: MigrationManager, policy: EntityMigrationPolicy
    ) {
        (self.rows, plan, filter, cells, own) = (rows, rows.plan, rows.plan.filter, rows.cells, rows.own)
        (self.session, self.manager, self.policy) = (session, manager, policy)
        mapping = session.mappings[plan.index]
        view = rows.input.makeView(plan)
    }

    /// Calls the policy for every row.
    ///
    /// - Parameters:
    ///   - batch: the source rows.
    ///   - own: places of the mapping's rows; nil for all.
    /// - Returns: what became of them.
    /// - Throws: the policy's error; a misfit where it has asked for what isn't there.
    func process(_ batch: RowBatch, only own: [Int]? = nil) throws(EngineError) -> Outcome {
        var outcome = Outcome()
        let ended = session.endedLinks
        do throws(EngineError) {
            if let own {
                for row in own { try process(row, of: batch, &outcome) }
            } else {
                for row in 0..<batch.count { try process(row, of: batch, &outcome) }
            }
        } catch {
            try rows.checkAsked(session)
            throw error
        }
        try rows.checkAsked(session)
        outcome.endedLinks += session.endedLinks - ended
        outcome.readsLinks = session.source.asked.links
        return outcome
    }

    private func process(_ row: Int, of batch: RowBatch, _ outcome: inout Outcome) throws(EngineError) {
        let key = batch.rowid(at: row)
        var inHand: ObjectID?
        do {
            try view.load(row, of: batch)
            guard try own.contain(view) else {
                outcome.elsewhere += 1
                return
            }
            let object = self.object(key: key)
            inHand = object
            session.source.stand(on: object, view: view, cells: cells, row: row)
            if let filter, try !session.isWanted(object, by: filter) {
                outcome.dropped += 1
                return
            }
            session.begin(row: object, mapping: plan.index, key: try keptKey(key))
            try policy.createDestinationInstances(
                forSource: session.source.object(with: object), in: mapping, manager: manager)
            if try !session.endRow() { outcome.dropped += 1 }
            try session.checkCancelled()
        } catch {
            throw EngineError(
                hook: error, step: rows.versions, mapping: plan.description.name,
                row: inHand.map { session.source.uri(of: $0) } ?? "\(plan.description.sourceEntity ?? "") p\(key)")
        }
    }

    private func object(key: Int64) -> ObjectID {
        let number = view.integer(at: cells[TableStorage.entityNumber])
        return ObjectID(
            side: .source, entity: number.map { Int32(truncatingIfNeeded: $0) } ?? plan.sourceEntity ?? 0, key: key)
    }

    private func keptKey(_ key: Int64) throws -> Int64? {
        switch plan.keeping {
        case .always: return key
        case .never: return nil
        case .ifFree:
            guard let entity = plan.destinationEntity else { return nil }
            return try session.isFree(key, of: entity) ? key : nil
        }
    }

    /// Calls `end` on a worker's own policy, after its `begin`.
    ///
    /// - Throws: the policy's error; a misfit where it has asked for what isn't there.
    func end() throws(EngineError) {
        do {
            try policy.end(mapping, manager: manager)
        } catch {
            try rows.checkAsked(session)
            throw EngineError(hook: error, step: rows.versions, mapping: plan.description.name, row: nil)
        }
        try rows.checkAsked(session)
    }

    /// Hands over the results of a batch.
    func handOver(_ batch: RowBatch, to rows: inout PendingRows) {
        session.handOver(to: &rows)
        rows.batch = batch
    }

    func close() {
        session.close()
        manager.attach(nil)
    }
}
