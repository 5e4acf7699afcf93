import CausewayMapping
import CausewayModel
public import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ModelsReport {
    /// Reads the models and infers every step.
    ///
    /// - Parameters:
    ///   - models: path of an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`; or of a store, for its own cache.
    ///   - next: which version follows which, where it isn't the next in order.
    /// - Throws: `MigrationError` where there is no bundle, or `next` names a version that isn't there. If a single
    ///   version can't be read, the report has its error.
    public init(models: String, next: [String: String] = [:]) throws(MigrationError) {
        try self.init(models: [models], next: next)
    }

    /// Reads a model in several files and infers every step.
    ///
    /// - Parameters:
    ///   - models: paths as for one model; the article “One model in several files” says how they become one history.
    ///   - next: which version follows which, where it isn't the next in order.
    /// - Throws: `MigrationError` where there is no bundle, they don't belong together, or `next` names a version that
    ///   isn't there. If a single version can't be read, the report has its error.
    public init(models: [String], next: [String: String] = [:]) throws(MigrationError) {
        let history = try MigrationError.wrapping { () throws(EngineError) in
            try ModelHistory(reading: models, edges: next)
        }
        self.init(history)
    }

    /// Reads the models, infers every step, and finds the step of every mapping model.
    ///
    /// - Parameters:
    ///   - models: path of an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`; or of a store, for its own cache.
    ///   - next: which version follows which, where it isn't the next in order.
    ///   - mappingModels: paths of mapping models, in addition to those beside the models.
    ///   - code: mapping models in Swift.
    /// - Throws: `MigrationError` as `init(models:next:)`, and for a path in `mappingModels` that can't be read.
    public init(
        models: String, next: [String: String] = [:], mappingModels: [String], code: MigrationCode = MigrationCode()
    ) throws(MigrationError) {
        try self.init(models: [models], next: next, mappingModels: mappingModels, code: code)
    }

    /// Reads a model in several files, infers every step, and finds the step of every mapping model.
    ///
    /// - Parameters:
    ///   - models: paths as for one model; the article “One model in several files” says how they become one history.
    ///   - next: which version follows which, where it isn't the next in order.
    ///   - mappingModels: paths of mapping models, in addition to those beside the models.
    ///   - code: mapping models in Swift.
    /// - Throws: `MigrationError` as `init(models:next:)`, and for a path in `mappingModels` that can't be read.
    public init(
        models: [String], next: [String: String] = [:], mappingModels: [String], code: MigrationCode = MigrationCode()
    ) throws(MigrationError) {
        let (history, library) = try MigrationError.wrapping { () throws(EngineError) in
            (
                try ModelHistory(reading: models, edges: next),
                try MappingLibrary(given: mappingModels, besideModels: models, code: code)
            )
        }
        self.init(history)
        mappings = Self.mappings(in: library, history)
        notices += library.notices + library.jumps(in: history).map { $0.notice(in: history) }
        // A migration takes the mapping models that fit, even where it could infer the step.
        for index in steps.indices where !steps[index].isEqual && steps[index].error == nil {
            if let changes = Self.changes(of: steps[index], in: library, history) { steps[index].changes = changes }
        }
    }

    /// What the mapping models of a step change; nil where none fits.
    private static func changes(
        of step: Step, in library: MappingLibrary, _ history: ModelHistory
    ) -> [ModelChange]? {
        guard let from = history.versioned(step.from), let to = history.versioned(step.to) else { return nil }
        let verdicts = library.verdicts([MappingHop(from: from, to: to)], in: history)
        let fitting = zip(library.entries, verdicts).compactMap { entry, verdict in
            if case .fits = verdict { entry.description } else { nil }
        }
        let resolved = fitting.compactMap { try? $0.resolved(from: from, to: to, beside: fitting) }
        guard !resolved.isEmpty else { return nil }
        return ObjectChanges(step: 0, resolved, source: from.model, destination: to.model).changes.map {
            ModelChange($0, version: step.to)
        }
    }

    private static func mappings(in library: MappingLibrary, _ history: ModelHistory) -> [Mapping] {
        let hops = history.hops
        let read = zip(library.entries, library.verdicts(hops, in: history)).map { entry, verdict in
            Mapping(entry, verdict, hops, history)
        }
        let unread = library.unread.map {
            Mapping(name: $0.path, path: $0.path, origin: .found, differences: [$0.reason])
        }
        return read + unread
    }

    private init(_ history: ModelHistory) {
        models = history.path
        currentVersion = history.currentVersion
        notices = history.notices + [history.doubt].compactMap(\.self)
        versions = history.graph.versions.map { name in
            let found = history.versions.first { $0.name == name }
            return Version(
                name: name, file: history.files[name]?.first, isCurrent: name == history.currentVersion,
                versionIdentifiers: found?.model.versionIdentifiers ?? [],
                entityHashes: (found?.hashes.entities ?? [:]).mapValues { Data($0).base64EncodedString() },
                checksum: found?.hashes.checksum ?? "", digest: found?.hashes.digest ?? "",
                unverifiedEntities: found?.hashes.unverified ?? [], error: history.failures[name])
        }
        steps = history.graph.versions.compactMap { name in
            history.graph.next(after: name).map { Step(from: name, to: $0, history) }
        }
    }
}

