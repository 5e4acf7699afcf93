import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

/// Whether the pages of a path's stores are read, or their rows by statements.
struct PageReading {
    private let engine: EngineChoice
    /// Why the pages of the path's first store can't be read; stores that steps make have ordinary ones.
    private let obstacle: String?
    /// Why no store's pages are read, whatever their form.
    private let refusal: String?

    init(_ request: MigrationRequest, _ store: SourceStore) {
        engine = request.options.engine
        obstacle = engine == .statements ? nil : Self.obstacle(request, store)
        refusal = Self.refusal(request, pageSize: Int(store.pageSize))
    }

    private static func refusal(_ request: MigrationRequest, pageSize: Int) -> String? {
        // Whether a row is bad may depend on rows of other tables.
        if request.badRows == .quarantine { return "bad rows are quarantined" }
        let needed = EngineOptions.pageMemoryBytes(jobs: request.options.jobs, pageSize: pageSize)
        guard let limit = request.options.memoryLimit, needed > limit else { return nil }
        return "--memory-limit has no room for \(needed) bytes of pages"
    }

    private static func obstacle(_ request: MigrationRequest, _ store: SourceStore) -> String? {
        // A store that is migrated in place gets its log folded in before.
        if request.output != nil, store.hasNewerPages { return "the store's -wal has newer pages" }
        do throws(SourceRefusal) {
            _ = try store.pageFile()
            return nil
        } catch {
            return error.description
        }
    }

    /// How the tables of a step get their rows.
    func methods(of step: StepPlan, from source: StepSource, isFirst: Bool) -> [String: MethodChoice] {
        // What mapping models make goes through statements.
        guard engine == .pages, step.objects == nil else { return [:] }
        return MethodChooser(from: source, to: step.layout, obstacle: refusal ?? (isFirst ? obstacle : nil))
            .methods(of: step.passes, indexes: step.indexes)
    }
}
