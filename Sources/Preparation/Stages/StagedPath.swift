import CausewayModel
package import CausewayObjects
import CausewayPlanning
package import CausewayStoreFormat
package import CausewayStores

/// A staged migration of one store: the hops from its version to the target with the handlers on each.
///
/// Every hop is made, where Core Data jumps from the first to the last version of lightweight stages
/// (InsideCoreDataMigration §6); hops without a handler between them run as one where the rows come out the same
/// (`StepChain`).
package struct StagedPath: Sendable {
    /// From one version to the next.
    package struct Hop: Sendable {
        package var from: String
        package var to: String
        /// The stage that the hop belongs to, for people; nil for a hop after the last stage.
        package var stage: String?
        package var willMigrate: StageHandler?
        package var didMigrate: StageHandler?
    }

    /// One staging store to make: the versions that lead to it, and the handlers that run on it in their order.
    package struct Run: Sendable {
        package var from: String
        package var to: String
        package var handlers: [StageHandler]
    }

    /// Empty where the store has the target version.
    package let hops: [Hop]

    /// Finds the store's and the target's places in the stages.
    ///
    /// - Parameters:
    ///   - stages: the stages; their names and checksums are looked up in `history` and checked.
    ///   - history: the models; what follows the last stage comes from its graph.
    ///   - metadata: the store's.
    ///   - target: a version's name.
    ///   - store: the store's path, for messages.
    /// - Throws: `.plan` with the meaning of Core Data's 134504 (the store's or the target's version is in no stage, or
    ///   a stage's is in no model), 134505 (the store can't say its version) or 134506 (backwards).
    package init(
        _ stages: StagedMigration, history: ModelHistory, metadata: StoreMetadata, target: String, store: String
    ) throws(EngineError) {
        do throws(StagedMigrationError) {
            hops = try Self.hops(stages, history, metadata, target: target, store: store)
        } catch {
            throw EngineError(.plan, error.summary, remedy: error.remedy)
        }
    }

    private static func hops(
        _ stages: StagedMigration, _ history: ModelHistory, _ metadata: StoreMetadata, target: String, store: String
    ) throws(StagedMigrationError) -> [Hop] {
        try requireHashes(metadata, store)
        let hashes = metadata.entityHashes
        guard let end = history.versions.first(where: { $0.name == target }) else {
            throw unknownTarget(target, stages)
        }
        var line = try StageResolution(stages: stages, history: history, target: target).line()
        if end.hashes.entities == hashes { return [] }
        let staged = line.count
        let goal = try place(of: end, in: &line, history)
        // A version after the last stage belongs to no stage: Core Data doesn't know it either.
        guard let start = line[..<staged].firstIndex(where: { $0.version.hashes.entities == hashes }) else {
            throw unknown(metadata, stages, history, store: store)
        }
        guard let goal else { throw unknownTarget(target, stages) }
        guard start < goal else {
            throw StagedMigrationError(
                .backwardMigration,
                """
                A store file cannot be migrated backwards with staged migration: \(store) has the version \
                “\(line[start].version.name)”, which the stages put after “\(target)”
                """,
                remedy: "choose a later target, or put the stages into the right order")
        }
        return (start..<goal).map { index in
            var hop = Hop(from: line[index].version.name, to: line[index + 1].version.name)
            guard index + 1 < staged else { return hop }
            let (number, stage) = (line[index + 1].stage, stages.stages[line[index + 1].stage])
            hop.stage = StagedMigration.title(of: stage, number)
            // A custom stage's own hop ends at its last version; a hop before it leads into the stage.
            let isEnd = index + 2 >= staged || line[index + 2].stage != number
            guard case .custom(let custom) = stage.kind, isEnd else { return hop }
            hop.willMigrate = StageHandler(custom, number: number, moment: .willMigrate, version: hop.from)
            hop.didMigrate = StageHandler(custom, number: number, moment: .didMigrate, version: hop.to)
            return hop
        }
    }

    /// The target's place in the line. A target that no stage names follows the last stage, by the history's own order;
    /// nil where it doesn't.
    private static func place(
        of target: ModelHistory.Version, in line: inout [StagedMigration.Stop<ModelHistory.Version>],
        _ history: ModelHistory
    ) throws(StagedMigrationError) -> Int? {
        if let index = line.firstIndex(where: { $0.version.hashes.checksum == target.hashes.checksum }) {
            // Models can have the same hashes and different indexes: the target's are used.
            line[index].version = target
            return index
        }
        guard let last = line.last, let path = try? history.graph.path(from: last.version.name, to: target.name) else {
            return nil
        }
        for name in path.dropFirst() {
            guard let version = history.versions.first(where: { $0.name == name }) else {
                throw StagedMigrationError(
                    .modelReferenceNotFound,
                    "“\(name)” comes after the last stage but can't be read: \(history.failures[name] ?? "no such model")",
                    remedy: "fix the model, or route around it with --next")
            }
            line.append(.init(version: version, stage: last.stage))
        }
        return line.count - 1
    }

    /// The hashes tell a store's version. Unlike Core Data we compute the checksum from them, so a store needs no
    /// `NSStoreModelVersionChecksumKey` and stores of any framework can be migrated. Only hashes of another kind leave
    /// nothing to compare.
    private static func requireHashes(_ metadata: StoreMetadata, _ store: String) throws(StagedMigrationError) {
        guard metadata.entityHashes.isEmpty || metadata.hashesVersion != currentHashesVersion else { return }
        let what =
            metadata.entityHashes.isEmpty
            ? "its metadata holds no version hashes" : "its version hashes are of kind \(metadata.hashesVersion)"
        throw StagedMigrationError(
            .frameworkVersionMismatch, "\(store): the store can't be migrated in stages: \(what)",
            remedy: "open and save the store once with the application that wrote it, on a newer system")
    }

    /// `NSStoreModelVersionHashesVersion` of all stores since 10.5 (InsideStoreFormat §9).
    private static let currentHashesVersion: Int64 = 3

    private static func unknown(
        _ metadata: StoreMetadata, _ stages: StagedMigration, _ history: ModelHistory, store: String
    ) -> StagedMigrationError {
        let version = history.versions.last { $0.hashes.entities == metadata.entityHashes }
        let checksum = VersionHashes.checksum(of: metadata.entityHashes)
        let what = version.map { "“\($0.name)”" } ?? "none of the models in \(history.path)"
        return StagedMigrationError(
            .modelReferenceNotFound,
            """
            Cannot use staged migration with an unknown model version. \(store) is \(what) (checksum \(checksum)), which no \
            stage names; the stages have \(names(stages))
            """,
            remedy: version == nil
                ? "add the model that wrote the store and name it in a stage"
                : "name the version in a lightweight stage before the others")
    }

    private static func unknownTarget(_ target: String, _ stages: StagedMigration) -> StagedMigrationError {
        StagedMigrationError(
            .modelReferenceNotFound,
            """
            Cannot use staged migration with an unknown model version. The target “\(target)” is in no stage and doesn't \
            follow the last one; the stages have \(names(stages))
            """,
            remedy: "name the target in the last stage")
    }

    private static func names(_ stages: StagedMigration) -> String {
        stages.stages.flatMap(\.kind.versions).map(\.description).joined(separator: ", ")
    }
}

extension StagedPath {
    /// The staging stores to make, one per hop. A `willMigrate` runs at the end of the run that makes its version's
    /// store. If that is the user's own store, a first run copies it (A → A), since the original is never written.
    package var runs: [Run] {
        var runs: [Run] = []
        for hop in hops {
            if let handler = hop.willMigrate {
                if runs.isEmpty { runs.append(Run(from: hop.from, to: hop.from, handlers: [])) }
                runs[runs.count - 1].handlers.append(handler)
            }
            runs.append(Run(from: hop.from, to: hop.to, handlers: hop.didMigrate.map { [$0] } ?? []))
        }
        return runs
    }

    /// The versions of all stores in order: the first and each run's result. The first repeats if a run copies the
    /// store. Empty if there is nothing to do.
    package var versions: [String] {
        guard let first = runs.first else { return [] }
        return [first.from] + runs.map(\.to)
    }
}
