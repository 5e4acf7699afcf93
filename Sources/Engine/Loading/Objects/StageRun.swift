import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// What stage 1 leaves for the later ones, and for a run that goes on.
struct ObjectRecords {
    let scratch: ScratchDatabase
    let associations: Associations
    let memory: ObjectMemory
}

/// The three stages over the entity mappings of all the step's mapping models: relationships of one find the objects of
/// another, in any order.
struct StageRun {
    let run: ObjectRun
    let stores: ObjectStores
    let staging: ObjectStaging
    let keys: KeySource
    /// The largest keys of the source, by table of the new store: those that are given to rows are larger.
    let lastKeys: [Int64]
    let session: MigrationSession
    let manager: MigrationManager
    let records: ObjectRecords
    let readers: [SourceReader]
    let tally: ObjectProgress
    /// Of each mapping, by its place.
    private let policies: [EntityMigrationPolicy]
    /// Of the tables that stage 1 reads.
    let claims = SourceClaims()
    /// New keys of rows, once links ask for them.
    let keyRuns = KnownKeyRuns()
    /// What code has seen of the rows of steps that run together.
    let seen = SeenRows()
    /// Mappings that this run has begun.
    private let begun = BegunMappings()

    final class KnownKeyRuns {
        var byMapping: [Int: KeyRuns?] = [:]
    }

    private final class BegunMappings {
        var places: Set<Int> = []
    }

    init(
        run: ObjectRun, stores: ObjectStores, staging: ObjectStaging, keys: KeySource, lastKeys: [Int64],
        records: ObjectRecords, session: MigrationSession, readers: [SourceReader]
    ) {
        (self.run, self.stores, self.staging, self.keys, self.lastKeys) = (run, stores, staging, keys, lastKeys)
        (self.records, self.session, self.readers) = (records, session, readers)
        policies = run.objects.mappings.map { Self.makePolicy($0, run.code) }
        manager = run.code.managerType.init()
        manager.attach(session)
        let tally = ObjectProgress(total: max(1, run.objects.mappings.count * 3))
        session.progress = { tally.fraction }
        self.tally = tally
    }

    var associations: Associations { records.associations }

    var mappings: [EntityMappingPlan] { run.objects.mappings }

    /// Steps with mapping models that run together with this one, before it.
    var between: [StepBetween] { run.between }

    /// Whether the rows of a mapping become pages.
    func isByPages(_ plan: EntityMappingPlan) -> Bool { run.step.methods.mappings[plan.index]?.method == .pages }

    /// How the rows of a mapping are read.
    func reading(_ plan: EntityMappingPlan, to purpose: MappingReading.Purpose) -> MappingReading {
        isByPages(plan)
            ? MappingReading(plan, to: purpose, pagesOf: run.source, (run.before.first ?? run.step).source)
            : MappingReading(plan, to: purpose, of: run.source, options: run.options)
    }

    private var ledger: StepLedger { run.ledger }
    private var state: StepState { run.state }

    // MARK: - Stage 1

    /// The largest key that rows of a table can keep, by the table's place, for tables whose rows keep any.
    func largestKeptKeys() -> [Int: Int64] {
        var result: [Int: Int64] = [:]
        for place in run.step.methods.mappingsByPages where mappings[place].keeping == .always {
            guard let entity = mappings[place].destinationEntity,
                let table = run.objects.destination.table(of: entity)
            else { continue }
            result[table] = lastKeys[table]
        }
        return result
    }

