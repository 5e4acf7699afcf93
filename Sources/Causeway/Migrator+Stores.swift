import CausewayPreparation
import CausewayStores

/// One migration of several stores: the versions are read once.
extension Migrator {
    /// The same migration, with its models read.
    ///
    /// - Returns: a migration that doesn't read the models again.
    /// - Throws: `MigrationError` where they can't be read.
    package func readingModels() throws(MigrationError) -> Migrator {
        var result = self
        result.history = try MigrationError.wrapping { () throws(EngineError) in
            try ModelHistory(reading: models, edges: options.next)
        }
        return result
    }

    /// The same migration of another store.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - options: those of this migration, with paths, threads and memory of the store's own.
    /// - Returns: the other migration; models that were read aren't read again.
    package func migrating(_ store: String, _ options: MigrationOptions) -> Migrator {
        var result = self
        (result.store, result.options) = (store, options)
        return result
    }
}
