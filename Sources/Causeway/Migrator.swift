import CausewayEngine
public import CausewayObjects
import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// Migrates one Core Data SQLite store to another version of its model.
///
/// ```swift
/// let migrator = Migrator(store: "Library.sqlite", models: "App.xcdatamodeld")
/// let summary = try await migrator.migrate()
/// print(summary.rows, "rows, the original is at", summary.backup ?? "its place")
/// ```
///
/// Steps that can't or shouldn't be inferred need mapping models, which are found beside the models, and Swift:
/// ```swift
/// var code = MigrationCode()
/// code.register(PostToSectionsPolicy.self)
/// let migrator = Migrator(store: "Library.sqlite", models: "App.xcdatamodeld", code: code)
/// ```
///
/// At every instant the store's path holds the complete original or the complete, verified new store. The original
/// stays beside it as a backup until you remove it.
public struct Migrator: Sendable {
    /// The store's main file.
    public internal(set) var store: String
    /// Each an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`; or a store, for the version in its own model cache.
    /// <doc:SeveralModels> says how several become one history.
    public let models: [String]
    /// How the migration runs.
    public internal(set) var options: MigrationOptions
    /// Policies, the manager's class, mapping models in Swift, stages.
    public let code: MigrationCode
    /// The versions of `models`, if they were read before.
    var history: ModelHistory?

    /// Describes a migration; nothing is read yet.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: path of the model bundle.
    ///   - options: how the migration runs.
    ///   - code: the Swift side of the migration: policies, the manager's class, mapping models, stages.
    public init(
        store: String, models: String, options: MigrationOptions = MigrationOptions(),
        code: MigrationCode = MigrationCode()
    ) {
        self.init(store: store, models: [models], options: options, code: code)
    }

    /// Describes a migration with a model in several files; nothing is read yet.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: paths of model bundles, or of stores; their order counts.
    ///   - options: how the migration runs.
    ///   - code: the Swift side of the migration: policies, the manager's class, mapping models, stages.
    public init(
        store: String, models: [String], options: MigrationOptions = MigrationOptions(),
        code: MigrationCode = MigrationCode()
    ) {
        self.store = store
        self.models = models
        self.options = options
        self.code = code
    }

    /// Computes what `migrate` would do, checks the store's rows, and changes nothing.
    ///
    /// - Returns: the plan; `isNothingToDo` where the store has the target version.
    /// - Throws: `MigrationError` with every reason why the store can't be migrated.
    public func plan() throws(MigrationError) -> MigrationPlan {
        try BusyStore(store).run { () throws(MigrationError) in try unguardedPlan() }
    }

    private func unguardedPlan() throws(MigrationError) -> MigrationPlan {
        try MigrationError.wrapping { () throws(EngineError) in
            let request = try request()
            return MigrationPlan(try Migration(request, history: history).plan(), options: request.options)
        }
    }

    /// Migrates the store and puts the new one in place, or at `options.output`.
    ///
    /// The work runs on threads of its own. Cancelling the task stops it at the next batch and saves what was done: the
    /// store is then untouched, and the same call resumes.
    ///
    /// ``events(progressEvery:)`` gives the same as a sequence, with progress while long statements run, too.
    ///
    /// - Parameter events: called in order, on the migration's thread, which waits; it should return quickly.
    /// - Returns: what was done.
    /// - Throws: `MigrationError`; unless its `storeIsNew` is set, the store is untouched.
    @discardableResult
    public func migrate(
        events: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
    ) async throws(MigrationError) -> MigrationSummary {
        let cancellation = Cancellation()
        return try await migrate(cancellation: cancellation, events: events)
    }

    /// The same with events of progress while nothing else happens, too.
    ///
    /// - Parameters:
    ///   - seconds: between two of them.
    ///   - events: called in order, one at a time, on one of the migration's threads or tasks.
    /// - Returns: what was done.
    /// - Throws: `MigrationError`.
    @discardableResult
    package func migrate(
        tickingEvery seconds: Double, events: @escaping @Sendable (MigrationEvent) -> Void
    ) async throws(MigrationError) -> MigrationSummary {
        try await migrate(cancellation: Cancellation(), tick: .seconds(max(0.01, seconds)), events: events)
    }

