import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// What a store says about itself.
struct StoreFacts {
    let metadata: StoreMetadata
    let cachedHashes: [String: [UInt8]]

    init(_ path: String) throws {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
        metadata = try StoreMetadata(reading: connection)
        var statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        cachedHashes =
            try statement.step()
            ? VersionHashes(try ModelReader.model(cache: statement.bytes(at: 0))).entities : [:]
    }
}
