import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Runs the explicit mapping models of one step, one after another, each stage by stage over its entity mappings
/// (InsideCoreDataMigration §3).
struct ObjectRun {
    let step: StepPlan
    let objects: ObjectStep
    /// Steps that run together with it: the first of them reads the source.
    let before: [StepPlan]
    /// Those of them that have mapping models.
    let between: [StepBetween]
    /// The step itself where it is inferred and runs together with mapping models before it.
    let projected: StepBetween?
    let source: SourceStore
    /// Whether the source is the store that is migrated, and no step's.
    let isFirst: Bool
    let ledger: StepLedger
    let state: StepState
    let scratchPath: String
    let options: EngineOptions
    let code: MigrationCode
    let external: ExternalValues
    let keyMap: LineFile?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void
    let rules: ValidationRules

    /// Prepares the stages; nothing is made yet.
    ///
    /// - Returns: nil where an earlier run has done everything.
    func prepared() throws(EngineError) -> StageRun? {
        if state.objects.stations != nil { return nil }
        if !objects.isResumable { warnOfBeginningAnew() }
        let scratch = try ScratchDatabase(at: scratchPath)
        let last = try lastKeys()
        let keys = KeySource(KeySpace(last: last))
        let readers = try source.companions(1 + max(1, options.jobs))
        let stores = ObjectStores(
            objects: objects, storeUUID: source.metadata.uuid, external: external, now: options.now,
            largestKeptKeys: last)
        let associations = try EngineError.at(scratchPath) {
            try Associations(
                StoreAccess { sql throws(SQLiteError) in try scratch.connection.prepare(sql, persistent: true) })
        }
        let state = state
        let staging = ObjectStaging(objects.destination) { state.objects.doubts = nil }
        let session = stores.session(
            source: before.isEmpty ? stores.source(readers[0]) : stores.unreadSource(),
            destination: stores.destination(staging, keys: keys),
            associations: associations)
        let memory = ObjectMemory(ledger, keys: keys, associations: associations)
        if objects.isResumable { try memory.keep() }
        if ledger.isResumed { session.assumeDeletions() }
        let model = StageRun(
            run: self, stores: stores, staging: staging, keys: keys, lastKeys: last,
            records: ObjectRecords(scratch: scratch, associations: associations, memory: memory), session: session,
            readers: Array(readers.dropFirst()))
        if showsLinks { try model.seen.keep(in: ledger) }
        for (place, step) in between.enumerated() {
            let isOfStore = place == 0 && before.first?.objects != nil
            step.policies = BetweenPolicies(
                step, model.stores(ofStep: place), reading: isOfStore ? readers[0] : nil, code)
        }
        return model
    }

    /// Goes through all stages.
    ///
    /// - Parameters:
    ///   - model: prepared; a connection is open on the new store.
    ///   - progress: rows and bytes read so far over all steps; raised.
    ///   - joins: fills the copied join tables.
    ///   - validate: checks the rows before the key map is written.
    /// - Throws: the first failure.
    func run(
        _ model: StageRun, _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void,
        validate: () throws(EngineError) -> ValidationOutcome
    ) throws(EngineError) {
        let session = model.session
        func rest() throws(EngineError) {
            try model.stages(&progress, joins: joins)
            try flush(session)
            state.objects.made = model.keys.rowCounts
            try ledger.once("validation") { () throws(EngineError) in state.objects.validation = try validate() }
            try ledger.once("key map") { () throws(EngineError) in
                guard let keyMap else { return }
                try KeyMap(file: keyMap).write(
                    model.associations, of: objects.mappings, step: step.versions, session)
            }
        }
        if objects.isResumable { try rest() } else { try ledger.asOne("objects", rest) }
        state.objects.stations = ledger.stations
        if objects.isResumable { model.records.memory.forget() }
        if showsLinks { ledger.forget(StageRun.SeenRows.part) }
        model.associations.close()
        session.close()
        model.manager.attach(nil)
        for step in between { step.policies?.close() }
        try model.records.scratch.remove()
    }

    /// Whether code may see links that end in a store between steps that run together.
    private var showsLinks: Bool { between.last?.showsLinks == true }

    private func warnOfBeginningAnew() {
        events(
            .warning(
                """
                \(step.versions.joined(separator: " → ")): a policy or the manager isn't resumable: a run that is \
                killed while it makes their rows starts these rows over
                """))
    }

    func flush(_ session: MigrationSession) throws(EngineError) {
        try EngineError.at(step.versions.joined(separator: " → ")) { try session.destination.flush() }
    }

    /// The largest used key of every destination table: that of the table whose keys it keeps.
    private func lastKeys() throws(EngineError) -> [Int64] {
        var result: [Int64] = []
        let layout = (before.first ?? step).source
        for home in step.homes(after: before) {
            guard let home else {
                result.append(0)
                continue
            }
            do {
                var last = try source.connection.largestKey(of: home)
                let roots = layout.tables.filter { $0.name == home }.map(\.rootEntity)
                for root in roots {
                    guard let number = layout.entityNumbers[root] else { continue }
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