extension ModelsReport.Step {
    init(from: String, to: String, _ history: ModelHistory) {
        self.init(from: from, to: to)
        guard let source = history.versions.first(where: { $0.name == from }),
            let destination = history.versions.first(where: { $0.name == to })
        else {
            let unreadable = [from, to].filter { history.failures[$0] != nil }
            error = "not compared: \(unreadable.joined(separator: " and ")) can't be read"
            return
        }
        isEqual = source.hashes.entities == destination.hashes.entities
        do throws(InferenceError) {
            let mapping = try MappingInference.infer(from: source.model, to: destination.model)
            take(mapping)
            show(mapping, source.model, destination.model)
            isInferable = true
            // A store with the same hashes needs no migration, whatever its rows are.
            conditions = isEqual ? [] : mapping.conditions(from: source.model, to: destination.model)
        } catch {
            refusals = error.refusals.map(\.description)
            compare(source.hashes.entities, destination.hashes.entities)
            show(
                MappingInference.closest(from: source.model, to: destination.model), source.model, destination.model)
        }
    }

    /// What changes, entity by entity and property by property.
    private mutating func show(
        _ mapping: MappingModel, _ source: ManagedObjectModel, _ destination: ManagedObjectModel
    ) {
        changes = InferredChanges(step: 0, mapping: mapping, source: source, destination: destination).changes.map {
            ModelChange($0, version: to)
        }
    }

    private mutating func take(_ mapping: MappingModel) {
        conversions = mapping.conversions.map(\.description)
        for entity in mapping.entityMappings {
            switch (entity.source, entity.destination) {
            case (nil, let to?): addedEntities.append(to)
            case (let from?, nil): removedEntities.append(from)
            case (let from?, let to?) where from != to: renamedEntities.append(.init(from: from, to: to))
            case (_, let to?): if entity.kind == .transform { changedEntities.append(to) }
            case (nil, nil): break
            }
        }
    }

    /// By name alone: without a mapping renames aren't known.
    private mutating func compare(_ source: [String: [UInt8]], _ destination: [String: [UInt8]]) {
        addedEntities = destination.keys.filter { source[$0] == nil }.sorted()
        removedEntities = source.keys.filter { destination[$0] == nil }.sorted()
        changedEntities = destination.keys.filter { source[$0] != nil && source[$0] != destination[$0] }.sorted()
    }
}

extension ModelsReport.Mapping {
    fileprivate init(
        _ entry: MappingLibrary.Entry, _ verdict: MappingVerdict, _ hops: [MappingHop], _ history: ModelHistory
    ) {
        name = entry.description.name
        path = entry.description.path
        origin =
            switch entry.origin {
            case .code: .code
            case .given: .given
            case .found: .found
            }
        switch verdict {
        case .fits(let positions):
            fits = positions.map { Edge(from: hops[$0].from.name ?? "", to: hops[$0].to.name ?? "") }
        case .elsewhere(let from, let to): fits = [Edge(from: from, to: to)]
        case .ofAnotherModel(let other): differences = ["it is for another model, \(other.bundle)"]
        case .ambiguous(_, let steps): differences = [entry.ambiguity(of: steps)]
        case .differs(_, let nearest, let sentences):
            self.nearest = nearest.isEmpty ? nil : nearest
            differences = sentences
        }
        // Described for the versions that it fits: its defaults depend on them.
        let ends = fits.first.flatMap { step -> (VersionedModel, VersionedModel)? in
            guard let from = history.versioned(step.from), let to = history.versioned(step.to) else { return nil }
            return (from, to)
        }
        lines = entry.description.lines(ends.flatMap { try? entry.description.resolved(from: $0.0, to: $0.1) })
    }
}

extension ModelHistory {
    fileprivate func versioned(_ name: String) -> VersionedModel? {
        versions.first { $0.name == name }?.versioned
    }
}
