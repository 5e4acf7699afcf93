import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

extension StoreGenerator {
    /// Rows between two calls of the progress closure: a few a second.
    private static let rowsPerReport = 16_384
    /// KiB of page cache; with the sorter of `CREATE INDEX`, what the memory's size is about.
    private static let cacheSize: Int64 = 65_536

    /// Writes the store.
    ///