    func migrate(
        cancellation: Cancellation, tick: Duration? = nil, events: @escaping @Sendable (MigrationEvent) -> Void
    ) async throws(MigrationError) -> MigrationSummary {
        let request = try MigrationError.wrapping { () throws(EngineError) in try self.request() }
        let relay = EventRelay(request, events: events)
        let clock = tick.map { interval in
            Task.detached {
                while (try? await Task.sleep(for: interval)) != nil { relay.tick() }
            }
        }
        defer { clock?.cancel() }
        let result: Result<MigrationSummary, MigrationError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let body: @Sendable () -> Void = {
                    do throws(MigrationError) {
                        continuation.resume(returning: .success(try run(request, cancellation, relay)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
                do {
                    // Not joined: the thread ends with the continuation.
                    _ = try WorkerThread(name: "causeway-main", body)
                } catch {
                    continuation.resume(returning: .failure(MigrationError(EngineError(.inputOutput, "\(error)"))))
                }
            }
        } onCancel: {
            cancellation.cancel(.interrupted)
        }
        relay.end(try? result.get())
        return try result.get()
    }

    /// Blocks until the migration has ended.
    private func run(
        _ request: MigrationRequest, _ cancellation: Cancellation, _ relay: EventRelay
    ) throws(MigrationError) -> MigrationSummary {
        let migration = Migration(request, history: history, cancellation: cancellation, events: relay.receive)
        return try BusyStore(
            store, output: options.output, seconds: options.busyTimeout, looksFirst: options.output == nil
        ).run(
            cancellation
        ) {
            relay.wait(reason: $0, seconds: $1)
        } _: { () throws(MigrationError) in
            try MigrationError.wrapping { () throws(EngineError) in MigrationSummary(try migration.run()) }
        }
    }

    func request() throws(EngineError) -> MigrationRequest {
        try options.check()
        var request = MigrationRequest(
            store: store, models: models, output: options.output, target: options.target, options: try engineOptions())
        request.edges = options.next
        request.frameworkVersion = options.frameworkVersion
        request.schemaTemplate = options.schemaTemplate
        request.joinTables = options.joinTables
        request.metadata = options.metadata
        request.fusesSteps = options.fusesSteps
        request.mappings = options.mappingModels
        request.code = code
        request.violations = options.onViolation
        request.rejects = options.rejects
        request.keyMap = options.keyMap
        request.infersDespiteMismatch = options.infersDespiteMismatch
        request.resume = options.unfinishedWork
        request.verification = options.verification
        request.badRows = options.badRows
        request.endsLinks = options.endsLinks
        request.origins = options.origins
        request.dropsOtherModels = options.dropsOtherModels
        request.cloudKit = options.cloudKit
        request.ignoresOwnership = options.ignoresOwnership
        request.ignoresSpace = options.ignoresSpace
        request.allowsHardLinks = options.allowsHardLinks
        request.swapTimeout = options.swapTimeout
        return request
    }

    private func engineOptions() throws(EngineError) -> EngineOptions {
        var wanted = EngineOptions(
            batchRows: options.batchRows, batchBytes: options.batchBytes,
            jobs: options.jobs ?? ProcessFacts.processorCount, checkpointInterval: options.checkpointInterval,
            compressionLevel: Int32(clamping: options.checkpointCompression), memoryLimit: options.memoryLimit)
        wanted.engine = options.engine
        if RunSetting.isOn(.smallBatches) { wanted.mappingBatchRows = options.batchRows }
        if options.jobs == nil, options.memoryLimit == nil { wanted.pageMemory = EngineOptions.defaultPageMemory }
        guard let limit = options.memoryLimit else { return wanted }
        return try MemoryBudget(bytes: limit).fitting(wanted)
    }
}
