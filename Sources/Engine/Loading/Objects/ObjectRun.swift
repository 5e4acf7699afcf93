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
    let source: SourceStore
    let staging: StagingConnection
    let ledger: StepLedger
    let state: StepState
    let scratchPath: String
    let options: EngineOptions
    let code: MigrationCode
    let external: ExternalValues
    let keyMap: LineFile?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Runs every mapping model. `joins` fills the copied join tables; `validate` checks the rows before the key map is
    /// written.
    func run(
        _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void,
        validate: () throws(EngineError) -> ValidationOutcome
    ) throws(EngineError) {
        if let stations = state.objects.stations {
            ledger.skip(to: stations)
            return
        }
        let isResumable = code.isResumable(objects)
        if !isResumable { warnOfBeginningAnew() }
        let scratch = try ScratchDatabase(at: scratchPath)
        let keys = KeySource(KeySpace(last: try lastKeys()))
        let readers = try source.companions(1 + max(1, options.jobs))
        let stores = ObjectStores(
            objects: objects, storeUUID: source.metadata.uuid, external: external, now: options.now)
        let associations = try EngineError.at(scratchPath) {
            try Associations(
                StoreAccess { sql throws(SQLiteError) in try scratch.connection.prepare(sql, persistent: true) })
        }
        let session = stores.session(
            source: stores.source(readers[0]), destination: stores.destination(staging, keys: keys),
            associations: associations)
        let memory = ObjectMemory(ledger, keys: keys, associations: associations)
        if isResumable { try memory.keep() }
        if ledger.isResumed { session.assumeDeletions() }
        let manager = code.managerType.init()
        manager.attach(session)
        let tally = ObjectProgress(total: max(1, objects.mappings.count * 3))
        session.progress = { tally.fraction }
        let model = StageRun(
            run: self, mappings: objects.mappings, stores: stores, session: session, manager: manager,
            associations: associations, memory: memory, readers: Array(readers.dropFirst()), tally: tally)
        func rest() throws(EngineError) {
            try model.stages(&progress, joins: joins)
            try flush(session)
            state.objects.made = keys.rowCounts
            try ledger.once("validation") { () throws(EngineError) in state.objects.validation = try validate() }
            try ledger.once("key map") { () throws(EngineError) in
                guard let keyMap else { return }
                try KeyMap(file: keyMap).write(associations, of: objects.mappings, step: step.versions, session)
            }
        }
        if isResumable { try rest() } else { try ledger.asOne("objects", rest) }
        state.objects.stations = ledger.stations
        if isResumable { memory.forget() }
        associations.close()
        session.close()
        manager.attach(nil)
        try scratch.remove()
    }

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
        for home in objects.homes {
            guard let home else {
                result.append(0)
                continue
            }
            do {
                var last = try source.connection.largestKey(of: home)
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

extension MigrationCode {
    /// Whether a run that ends between two rows of these mappings can be resumed.
    func isResumable(_ objects: ObjectStep) -> Bool {
        managerType.isResumable
            && objects.mappings.allSatisfy { plan in
                guard let name = plan.description.policyClassName else { return true }
                return policy(named: name)?.isResumable ?? false
            }
    }
}
