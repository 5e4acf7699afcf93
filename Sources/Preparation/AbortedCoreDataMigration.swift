import CausewayPlatform
import CausewayStores

/// What Core Data leaves beside a store when its own migration is killed.
///
/// It isn't part of the store and is never touched: the user may want to look at it. The store itself is usually the
/// complete old one then.
enum AbortedCoreDataMigration {
    /// Most entries of a folder that are checked; no store has more files beside it.
    private static let maximumEntries = 100_000

    /// Beginnings of the names, around the store's own.
    private static let marks = [".model.sqlite.migrationdestination_", ".migrationdestination_", "_SUPPORT_transsrc_"]

    /// Names of leftovers in the store's folder; none if the folder can't be listed, which other checks report.
    static func leftovers(beside location: StoreLocation) -> [String] {
        guard let names = try? Files.list(location.directory, limit: maximumEntries) else { return [] }
        return names.filter { name in
            name.hasPrefix(".") && marks.contains { name.utf8.contains($0.utf8) }
        }
    }

    /// For the warnings of a plan; nil if there are no leftovers.
    static func warning(beside location: StoreLocation) -> String? {
        let names = leftovers(beside: location)
        guard let first = names.first else { return nil }
        let more = names.count > 1 ? " and \(names.count - 1) more" : ""
        return """
            \(first)\(more) is next to the store, left by an interrupted Core Data migration; remove it once the store \
            is migrated and opens
            """
    }
}