    /// Stage 1 of the mappings whose rows become pages; no connection is open on the new store.
    ///
    /// - Throws: a misfit where code needs one.
    func makeByPages(_ rows: RowPages, _ progress: inout Progress) throws(EngineError) {
        staging.begin(rows)
        if run.isFirst {
            let tables = run.step.structureToCheck(after: run.before, of: run.source).tablesLeftOut
            try claims.claimTrees(
                beside: tables, of: run.source, isResumed: ledger.isResumed, run.cancellation)
        }
        for step in between { try step.policies?.begin() }
        for place in run.step.methods.mappingsByPages { try make(mappings[place], &progress, into: rows) }
        // A station: what a failure leaves in the middle isn't saved.
        try ledger.once("rows packed") { () throws(EngineError) in
            try endBetween(rows)
            try rows.finish()
            state.objects.doubts = run.projected?.linkChecks ?? rows.inspection.finalDoubts()
        }
    }

    private func make(
        _ plan: EntityMappingPlan, _ progress: inout Progress, into rows: RowPages? = nil
    ) throws(EngineError) {
        let policy = policies[plan.index]
        try begin(plan, policy)
        let mapping = session.mappings[plan.index]
        if plan.sourceEntity != nil { try create(plan, policy, &progress, into: rows) }
        // What a stop leaves in the middle of a station isn't saved.
        try run.cancellation.check()
        try ledger.once("made \(plan.index)") { () throws(EngineError) in
            try hook(plan) { try policy.endInstanceCreation(forMapping: mapping, manager: manager) }
            try settle()
            try rows?.packAll()
        }
        if let rows { endKeptRows(after: plan, in: rows) }
        tally.advance()
    }

    /// Once no mapping is left whose rows keep their keys, those with new keys follow them at once.
    private func endKeptRows(after plan: EntityMappingPlan, in rows: RowPages) {
        guard let entity = plan.destinationEntity, let table = run.objects.destination.table(of: entity) else { return }
        let open = run.step.methods.mappingsByPages.contains { place in
            place > plan.index && mappings[place].keeping == .always
                && mappings[place].destinationEntity.flatMap { run.objects.destination.table(of: $0) } == table
        }
        if !open { rows.endKeptRows(ofTable: table) }
    }

    /// Called on every fresh instance: a resumed run calls it again.
    private func begin(_ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy) throws(EngineError) {
        let mapping = take(plan, policy)
        begun.places.insert(plan.index)
        try hook(plan) { try policy.begin(mapping, with: manager) }
        guard session.hasUnwritten else { return }
        guard !type(of: policy).isResumable else {
            throw EngineError(
                .plan,
                """
                \(run.step.versions.joined(separator: " → ")), “\(plan.description.name)”: begin(_:with:) of a resumable \
                policy has made or changed objects, which a resumed run would do twice
                """,
                remedy: "make them in another hook, or override isResumable with false")
        }
        try settle()
    }

    // MARK: - All stages
    /// Everything that the mappings by pages have left; a connection is open on the new store.
    func stages(
        _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void
    ) throws(EngineError) {
        let byPages = Set(run.step.methods.mappingsByPages)
        for plan in mappings {
            if !byPages.contains(plan.index) {
                try make(plan, &progress)
            } else if !begun.places.contains(plan.index) {
                // An earlier run has made its rows.
                try begin(plan, policies[plan.index])
                tally.advance()
            }
        }
        try linkByKeys(&progress, joins: joins)
        run.events(.phaseBegan("relationships"))
        let related = mappings.filter { needsRelating($0) }
        // By the rows of each, of which stage 2 reads as many again.
        let weights = related.map { plan in
            Double(max(1, plan.destinationEntity.flatMap { keys.rowCounts[$0] } ?? 1))
        }
        let indexes = related.isEmpty ? [] : LinkIndex.needed(by: run, rows: keys.rowCounts)
        let indexing = indexes.reduce(0) { $0 + $1.weight }
        let whole = indexing + weights.reduce(0, +)
        try make(indexes, ofWhole: whole)
        for (plan, policy) in zip(mappings, policies) {
            let mapping = take(plan, policy)
            if let place = related.firstIndex(where: { $0.index == plan.index }) {
                let part = RelatePass.Part(
                    before: weights[..<place].reduce(indexing, +), own: weights[place], whole: whole)
                try RelatePass(model: self, plan: plan, policy: policy, part: part).relate()
            }
            try ledger.once("related \(plan.index)") { () throws(EngineError) in
                try hook(plan) { try policy.endRelationshipCreation(forMapping: mapping, manager: manager) }
                try settle()
            }
            KillPoint.reach(.rowsRelated)
            tally.advance()
        }
        for (plan, policy) in zip(mappings, policies) {
            let mapping = take(plan, policy)
            try ledger.once("ended \(plan.index)") { () throws(EngineError) in
                try hook(plan) { try policy.performCustomValidation(forMapping: mapping, manager: manager) }
                try hook(plan) { try policy.end(mapping, manager: manager) }
                try settle()
            }
            tally.advance()
        }
        session.currentMapping = nil
    }

