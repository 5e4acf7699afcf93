import CausewaySQLite
import CausewayStoreFormat
import CausewayStores
import Testing

/// Without dbstat the page reader would be compared with itself.
private let hasStatistics: Bool = {
    do {
        let connection = try Connection(path: ":memory:", mode: .readWrite, hardening: .own)
        try connection.execute("SELECT count(*) FROM dbstat")
        return true
    } catch {
        return false
    }
}()

/// Pages of tables and indexes, which SQLite's dbstat counts, or Causeway's page reader where that is missing.
@Suite(
    "Sizes of tables and indexes", .enabled(if: SharedStores.isThere, "\(SharedStores.missing)"),
    .enabled(if: hasStatistics, "this SQLite has no dbstat"), .timeLimit(.minutes(60)))
struct ObjectSizesTests {
    @Test("the page reader counts what dbstat counts", arguments: ExportTests.stores)
    func reading(name: String) throws {
        let folder = try TemporaryFolder()
        let location = try StoreLocation(existing: try folder.copyStore(SharedStores.path(name), as: "Store.sqlite"))
        let store = try SourceStore.reading(location)
        defer { store.release() }
        let sizes = try store.objectSizes().get()
        #expect(sizes.count > 3)
        let pages = try store.pagesByReading(sizes.map(\.object))
        for size in sizes { #expect(pages[size.object.name] == size.pages, "\(size.object.name)") }
    }
}
