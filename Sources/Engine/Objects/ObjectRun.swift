import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Runs the explicit mapping models of one step, one after another, each stage by stage over its entity mappings
/// (core-data-migration.md §3).
struct ObjectRun {
    let step: StepPlan
    let objects: ObjectStep
    let source: SourceStore
    let staging: StagingStore
    let scratchPath: String
    let options: EngineOptions
    let code: MigrationCode
    let external: ExternalValues
    let keyMap: KeyMapFile?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    struct Result {
        var read = 0
        var bytes = 0
        /// Rows made, by destination Z_ENT.
        var made: [Int32: Int] = [:]
        /// Links that led to rows that were not made.
        var endedLinks = 0
        var validation = ValidationOutcome()
        /// Statements of the indexes that were made for stage 2.
        var indexes: Set<String> = []
        /// Source rows from which nothing was made.
        var dropped = 0
    }

    /// Runs every mapping model. `joins` runs a pass that copies a join table; `validate` checks the rows before the key
    /// map is written.
    func run(
        _ progress: inout Progress, joins: (RowPass, inout Progress) throws(EngineError) -> Void,
        validate: () throws(EngineError) -> ValidationOutcome
    ) throws(EngineError) -> Result {
        let scratch = try ScratchDatabase(at: scratchPath)
        let keys = KeySource(KeySpace(last: try lastKeys()))
        let readers = try source.companions(1 + workers)
        let stores = ObjectStores(
            objects: objects, storeUUID: source.metadata.uuid, external: external, now: options.now)
        let associations: Associations
        do {
            associations = try Associations(
                StoreAccess { sql throws(SQLiteError) in try scratch.connection.prepare(sql, persistent: true) })
        } catch {
            throw EngineError(error, during: scratchPath)
        }
        let session = stores.session(
            source: stores.source(readers[0]), destination: stores.destination(staging, keys: keys),
            associations: associations)
        let manager = code.managerType.init()
        manager.attach(session)
        let tally = ObjectProgress(total: max(1, objects.mappings.count * 3))
        session.progress = { tally.fraction }
        var result = Result()
        try StageRun(
            run: self, mappings: objects.mappings, stores: stores, session: session, manager: manager,
            associations: associations, readers: Array(readers.dropFirst()), tally: tally
        ).stages(&result, &progress, joins: joins)
        try flush(session)
        result.validation = try validate()
        try keyMap?.write(
            associations, step: step.versions, objects: objects, stores: stores, destination: session.destination)
        result.made = keys.rowCounts
        associations.close()
        session.close()
        manager.attach(nil)
        try scratch.remove()
        return result
    }

    private var workers: Int { max(1, options.jobs) }

    func flush(_ session: MigrationSession) throws(EngineError) {
        do {
            try session.destination.flush()
        } catch {
            throw EngineError(error, during: step.versions.joined(separator: " → "))
        }
    }

    /// The largest key that every destination table's rows may not get anew: that of the table whose keys it keeps.
    private func lastKeys() throws(EngineError) -> [Int64] {
        var result: [Int64] = []
        for home in objects.homes {
            guard let home else {
                result.append(0)
                continue
            }
            do {
                var statement = try source.connection.prepare("SELECT max(Z_PK) FROM \(try SQLIdentifier(home))")
                var last: Int64 = try statement.step() ? statement.int64(at: 0) : 0
                let roots = step.source.tables.filter { $0.name == home }.map(\.rootEntity)
                for root in roots {
                    guard let number = step.source.entityNumbers[root] else { continue }
                    for row in source.schema.primaryKeys where row.number == Int64(number) {
                        last = max(last, row.maximum)
                    }
                }
                result.append(max(0, last))
            } catch {
                throw EngineError(reading: error, during: source.location.path)
            }
        }
        return result
    }
}

/// How far the step's stages are, for `MigrationManager.migrationProgress`.
final class ObjectProgress {
    private let total: Int
    private var done = 0

    init(total: Int) {
        self.total = total
    }

    var fraction: Double { Double(done) / Double(total) }

    func advance() { done += 1 }
}

/// The three stages over the entity mappings of all the step's mapping models: what one makes another's relationships
/// find, in whichever order they stand.
struct StageRun {
    let run: ObjectRun
    let mappings: [EntityMappingPlan]
    let stores: ObjectStores
    let session: MigrationSession
    let manager: MigrationManager
    let associations: Associations
    let readers: [SourceReader]
    let tally: ObjectProgress

