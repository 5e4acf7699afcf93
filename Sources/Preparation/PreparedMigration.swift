import CausewayMapping
import CausewayModel
import CausewayObjects
package import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// A store that was identified, its path, and a plan for every run of steps; nothing is written yet.
package struct PreparedMigration: Sendable {
    package let location: StoreLocation
    package let storeBytes: Int
    package let pageSize: Int
    /// Worker threads.
    let jobs: Int
    /// Bytes that the first step's new store shares with the store on the disk.
    package let sharedBytes: Int
    package let sourceVersion: String
    package let targetVersion: String
    /// Every version of the path, both ends included.
    package let path: [String]
    package internal(set) var steps: [StepPlan]
    /// Rows that each pass of the first step reads; later steps read what it writes.
    package let rows: [Int]
    /// Rows that each entity mapping of the first step reads, before its filter.
    package let objectRows: [Int]
    /// What a stage does with each step's rows.
    package let handlers: [[StageHandler]]
    /// Which steps run together.
    package let fusion: StepFusion
    package let warnings: [String]
    /// Warnings of the check of the rows; empty before it ran.
    package var notices: [String] = []
    package let frameworkVersion: Int
    /// New names in a store that has the target version already; empty if the store is migrated.
    package let renames: [String]
    /// Where CloudKit mirrors the store; nil also where there is nothing to do.
    package private(set) var mirror: MirrorReport?
    /// Entries of the app's own that the new store's metadata get.
    package let metadata: [String: MetadataValue]
    /// Where the store's -wal breaks off; nil where it doesn't.
    package let walBreak: WALBreak?

    /// The versions that steps lead through which run together, both ends included.
    package func versions(of group: Range<Int>) -> [String] {
        steps[group].reduce(into: Array(steps[group.lowerBound].versions.prefix(1))) {
            $0 += $1.versions.dropFirst()
        }
    }

    /// Rows that the first step reads.
    package var rowsToRead: Int { rows.reduce(0, +) + objectRows.reduce(0, +) }

    /// Identifies the store and plans the path; throws every reason against it at once.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - history: the versions.
    ///   - store: the source.
    ///   - counted: planned for the same rows: they aren't counted again.
    /// - Throws: `.plan` and others, with all reasons.
    package init(
        _ request: MigrationRequest, history: ModelHistory, store: SourceStore, counted: PreparedMigration? = nil
    ) throws(EngineError) {
        let target = try history.resolve(request.target)
        let goal = try history.version(named: target)
        // First: a staged migration doesn't know a version that no stage names.
        let staged = try request.code.stages.map { stages throws(EngineError) in
            try StagedPath(
                stages, history: history, metadata: store.metadata, target: target, store: store.location.path)
        }.flatMap { $0.hops.isEmpty ? nil : $0 }
        let origin = try VersionIdentification(of: store, in: history, target: target)
        (location, storeBytes, walBreak) = (store.location, store.bytes, store.walBreak)
        (pageSize, jobs) = (Int(store.pageSize), max(1, request.options.jobs))
        (sourceVersion, targetVersion) = (origin.name, target)
        let framework = request.frameworkVersion ?? store.metadata.frameworkVersion
        (frameworkVersion, metadata) = (framework, request.metadata)
        let doubt = request.target == nil ? history.doubt : nil
        let cut = walBreak.map { $0.sentence(store.location.wal) + "; what can be read is migrated" }
        let aborted = AbortedCoreDataMigration.warning(beside: store.location)
        var warnings = history.notices + [doubt, origin.notice, cut, aborted].compactMap(\.self)
        let isCurrent =
            goal.hashes.entities == store.metadata.entityHashes && origin.name == target
            && framework == store.metadata.frameworkVersion
        let names = try SettledNames(request, target: goal, history: history, frameworkVersion: framework, store: store)
        renames = try isCurrent && !names.isEmpty ? Self.renames(store, goal, names) : []
        if isCurrent, renames.isEmpty, store.metadata.keys(lackedOf: metadata).isEmpty {
            (path, steps, rows) = ([target], [], [])
            (handlers, objectRows, sharedBytes, fusion) = ([], [], 0, try StepFusion([], [], request))
            self.warnings = warnings
            return
        }
        if origin.isFromCache, !request.dropsOtherModels { try Self.refuseMergedModels(store, history) }
        let line = try Self.line(from: origin, to: target, staged, history, doubt)
        let chain = try StepChain(request, line: line, staged: staged?.runs, history: history)
        path = chain.line.map(\.name)
        let (runs, notices) = try MirroredStore.explaining(store) { () throws(EngineError) in try chain.runs() }
        if origin.isFromCache, case .inferred(let mapping, _)? = runs.first?.content {
            try Self.refuseForeignModels(mapping, store, history, target: target)
        }
        let binding = try Self.bind(store, model: origin.model)
        let pages = PageReading(request, store)
        let planned = try chain.explaining { () throws(EngineError) in
            try ChainPlanner(
                store: store, history: history, binding: binding, names: names, frameworkVersion: framework,
                keepsNames: isCurrent, code: CodeCatalog(request.code), pages: pages,
                mirror: MirroredStore(request, store, binding, runs)
            ).plan(runs, to: target)
        }
        warnings += notices + planned.warnings + (planned.mirror?.warnings ?? [])
        if origin.isFromCache {
            warnings.append("the store's version isn't among the models; it was taken from the store's own cache")
        }
        (steps, mirror, handlers) = (planned.steps, planned.mirror?.report, runs.map(\.handlers))
        sharedBytes = planned.steps.first.map { pages.sharedBytes(of: $0) } ?? 0
        fusion = try StepFusion(steps, handlers, request)
        self.warnings = warnings
        (rows, objectRows) = try Self.counts(steps, in: store, counted)
    }

    private static func counts(
        _ steps: [StepPlan], in store: SourceStore, _ counted: PreparedMigration?
    ) throws(EngineError) -> (rows: [Int], objectRows: [Int]) {
        let shapes = shapes(steps)
        if let counted, Self.shapes(counted.steps) == shapes { return (counted.rows, counted.objectRows) }
        return (
            try count(shapes.passes, of: steps.first, in: store), try count(shapes.mappings, of: steps.first, in: store)
        )
    }

    /// What the first step reads.
    private struct Shapes: Hashable {
        var passes: [RowShape?]
        /// A mapping that adds objects reads no rows.
        var mappings: [RowShape?]
    }

    private static func shapes(_ steps: [StepPlan]) -> Shapes {
        Shapes(
            passes: steps.first?.passes.map(\.shape) ?? [],
            mappings: steps.first?.objects?.mappings.map { $0.sourceEntity == nil ? nil : $0.shape } ?? [])
    }

    /// The versions of the path, with their models.
    private static func line(
        from origin: VersionIdentification, to target: String, _ staged: StagedPath?, _ history: ModelHistory,
        _ doubt: String?
    ) throws(EngineError) -> [ModelHistory.Version] {
        if let staged {
            let names = (staged.hops.first.map { [$0.from] } ?? []) + staged.hops.map(\.to)
            return try names.map { name throws(EngineError) in try history.version(named: name) }
        }
        if origin.isFromCache {
            // The history has no place for such a version: one step leads to the target.
            let first = ModelHistory.Version(
                name: origin.name, model: origin.model, hashes: VersionHashes(origin.model))
            return [first, try history.version(named: target)]
        }
        let names: [String]
        do {
            names = try history.graph.path(from: origin.name, to: target)
        } catch {
            throw EngineError(.plan, error.description, details: [doubt].compactMap(\.self))
        }
        let line = try names.map { name throws(EngineError) in try history.version(named: name) }
        // The same version in another framework's layout is one step to itself.
        return line.count == 1 ? [line[0], line[0]] : line
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

    /// A store of merged models of which one part wasn't given: its tables would go.
    private static func refuseMergedModels(_ store: SourceStore, _ history: ModelHistory) throws(EngineError) {
        let hashes = store.metadata.entityHashes
        let parts = history.versions.filter { version in
            version.hashes.entities.allSatisfy { hashes[$0.key] == $0.value }
        }
        // What another given version has is no stranger: the store may be of a version between the given ones.
        let known = Set(history.versions.flatMap(\.hashes.entities.keys))
        let others = hashes.keys.filter { !known.contains($0) }.sorted()
        guard !others.isEmpty, let part = parts.max(by: { $0.hashes.entities.count < $1.hashes.entities.count }) else {
            return
        }
        throw EngineError(
            .plan,
            "\(store.location.path): the store looks like \"\(part.name)\" merged with a model that wasn't given",
            details: ["its other entities: \(others.joined(separator: ", "))"],
            remedy: """
                give the models of all parts (--models, several times), or let the rows of these entities go with \
                --drop-other-models
                """)
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

    private static func renames(
        _ store: SourceStore, _ version: ModelHistory.Version, _ names: SettledNames
    ) throws(EngineError) -> [String] {
        try names.layout(insteadOf: store.schema).renames(from: bind(store, model: version.model).layout)
    }

    private static func count(
        _ shapes: [RowShape?], of step: StepPlan?, in store: SourceStore
    ) throws(EngineError) -> [Int] {
        try EngineError.reading(store.location.path) {
            try shapes.map { shape throws(SQLiteError) in
                guard var shape else { return 0 }
                // SQLite counts all rows of a table without looking into them.
                if let step, shape.readsAllRows(of: step.source) { shape.conditions = [] }
                return try store.connection.count(shape.countSQL)
            }
        }
    }
}
