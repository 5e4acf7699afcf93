import CausewayPlanning
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Whether the pages of a path's stores are read, or their rows by statements.
struct PageReading {
    private let engine: EngineChoice
    private let store: SourceStore
    /// Why the pages of the path's first store can't be read; stores that steps make have ordinary ones.
    private let obstacle: String?
    /// Why no store's pages are read, whatever their form.
    private let refusal: String?
    /// Where the new store is made.
    private let folder: String
    private let leaves: LeafCounts

    init(_ request: MigrationRequest, _ store: SourceStore) {
        engine = request.options.engine
        self.store = store
        leaves = LeafCounts(of: store)
        folder = request.output.map { Paths.parent(of: $0) } ?? store.location.directory
        obstacle = engine == .statements ? nil : Self.obstacle(request, store)
        refusal = Self.refusal(request, pageSize: Int(store.pageSize))
    }

    private static func refusal(_ request: MigrationRequest, pageSize: Int) -> String? {
        // Whether a row is bad may depend on rows of other tables.
        if request.badRows == .quarantine { return "bad rows are quarantined" }
        // Of one worker: what is read as pages mustn't depend on how many there are.
        let needed = EngineOptions.pageMemoryBytes(jobs: 1, pageSize: pageSize)
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

    /// The source's indexes, which may stay; empty where nothing does.
    func indexes() throws(EngineError) -> [TableIndex] {
        guard engine != .statements else { return [] }
        return try EngineError.reading(store.location.path) { try store.connection.indexes() }
    }

    /// How the tables and indexes of a step are made.
    func methods(of step: StepPlan, from source: StepSource, isFirst: Bool) -> StepMethods {
        guard engine != .statements else { return StepMethods() }
        let obstacle = refusal ?? (isFirst ? obstacle : nil)
        if let objects = step.objects {
            return StepMethods(of: objects, step.indexes, derivedValues: step.derivedValues, obstacle: obstacle)
        }
        return MethodChooser(
            from: source, step: step, obstacle: obstacle,
            isOldFormat: isFirst && isOldFormat,
            isWorthCopying: { kept in isFirst && isWorthCopying(keeping: kept) }
        ).methods()
    }

    /// What can't be read has another obstacle.
    private var isOldFormat: Bool {
        (try? store.pageFile()).map { $0.layout.header.schemaFormat < 4 } ?? false
    }

    /// Whether at least a quarter of the leaves stays: a copy with less of the source in it takes longer than a store
    /// that is built from empty, and is larger.
    ///
    /// - Parameter kept: tables and indexes that stay.
    /// - Returns: false also where the pages can't be read.
    private func isWorthCopying(keeping kept: Set<String>) -> Bool {
        // In older formats SQLite ignores DESC, and a copy keeps the format.
        guard let pages = try? store.pageFile(), pages.layout.header.schemaFormat >= 4, store.canBeContinued
        else { return false }
        var (stay, all) = (0, 0)
        for object in store.schema.objects where object.rootPage > 0 {
            // What is damaged is found, and named, when it is read.
            guard let count = leaves.count(of: object, in: pages) else { return false }
            all += count
            if kept.contains(object.name) { stay += count }
        }
        return stay * 4 >= all
    }

    /// Bytes of the store that the step's new one shares with it and that take no room on the disk: leaves that stay as
    /// they are, where the file system shares extents. Their overflow pages aren't counted.
    ///
    /// - Parameter step: the first of the path.
    /// - Returns: 0 where that can't be found out: then room for a whole copy is asked for.
    func sharedBytes(of step: StepPlan) -> Int {
        guard step.methods.beginning == .copy, let pages = try? store.pageFile(), pages.canShareExtents(in: folder)
        else { return 0 }
        let stay = step.schemaEdit(of: store.schema).kept.filter { step.methods.renumberings(of: $0).isEmpty }
        let names = Set(stay.map { $0.name.lowercased() })
        return store.schema.objects.reduce(0) { bytes, object in
            guard object.rootPage > 0, names.contains(object.name.lowercased()),
                let count = leaves.count(of: object, in: pages)
            else { return bytes }
            return bytes + count * pages.layout.pageSize
        }
    }
}

/// How many leaves the source's trees have: each is counted once, by reading its interior pages.
private final class LeafCounts {
    private let schema: StoreSchema
    private var counts: [TreeRoot: Int] = [:]

    init(of store: SourceStore) { schema = store.schema }

    /// nil where the tree can't be read.
    func count(of object: StoreSchema.Object, in pages: PageFile) -> Int? {
        let tree = TreeRoot(object, in: schema)
        if let count = counts[tree] { return count }
        let count = try? pages.leafCount(of: tree)
        counts[tree] = count
        return count
    }
}
