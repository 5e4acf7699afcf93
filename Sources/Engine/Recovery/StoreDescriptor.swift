import CausewayPlatform
import CausewaySQLiteFile
import CausewayStores

/// The one raw descriptor of a store: opened before SQLite opens the store, closed after SQLite has closed it.
///
/// Closing any descriptor of a file releases all POSIX locks of the process on it, SQLite's too: while the store is
/// owned, its bytes are read through this one alone (InsideCrashSafety §2.1).
final class StoreDescriptor: Sendable {
    let location: StoreLocation
    private let file: OpenFile

    init(_ location: StoreLocation) throws(EngineError) {
        self.location = location
        file = try EngineError.reading(location.path) { try OpenFile(location.path, mode: .read) }
    }

    /// The file as it is now, whatever its name.
    func identity() throws(EngineError) -> FileIdentity {
        try EngineError.at(location.path) { FileIdentity(try file.status(), try file.prefix(DatabaseHeader.length)) }
    }
}
