import CausewayMapping
import CausewayModel
import CausewayObjects
package import CausewayPlanning
import CausewayPlatform
import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// A store that was identified, its path, and a plan for every run of steps; nothing is written yet.
package struct PreparedMigration: Sendable {
    package let location: StoreLocation
    package let storeBytes: Int
    package let sourceVersion: String
    package let targetVersion: String
    /// Every version of the path, both ends included.
    package let path: [String]
    package let steps: [StepPlan]
    /// Rows that each pass of the first step reads; later steps read what it writes.
    package let rows: [Int]
    /// Rows that each entity mapping of the first step reads, before its filter.
    package let objectRows: [Int]
    /// What a stage does with each step's rows.
    package let handlers: [[StageHandler]]
    package let warnings: [String]
    /// Warnings of the check of the rows; empty before it ran.
    package var notices: [String] = []
    package let frameworkVersion: Int
    /// New names in a store that has the target version already; empty if the store is migrated.
    package let renames: [String]
    /// Where the store's -wal breaks off; nil where it doesn't.
    package let walBreak: WALBreak?

    /// Rows that the first step reads.
    package var rowsToRead: Int { rows.reduce(0, +) + objectRows.reduce(0, +) }

    /// Bytes of disk at the peak of all steps, beside the store.
    package var diskBytes: Int { steps.indices.map(diskBytes(ofStep:)).max() ?? 0 }

    /// Bytes of disk that a step needs at its peak: the staging store that it makes and the one that it reads, each as
    /// large as the store plus a twentieth, room for sorting indexes, its associations, and a reserve for journals.
    package func diskBytes(ofStep index: Int) -> Int {
        // The first step reads the store itself; a later one, what the step before has made.
        let copies = index == 0 ? 1 : 2
        // An index is sorted on disk before it is built; the largest takes about as much as it takes in the store.
        let sorting = storeBytes / 10
        // A handler may change every row in one transaction: its journal then holds the old pages.
        let journal = handlers[index].isEmpty ? 0 : storeBytes
        return copies * (storeBytes + storeBytes / 20) + sorting + journal + associationBytes(ofStep: index)
            + PreparedMigration.reserve
    }

    /// Bytes of the associations of a step, for rows whose keys don't tell their destination. The rows of a later step
    /// aren't counted yet: it assumes as many as in the first, if any mapping needs them.
    private func associationBytes(ofStep index: Int) -> Int {
        guard let objects = steps[index].objects else { return 0 }
        guard index == 0 else {
            let isNeeded = objects.mappings.contains { $0.keeping != .always }
            return isNeeded ? rowsToRead * PreparedMigration.associationBytes : 0
        }
        let rows = zip(objects.mappings, objectRows).filter { $0.0.keeping != .always }.reduce(0) { $0 + $1.1 }
        return rows * PreparedMigration.associationBytes
    }

    /// Bytes of an entry of six small integers in a b-tree that is three quarters full.
    private static let associationBytes = 40

    /// Bytes; journals, directory entries, rounding (InsideCrashSafety §2.2).
    package static let reserve = 64 << 20

    /// Identifies the store and plans the path; throws every reason against it at once.
    package init(_ request: MigrationRequest, history: ModelHistory, store: SourceStore) throws(EngineError) {
        let target = try history.resolve(request.target)
        let goal = try history.version(named: target)
        // First: a staged migration doesn't know a version that no stage names.
        let staged = try request.code.stages.flatMap { stages throws(EngineError) in
            let path = try StagedPath(
                stages, history: history, metadata: store.metadata, target: target, store: store.location.path)
            return path.hops.isEmpty ? nil : path
        }
        let origin = try VersionIdentification(of: store, in: history, target: target)
        location = store.location
        storeBytes = store.bytes
        walBreak = store.walBreak
        sourceVersion = origin.name
        targetVersion = target
        let framework = request.frameworkVersion ?? store.metadata.frameworkVersion
        frameworkVersion = framework
        let doubt = request.target == nil ? history.doubt : nil
        var warnings = history.notices + [doubt].compactMap(\.self)
        if let walBreak { warnings.append(walBreak.sentence(store.location.wal) + "; what can be read is migrated") }
        if let warning = AbortedCoreDataMigration.warning(beside: store.location) { warnings.append(warning) }
        let isCurrent =
            goal.hashes.entities == store.metadata.entityHashes && origin.name == target
            && framework == store.metadata.frameworkVersion
        let names = try SettledNames(
            request, target: goal, history: history, frameworkVersion: framework, store: store)
        renames = try isCurrent && !names.isEmpty ? Self.renames(store, goal, names) : []
        if isCurrent, renames.isEmpty {
            (path, steps, rows) = ([target], [], [])
            (handlers, objectRows) = ([], [])
            self.warnings = warnings
            return
        }
        let line = try Self.line(from: origin, to: target, staged, history, doubt)
        path = line.map(\.name)
        let chain = StepChain(
            line: line, staged: staged?.runs,
            library: try MappingLibrary(
                given: request.mappings, besideModels: request.models, code: request.code,
                infersDespiteMismatch: request.infersDespiteMismatch),
            // Stages run one by one, as they were written.
            history: history, fuses: request.fusesSteps && staged == nil,
            leavesRowsOut: request.badRows == .quarantine)
        let (runs, notices) = try chain.runs()
        warnings += notices
        if origin.isFromCache, case .inferred(let mapping, _)? = runs.first?.content {
            try Self.refuseForeignModels(mapping, store, history, target: target)
        }
        let binding = try Self.bind(store, model: origin.model)
        try Self.refuseCloudKit(binding, store)
        var steps: [StepPlan] = []
        var source = binding.layout
        var schema: StoreSchema? = store.schema
        var appObjects = binding.objects(.appMade)
        let code = CodeCatalog(request.code)
        for (index, run) in runs.enumerated() {
            var (mapping, composed) = (MappingModel(entityMappings: []), [InferredStep]())
            if case .inferred(let inferred, let single) = run.content { (mapping, composed) = (inferred, single) }
            let isLast = index == runs.count - 1
            var template = try names.hints(for: history.version(named: run.versions.last ?? target))
            // Only names that the user asked for change.
            if !renames.isEmpty { template = template ?? LayoutHints(store.schema) }
            let planner = StepPlanner(
                versions: run.versions, firstStep: run.firstStep, mapping: mapping, steps: composed,
                destination: run.destination, frameworkVersion: framework, source: source, schema: schema,
                appObjects: appObjects,
                hasHistory: store.schema.history != nil,
                fillsTables: min(framework, store.metadata.frameworkVersion) >= FrameworkEra.addsColumns,
                template: template, joinTables: isLast ? names.joinTables : [], losses: run.losses)
            var step: StepPlan
            do {
                switch run.content {
                case .inferred: step = try planner.plan()
                case .explicit(let models): step = try planner.plan(models, code: code)
                }
            } catch let error as StoreFormatError
                where error.code == .unsupportedSchema || error.cause?.isOfSystem ?? false
            {
                throw EngineError(error, path: store.location.path)
            } catch {
                throw EngineError(
                    .plan, "\(run.versions.joined(separator: " → ")): \(error)", remedy: "fix the model or the mapping"
                )
            }
            step.losses += try Self.losses(of: step, stale: index == 0 ? binding : nil, in: store).map {
                "\(run.versions.joined(separator: " → ")): \($0)"
            }
            steps.append(step)
            warnings += step.warnings.map { "\(run.versions.last ?? ""): \($0)" }
            if step.objects != nil {
                warnings += try ValidationRules(step.layout).unchecked.map { "\(run.versions.last ?? ""): \($0)" }
            }
            source = step.layout
            schema = step.resultingSchema(after: schema)
            appObjects = step.appObjects
        }
        warnings += source.undecidable.map { "\(target): \($0.warning)" }
        for (table, columns) in binding.extraColumns.sorted(by: { $0.key < $1.key }) {
            warnings.append(
                "\(table): columns that the model doesn't know are not carried: \(columns.joined(separator: ", "))")
        }
        if origin.isFromCache {
            warnings.append("the store's version isn't among the models; it was taken from the store's own cache")
        }
        self.steps = steps
        handlers = runs.map(\.handlers)
        objectRows =
            try steps.first?.objects.map { objects throws(EngineError) in try Self.count(objects, in: store) } ?? []
        self.warnings = warnings
        rows = try steps.first.map { step throws(EngineError) in try Self.count(step.passes, in: store) } ?? []
    }

    /// The versions of the path, with their models.
    private static func line(
        from origin: VersionIdentification, to target: String, _ staged: StagedPath?, _ history: ModelHistory,
        _ doubt: String?
    ) throws(EngineError) -> [StepChain.Version] {
        var result: [StepChain.Version] = []
        if let staged {
            for name in [staged.hops.first?.from].compactMap({ $0 }) + staged.hops.map(\.to) {
                let version = try history.version(named: name)
                result.append(.init(name: name, model: version.model, hashes: version.hashes))
            }
            return result
        }
        if origin.isFromCache {
            // The history has no place for such a version: one step leads to the target.
            let goal = try history.version(named: target)
            result.append(.init(name: origin.name, model: origin.model, hashes: VersionHashes(origin.model)))
            result.append(.init(name: target, model: goal.model, hashes: goal.hashes))
            return result
        }
        let names: [String]
        do {
            names = try history.graph.path(from: origin.name, to: target)
        } catch {
            throw EngineError(.plan, error.description, details: [doubt].compactMap(\.self))
        }
        for name in names {
            let version = try history.version(named: name)
            result.append(.init(name: name, model: version.model, hashes: version.hashes))
        }
        // The same version in another framework's layout is one step to itself.
        if result.count == 1 { result.append(result[0]) }
        return result
    }

    private static func bind(_ store: SourceStore, model: ManagedObjectModel) throws(EngineError) -> StoreBinding {
        try refuseOwnNames(store)
        do {
            let binding = try StoreBinding(
                store.schema, model: model, frameworkVersion: store.metadata.frameworkVersion)
            try binding.requireComplete()
            return binding
        } catch {
            throw EngineError(error, path: store.location.path)
        }
    }

    /// Prefixes of Causeway's own tables; other objects of a new store must not have them.
    private static let ownPrefixes = ["zz_causeway_", "causeway_"]

    private static func refuseOwnNames(_ store: SourceStore) throws(EngineError) {
        for object in store.schema.objects {
            let name = object.name.lowercased()
            guard ownPrefixes.contains(where: { name.hasPrefix($0) }) else { continue }
            throw EngineError(
                .sourceData,
                """
                \(store.location.path): the \(object.kind.rawValue) \(object.name) has a name that Causeway keeps for itself: \
                this may be the unfinished store of another migration
                """,
                remedy: "give the application's own store, or rename the \(object.kind.rawValue) in a copy of it")
        }
    }

    /// If no version of the history fits the store, the target must at least have most of its entities: models of
    /// another app would leave an empty store.
    private static func refuseForeignModels(
        _ mapping: MappingModel, _ store: SourceStore, _ history: ModelHistory, target: String
    ) throws(EngineError) {
        let entities = mapping.entityMappings.filter { $0.source != nil }
        let lost = entities.filter { $0.destination == nil }.compactMap(\.source)
        guard lost.count * 2 > entities.count else { return }
        throw EngineError(
            .plan,
            """
            \(store.location.path): no version in \(history.path) is the store's, and "\(target)" lacks \(lost.count) \
            of its \(entities.count) entities: these models belong to another app
            """,
            details: ["missing: \(lost.sorted().joined(separator: ", "))"],
            remedy: "give the application's own models, with the version that wrote the store")
    }

    private static func refuseCloudKit(_ binding: StoreBinding, _ store: SourceStore) throws(EngineError) {
        guard !binding.objects(.cloudKit).isEmpty else { return }
        throw EngineError(
            .sourceData,
            """
            \(store.location.path): the store is mirrored to CloudKit (tables ANSCK…), whose bookkeeping names entities by \
            number; it can't be migrated safely yet
            """,
            remedy: "let the application migrate it")
    }

    private static func renames(
        _ store: SourceStore, _ version: ModelHistory.Version, _ names: SettledNames
    ) throws(EngineError) -> [String] {
        try names.layout(insteadOf: store.schema).renames(from: bind(store, model: version.model).layout)
    }

    private static func count(_ objects: ObjectStep, in store: SourceStore) throws(EngineError) -> [Int] {
        try EngineError.reading(store.location.path) {
            try objects.mappings.map { mapping throws(SQLiteError) in
                guard mapping.sourceEntity != nil else { return 0 }
                var statement = try store.connection.prepare(mapping.shape.countSQL)
                return try statement.step() ? Int(statement.int64(at: 0)) : 0
            }
        }
    }

    private static func count(_ passes: [RowPass], in store: SourceStore) throws(EngineError) -> [Int] {
        do {
            return try passes.map { pass in
                var statement = try store.connection.prepare(pass.shape.countSQL)
                return try statement.step() ? Int(statement.int64(at: 0)) : 0
            }
        } catch let error as SQLiteError {
            throw EngineError(reading: error, during: store.location.path)
        } catch {
            throw EngineError(.verification, "\(store.location.path): \(error)")
        }
    }
}
