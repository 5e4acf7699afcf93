import CausewayEngine
public import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores

extension ModelsCheck {
    /// Checks the models, their mapping models and stores. Rows of the stores are read, nothing is changed.
    ///
    /// - Parameters:
    ///   - models: paths of model bundles, or of stores.
    ///   - shipped: path of the record of shipped versions.
    ///   - next: which version follows which, where it isn't the next in order.
    ///   - mappingModels: paths of mapping models, in addition to those beside the models.
    ///   - stores: paths of stores that the app must be able to migrate to the current version.
    ///   - code: the Swift side of the migration.
    /// - Throws: `MigrationError` where there are no models or no record, or a path in `mappingModels` can't be read.
    ///   What is wrong with the models is a problem, not an error.
    public init(
        models: [String], shipped: String, next: [String: String] = [:], mappingModels: [String] = [],
        stores: [String] = [], code: MigrationCode = MigrationCode()
    ) throws(MigrationError) {
        let record = try ShippedModels(reading: shipped)
        let history: ModelHistory
        do {
            history = try ModelHistory(reading: models, edges: next)
        } catch {
            self = try MigrationError.wrapping { () throws(EngineError) in
                try ModelsCheck(parts: models, record, shipped: shipped, thatDontFit: error)
            }
            return
        }
        let library = try MigrationError.wrapping { () throws(EngineError) in
            try MappingLibrary(given: mappingModels, besideModels: models, code: code)
        }
        let comparison = ShippedComparison(record, history)
        self.init(
            models: models, shipped: shipped, currentVersion: history.currentVersion,
            recorded: record.versions.keys.sorted(), unrecorded: comparison.unrecorded,
            problems: comparison.problems, notices: history.notices + comparison.notices)
        let steps = HistoryCheck(history: history, library: library)
        problems += steps.steps() + steps.mappingModels()
        notices += steps.notices()
        for store in stores {
            var options = MigrationOptions()
            (options.next, options.mappingModels) = (next, mappingModels)
            let migrator = Migrator(store: store, models: models, options: options, code: code)
            let problem = try BusyStore(store).run { () throws(MigrationError) in
                try MigrationError.wrapping { () throws(EngineError) in try Self.problem(of: migrator, history) }
            }
            if let problem { problems.append(problem) }
        }
    }

    /// Of models that aren't one any more: a version that has shipped may have been removed from some of them.
    ///
    /// - Throws: `error` where none was.
    private init(
        parts models: [String], _ record: ShippedModels, shipped: String, thatDontFit error: EngineError
    ) throws(EngineError) {
        guard error.kind == .plan, models.count > 1 else { throw error }
        var bundles: [(path: String, history: ModelHistory)] = []
        for path in models {
            let history = try ModelHistory(reading: [path], edges: [:])
            // A part with one version is in all of them.
            if history.graph.versions.count > 1 { bundles.append((path, history)) }
        }
        var problems: [Problem] = []
        for name in record.versions.keys.sorted() {
            let others = bundles.filter { !$0.history.graph.versions.contains(name) }
            guard others.count < bundles.count else { continue }
            problems += others.map { path, _ in
                Problem(
                    kind: .shippedVersionRemoved,
                    message: "\"\(name)\" has shipped and isn't in \(path) any more: its stores can't be identified",
                    version: name, file: path)
            }
        }
        guard !problems.isEmpty, let last = bundles.last else { throw error }
        self.init(
            models: models, shipped: shipped, currentVersion: last.history.currentVersion,
            recorded: record.versions.keys.sorted(), unrecorded: [], problems: problems, notices: [error.message])
    }

    /// - Throws: `.busy`, which is no problem of the models.
    private static func problem(
        of migrator: Migrator, _ history: ModelHistory
    ) throws(EngineError) -> Problem? {
        do throws(EngineError) {
            _ = try Migration(try migrator.request(), history: history).plan()
            return nil
        } catch {
            if error.kind == .busy { throw error }
            return Problem(
                kind: .store,
                message: "\(migrator.store): can't be migrated to \"\(history.currentVersion)\": \(error.message)",
                details: error.details, version: history.currentVersion, file: migrator.store)
        }
    }
}

extension ShippedModels {
    /// Records the versions up to the current one as shipped: at a release, when their stores reach users.
    ///
    /// A record that is there is extended. Where a version in it was edited or removed, or a version can't be read,
    /// nothing is written.
    ///
    /// - Parameters:
    ///   - models: paths of model bundles, or of stores.
    ///   - next: which version follows which, where it isn't the next in order.
    ///   - path: the record's path.
    ///   - replacing: replaces what the record says of versions that were edited, and removes those that are gone.
    /// - Returns: what was recorded, or why nothing was.
    /// - Throws: `MigrationError` where there are no models, or the record can't be read or written.
    public static func record(
        models: [String], next: [String: String] = [:], at path: String, replacing: Bool = false
    ) throws(MigrationError) -> ShippedModelsRecording {
        let (record, history) = try MigrationError.wrapping { () throws(EngineError) in
            (try found(at: path), try ModelHistory(reading: models, edges: next))
        }
        let comparison = ShippedComparison(record ?? ShippedModels(), history)
        let shipping = comparison.shipping
        var recording = ShippedModelsRecording(shipped: path)
        recording.problems = (replacing ? [] : comparison.changes) + shipping.compactMap(comparison.unreadable)
        guard recording.problems.isEmpty else { return recording }
        var result = record ?? ShippedModels()
        for name in comparison.gone where result.versions.removeValue(forKey: name) != nil {
            recording.replaced.append(name)
        }
        for name in shipping {
            guard let version = comparison.present[name] else { continue }
            if let known = result.name(of: version, called: name, besides: comparison.names) {
                recording.unchanged.append(known)
            } else if result.versions.updateValue(version, forKey: name) == nil {
                recording.added.append(name)
            } else {
                recording.replaced.append(name)
            }
        }
        if result != record { try result.write(to: path) }
        return recording
    }
}