    private func create(
        _ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy, _ progress: inout Progress,
        into rows: RowPages?
    ) throws(EngineError) {
        let together = rows == nil ? [plan] : run.step.mappingsTogether(with: plan)
        // Rows of several mappings are made with the last of them: by then, those to which links may lead have keys.
        guard plan.index == together.last?.index else { return try ledger.once("create \(plan.index)") {} }
        guard case .open(let cursor) = try ledger.enter("create \(plan.index)") else {
            for step in watched { step.isPartlySeen = true }
            return
        }
        if cursor != nil { for step in watched { step.isPartlySeen = true } }
        if let rows, together.count > 1 { return try create(together, after: cursor, &progress, into: rows) }
        run.events(.passBegan(title: plan.description.name))
        let start = ContinuousClock.now
        let before = state.objects
        if let rows, let pass = try MappedPass(self, plan, into: rows) {
            try pass.run(after: cursor, &progress)
        } else {
            try CreatePass(model: self, plan: plan, policy: policy, begun: cursor, pages: rows)?.run(&progress)
        }
        try ledger.leave()
        let after = state.objects
        run.events(
            .passEnded(
                title: plan.description.name,
                rows: after.read - before.read - (after.dropped - before.dropped),
                dropped: after.dropped - before.dropped, seconds: (ContinuousClock.now - start).seconds))
    }

    /// Rows up to the batch's last are made and written.
    func count(
        _ batch: RowBatch, _ outcome: RowHook.Outcome, _ cursor: inout StepLedger.Cursor, _ progress: inout Progress
    ) throws(EngineError) {
        state.objects.read += batch.count - outcome.elsewhere
        state.objects.bytes += batch.byteCount
        state.objects.dropped += outcome.dropped
        state.objects.endedLinks += outcome.endedLinks
        progress.rows += batch.count - outcome.elsewhere
        progress.bytes += batch.byteCount
        cursor.rows += batch.count
        if batch.count > 0 { cursor.key = batch.rowid(at: batch.count - 1) }
        let total = max(progress.total, progress.rows)
        ledger.report(rows: progress.rows, bytes: progress.bytes, total: total)
        try ledger.advance(to: cursor)
        run.events(.progress(rows: progress.rows, bytes: progress.bytes, totalRows: total))
    }

    func needsRelating(_ plan: EntityMappingPlan) -> Bool {
        plan.isReadAgain
            || plan.sourceEntity != nil
                && (session.mappings[plan.index].isRewritten || session.hasAdditionalRelationships(plan.index))
    }

