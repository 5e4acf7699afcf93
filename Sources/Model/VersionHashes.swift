import CausewayDigests

/// The hashes that identify a model: what a store's metadata and a `VersionInfo.plist` hold.
///
/// Distinct models can share all of them (InsideVersionHashes §4); equal hashes mean that no migration is needed.
package struct VersionHashes: Hashable, Sendable {
    /// 32 bytes per entity, abstract ones included.
    package let entities: [String: [UInt8]]
    /// `NSStoreModelVersionHashesDigest`: base64 of a SHA-512, 88 characters.
    package let digest: String
    /// `NSStoreModelVersionChecksumKey` and `NSManagedObjectModel.versionChecksum`: base64 of a SHA-256, 44 characters.
    package let checksum: String
    /// Entities whose hash depends on a rule that no real store has confirmed, sorted: derived attributes with
    /// functions other than `now()` and `count:`, names outside ASCII, nested composites, object identifier attributes.
    package let unverified: [String]

    package init(_ model: ManagedObjectModel) {
        var hash = VersionHash(model)
        var entities: [String: [UInt8]] = [:]
        for name in model.entities.keys { entities[name] = hash.entity(name) }
        self.entities = entities
        self.digest = Self.digest(of: entities)
        self.checksum = Self.checksum(of: entities)
        self.unverified = model.entities.keys.filter { UnverifiedHash.concerns($0, in: model) }
            .sorted(by: ManagedObjectModel.compareOrder)
    }

    /// The digest of hashes that come from elsewhere, for example from a store's metadata.
    package static func digest(of entities: [String: [UInt8]]) -> String {
        var hash = MessageDigest(.sha512)
        for (name, bytes) in sorted(entities) {
            hash.update(name)
            hash.update(bytes)
        }
        return Base64.encode(hash.finish())
    }

    /// The checksum of hashes that come from elsewhere.
    package static func checksum(of entities: [String: [UInt8]]) -> String {
        var hash = MessageDigest(.sha256)
        for (_, bytes) in sorted(entities) { hash.update(bytes) }
        return Base64.encode(hash.finish())
    }

    /// Names of entities that only one side has or whose hashes differ, sorted.
    package func differences(from other: [String: [UInt8]]) -> [String] {
        Set(entities.keys).union(other.keys).filter { entities[$0] != other[$0] }
            .sorted(by: ManagedObjectModel.compareOrder)
    }

    private static func sorted(_ entities: [String: [UInt8]]) -> [(key: String, value: [UInt8])] {
        entities.sorted { ManagedObjectModel.compareOrder($0.key, $1.key) }
    }
}
