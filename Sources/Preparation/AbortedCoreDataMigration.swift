import CausewayPlatform
import CausewayStores

/// What Core Data leaves beside a store when its own migration is killed.
///
/// It is no part of the store and is never touched: somebody may want to look at it. The store itself is then mostly the
/// old one, whole.
enum AbortedCoreDataMigration {
    /// Entries of a folder that are looked at; more files than this lie beside no store.
    private static let maximumEntries = 100_000

    /// Beginnings of the names, around the store's own.
    private static let marks = [".model.sqlite.migrationdestination_", ".migrationdestination_", "_SUPPORT_transsrc_"]

    /// Names of leftovers in the store's folder; none where the folder can't be listed, which others report.
    static func leftovers(beside location: StoreLocation) -> [String] {
        guard let names = try? Files.list(location.directory, limit: maximumEntries) else { return [] }
        return names.filter { name in
            name.hasPrefix(".") && marks.contains { mark in isPart(mark, of: name) }
        }
    }

    /// For the warnings of a plan; nil where there are none.
    static func warning(beside location: StoreLocation) -> String? {
        let names = leftovers(beside: location)
        guard let first = names.first else { return nil }
        let more = names.count > 1 ? " and \(names.count - 1) more" : ""
        return
            "\(first)\(more) lies beside the store: Core Data was stopped while it migrated; once the store is migrated "
            + "and opens, remove it"
    }

    private static func isPart(_ mark: String, of name: String) -> Bool {
        let (text, part) = (Array(name.utf8), Array(mark.utf8))
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0..<$0 + part.count].elementsEqual(part) }
    }
}
