import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// The rows of Z_PRIMARYKEY, Z_METADATA and Z_MODELCACHE (InsideStoreFormat §§2, 8, 9). They come last: a file without
/// them isn't a store.
struct HouseRows {
    private let primaryKeys: [(number: Int, name: String, parent: Int)]
    /// Z_MAX stands in the root's row only.
    private let largestKeys: [String: Int]
    private let metadata: StoreMetadata
    /// nil for the layouts of before the cache.
    private let cache: [UInt8]?

    init(_ generator: StoreGenerator) throws(GenerationError) {
        let layout = generator.layout
        primaryKeys = layout.primaryKeyRows
        largestKeys = generator.keySpaces.mapValues(\.rowCount)
        var random = RandomStream(stream: RandomStream.stream(seed: generator.options.seed, "store"), key: 0)
        var uuid = TextComposer()
        uuid.append(RandomUUID(&random))
        let hashes = VersionHashes(layout.model)
        let identity = ModelIdentity(
            entityHashes: hashes.entities, digest: hashes.digest, checksum: hashes.checksum,
            versionIdentifiers: layout.model.versionIdentifiers)
        metadata = StoreMetadata(
            uuid: String(decoding: uuid.bytes, as: UTF8.self), entityHashes: hashes.entities,
            versionIdentifiers: identity.versionIdentifiers, frameworkVersion: layout.frameworkVersion
        )
        .rewritten(for: identity, frameworkVersion: layout.frameworkVersion)
        guard layout.houseStatements.contains(where: { $0.name == "Z_MODELCACHE" }) else {
            cache = nil
            return
        }
        cache = try GenerationError.wrapping { try ModelCacheWriter.cache(of: layout.model) }
    }

    func write(to connection: borrowing Connection) throws(GenerationError) {
        try GenerationError.wrapping {
            var keys = try connection.prepare(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?1, ?2, ?3, ?4)")
            for row in primaryKeys {
                try keys.bind(Int64(row.number), at: 1)
                try keys.bind(row.name, at: 2)
                try keys.bind(Int64(row.parent), at: 3)
                try keys.bind(Int64(largestKeys[row.name] ?? 0), at: 4)
                try keys.run()
            }
            if let cache {
                var statement = try connection.prepare("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?1)")
                try statement.bind(cache, at: 1)
                try statement.run()
            }
        }
        try GenerationError.wrapping { try metadata.write(to: connection) }
    }
}