    /// Links that are carried by their keys: join tables are copied, and links to rows that weren't made end. If stage
    /// 1 gave rows other keys than their source rows', or other rows than the plan knows, stage 2 looks the links up
    /// instead.
    private func linkByKeys(
        _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void
    ) throws(EngineError) {
        try ledger.once("associations") { () throws(EngineError) in
            // Decided once: hooks of stage 2 may add to them before a run ends.
            let recorded = Set(mappings.map(\.index).filter { associations.hasEntries($0) })
            (state.objects.recorded, state.objects.looksUpAll) = (recorded, hasUnknownObjects())
        }
        for plan in mappings {
            for choice in plan.choices where try !isKnown(choice, of: plan) {
                session.relate(choice.relationship, inStage2Of: plan.index)
            }
        }
        let (recorded, looksUpAll) = (state.objects.recorded ?? [], state.objects.looksUpAll)
        for plan in mappings {
            for key in plan.keys where looksUpAll || key.targets.contains(where: { recorded.contains($0) }) {
                session.relate(key.relationship, inStage2Of: plan.index)
            }
            for fill in plan.unneeded where looksUpAll { session.relate(fill, inStage2Of: plan.index) }
        }
        for join in run.objects.joins {
            if looksUpAll || join.ends.contains(where: { recorded.contains($0) }) {
                for (mapping, fill) in join.relationships { session.relate(fill, inStage2Of: mapping) }
            } else {
                try joins([join.work], &progress)
            }
        }
        try translateLinks()
        for (index, cleanup) in run.objects.cleanups.enumerated() {
            try ledger.once("cleanup \(index)") { () throws(EngineError) in
                if mustLead(cleanup) { return }
                try staging.connection.execute(cleanup.sql)
                let ended = Int(staging.connection.connection.changes)
                state.objects.endedLinks += ended
                settleDoubts(of: cleanup, ended: ended)
            }
        }
    }

    /// Every link of a column leads to a row now; those that have ended may have been mandatory.
    private func settleDoubts(of cleanup: ObjectStep.Cleanup, ended: Int) {
        guard let link = cleanup.link else { return }
        let rules = run.rules
        state.objects.doubts?.subtract(
            rules.danglingChecks(of: link.column, inTable: link.table, forAnyRow: true))
        if ended > 0 { state.objects.doubts?.formUnion(rules.targetChecks(of: link.column, inTable: link.table)) }
    }

    /// Whether every link of a column was found to lead to a row while the rows were in hand.
    private func mustLead(_ cleanup: ObjectStep.Cleanup) -> Bool {
        guard let doubts = state.objects.doubts, let link = cleanup.link else { return false }
        let checks = run.rules.danglingChecks(of: link.column, inTable: link.table)
        return !checks.isEmpty && doubts.isDisjoint(with: checks)
    }

    private func make(_ indexes: [LinkIndex], ofWhole whole: Double) throws(EngineError) {
        var done = 0.0
        for index in indexes {
            try ledger.once("link index \(index.place)") { () throws(EngineError) in
                try staging.connection.execute(index.sql)
                state.objects.indexes.insert(index.sql)
            }
            done += index.weight
            run.events(.advanced(share: done / whole))
        }
    }

    static func makePolicy(_ plan: EntityMappingPlan, _ code: MigrationCode) -> EntityMigrationPolicy {
        // The planner has refused names that aren't registered.
        plan.description.policyClassName.flatMap { code.policy(named: $0)?.init() } ?? EntityMigrationPolicy()
    }

    /// Turns to a mapping: expressions call its policy.
    private func take(_ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy) -> CausewayObjects.EntityMapping {
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
            try staging.check()
            try checkAsked(session, by: plan)
            throw EngineError(hook: error, step: run.step.versions, mapping: plan.description.name, row: nil)
        }
        try staging.check()
        try checkAsked(session, by: plan)
    }

    /// Writes the objects that the hooks made.
    func settle() throws(EngineError) {
        try writing(run.step.versions.joined(separator: " → ")) { () throws(ObjectError) in try session.settle() }
        try records.memory.relieve()
    }

    /// Writes rows; what the new store refuses comes before what was made of it.
    func writing(_ place: String, _ body: () throws(ObjectError) -> Void) throws(EngineError) {
        do throws(ObjectError) {
            try body()
        } catch {
            try staging.check()
            throw EngineError(error, during: place)
        }
        try staging.check()
    }
}
