public import CausewayComparison
import CausewayPreparation
import CausewayStores

extension StoreComparison {
    /// Compares two stores, entity by entity, without changing a byte of either.
    ///
    /// Rows are matched by entity name and primary key, and compared cell by cell: storage class and bits, external
    /// data by content, links by the target's entity and key. `isModuloKeys` matches them by what they hold, links
    /// included, for stores whose keys were given anew.
    ///
    /// Memory doesn't depend on the stores' sizes. Each is read once; `isModuloKeys` sorts digests of rows and links in
    /// a temporary file in `TMPDIR`, about 200 bytes for a row and a link.
    ///
    /// ```swift
    /// let comparison = try StoreComparison("Result.sqlite", "Reference.sqlite")
    /// print(comparison.isEqual, comparison.entities.filter(\.differs).map(\.name))
    /// ```
    ///
    /// - Parameters:
    ///   - a: path of the first store's main file.
    ///   - b: path of the second store's main file.
    ///   - models: path of a model bundle with the versions of both; nil uses each store's own cache.
    ///   - isModuloKeys: matches rows by content.
    ///   - progress: told what is compared, in order, on this thread; it should return quickly.
    /// - Throws: `MigrationError` where a file is no Core Data store, is damaged, or can't be read, and with
    ///   `isModuloKeys` where a store's model is unknown. A difference is a result, not an error.
    public init(
        _ a: String, _ b: String, models: String? = nil, isModuloKeys: Bool = false,
        progress: @escaping (ComparisonProgress) -> Void = { _ in }
    ) throws(MigrationError) {
        try self.init(a, b, models: models.map { [$0] } ?? [], isModuloKeys: isModuloKeys, progress: progress)
    }

    /// Compares two stores with a model in several files.
    ///
    /// - Parameters:
    ///   - a: path of the first store's main file.
    ///   - b: path of the second store's main file.
    ///   - models: paths of model bundles or stores with the versions of both; none uses each store's own cache.
    ///   - isModuloKeys: matches rows by content.
    ///   - progress: told what is compared, in order, on this thread; it should return quickly.
    /// - Throws: `MigrationError` where a file is no Core Data store, is damaged, or can't be read, and with
    ///   `isModuloKeys` where a store's model is unknown. A difference is a result, not an error.
    public init(
        _ a: String, _ b: String, models: [String], isModuloKeys: Bool = false,
        progress: @escaping (ComparisonProgress) -> Void = { _ in }
    ) throws(MigrationError) {
        self = try BusyStore(a).run { () throws(MigrationError) in
            try BusyStore(b).run { () throws(MigrationError) in
                try MigrationError.wrapping { () throws(EngineError) in
                    let history = try ModelHistory.given(models)
                    let (first, second) = (try StoreLocation(existing: a), try StoreLocation(existing: b))
                    return try SourceStore.reading(first) { one throws(EngineError) in
                        try SourceStore.reading(second) { other throws(EngineError) in
                            try Comparison(
                                one, other, history: history, isModuloKeys: isModuloKeys, progress: progress
                            ).run()
                        }
                    }
                }
            }
        }
    }
}