    func stages(
        _ result: inout ObjectRun.Result, _ progress: inout Progress,
        joins: (RowPass, inout Progress) throws(EngineError) -> Void
    ) throws(EngineError) {
        var policies: [EntityMigrationPolicy] = []
        for plan in mappings {
            let policy = makePolicy(plan)
            policies.append(policy)
            let mapping = begin(plan, policy)
            try hook(plan) { try policy.begin(mapping, with: manager) }
            if plan.sourceEntity != nil {
                run.events(.passBegan(title: plan.description.name))
                let start = ContinuousClock.now
                let before = result
                try CreatePass(model: self, plan: plan, policy: policy).run(&result, &progress)
                run.events(
                    .passEnded(
                        title: plan.description.name,
                        rows: result.read - before.read - (result.dropped - before.dropped),
                        dropped: result.dropped - before.dropped, seconds: (ContinuousClock.now - start).seconds))
            }
            try hook(plan) { try policy.endInstanceCreation(forMapping: mapping, manager: manager) }
            try settle()
            tally.advance()
        }
        try linkByKeys(&result, &progress, joins: joins)
        run.events(.phaseBegan("relationships"))
        if mappings.contains(where: { needsRelating($0) }) { try makeLinkIndexes(&result) }
        for (plan, policy) in zip(mappings, policies) {
            let mapping = begin(plan, policy)
            if needsRelating(plan) {
                try RelatePass(model: self, plan: plan, policy: policy).relate()
            }
            try hook(plan) { try policy.endRelationshipCreation(forMapping: mapping, manager: manager) }
            try settle()
            tally.advance()
        }
        for (plan, policy) in zip(mappings, policies) {
            let mapping = begin(plan, policy)
            try hook(plan) { try policy.performCustomValidation(forMapping: mapping, manager: manager) }
            try hook(plan) { try policy.end(mapping, manager: manager) }
            try settle()
            tally.advance()
        }
        session.currentMapping = nil
    }

    private func needsRelating(_ plan: EntityMappingPlan) -> Bool {
        plan.sourceEntity != nil
            && (plan.description.policyClassName != nil || !plan.relationships.isEmpty
                || session.hasAdditionalRelationships(plan.index))
    }

    /// Links that come with their keys: join tables are copied, and links to rows that were not made end. Where stage 1
    /// gave rows other keys than their source rows', stage 2 looks the links up instead.
    private func linkByKeys(
        _ result: inout ObjectRun.Result, _ progress: inout Progress,
        joins: (RowPass, inout Progress) throws(EngineError) -> Void
    ) throws(EngineError) {
        for plan in mappings {
            for key in plan.keys where key.targets.contains(where: { associations.hasEntries($0) }) {
                session.relate(key.relationship, inStage2Of: plan.index)
            }
        }
        for join in run.objects.joins {
            if join.ends.contains(where: { associations.hasEntries($0) }) {
                for (mapping, fill) in join.relationships { session.relate(fill, inStage2Of: mapping) }
            } else {
                for pass in join.passes { try joins(pass, &progress) }
            }
        }
        for sql in run.objects.cleanups {
            try run.cancellation.check()
            run.events(.statement(sql))
            try run.staging.execute(sql)
            result.endedLinks += try run.staging.changes()
        }
    }

    /// Members of to-manys are found by the keys at their other end: without an index each look-up would read the table.
    private func makeLinkIndexes(_ result: inout ObjectRun.Result) throws(EngineError) {
        let layout = run.step.layout
        var columns: Set<String> = []
        for table in layout.tables {
            for column in table.columns {
                switch column.role {
                case .toOne, .virtualToOne: columns.insert("ON \(table.name) (\(column.name))")
                case .primaryKey, .entityNumber, .optimisticLock, .attribute, .toOneEntity, .orderKey, .virtualOrderKey:
                    continue
                }
            }
        }
        let joins = Set(layout.joinTables.map(\.name))
        for statement in run.step.statements.modelStatements
        where statement.kind == .index && !result.indexes.contains(statement.sql) {
            guard joins.contains(statement.table) || columns.contains(where: { statement.sql.hasSuffix($0) }) else {
                continue
            }
            try run.cancellation.check()
            run.events(.statement(statement.sql))
            try run.staging.execute(statement.sql)
            result.indexes.insert(statement.sql)
        }
    }

    func makePolicy(_ plan: EntityMappingPlan) -> EntityMigrationPolicy {
        // The planner has refused names that nobody registered.
        plan.description.policyClassName.flatMap { run.code.policy(named: $0)?.init() } ?? EntityMigrationPolicy()
    }

    private func begin(_ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy) -> CausewayObjects.EntityMapping {
        session.use(policy: policy.functions, manager: manager)
        session.currentMapping = session.mappings[plan.index]
        return session.mappings[plan.index]
    }

    /// Runs a hook that isn't about one row.
    private func hook(_ plan: EntityMappingPlan, _ body: () throws -> Void) throws(EngineError) {
        try run.cancellation.check()
        do {
            try body()
            try session.checkCancelled()
        } catch {
            throw EngineError(
                hook: error, step: run.step.versions, mapping: plan.description.name, row: nil)
        }
    }

    /// Writes what the hooks made.
    func settle() throws(EngineError) {
        do {
            try session.destination.flush()
            try associations.record(session.takePending(), key: { $0.key })
            session.source.forget()
        } catch {
            throw EngineError(error, during: run.step.versions.joined(separator: " → "))
        }
        do {
            try run.staging.commitIfDue()
        } catch {
            throw EngineError(writing: error, during: run.step.versions.joined(separator: " → "))
        }
    }
}
