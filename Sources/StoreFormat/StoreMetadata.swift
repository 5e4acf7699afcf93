package import CausewayPlist

/// Z_METADATA: the store's identity, its model's hashes, and the app's own entries (InsideStoreFormat §9).
package struct StoreMetadata: Hashable, Sendable {
    /// Z_UUID: 36 characters, upper case. Object URIs hold it.
    package var uuid: String
    /// `NSStoreModelVersionHashes`: every entity's hash, abstract ones included.
    package var entityHashes: [String: [UInt8]]
    /// `NSStoreModelVersionHashesVersion`; 3 in every store known.
    package var hashesVersion: Int64 = 3
    /// `NSStoreModelVersionIdentifiers`
    package var versionIdentifiers: [String]
    /// `NSPersistenceFrameworkVersion`: the Core Data that last wrote the store.
    package var frameworkVersion: Int
    /// `NSPersistenceMaximumFrameworkVersion`, from 1513 on.
    package var maximumFrameworkVersion: Int?
    /// `NSStoreModelVersionHashesDigest`, from 969 on.
    package var hashesDigest: String?
    /// `NSStoreModelVersionChecksumKey`, from 1321 on.
    package var checksum: String?
    /// `_NSAutoVacuumLevel`; "2", missing in the oldest stores only.
    package var autoVacuumLevel: String? = "2"
    /// Every other key, carried unchanged: the app's own, `migrationManagerClass`, history's hashes.
    package var other: [String: PropertyList] = [:]

    package init(
        uuid: String, entityHashes: [String: [UInt8]], versionIdentifiers: [String], frameworkVersion: Int
    ) {
        self.uuid = uuid
        self.entityHashes = entityHashes
        self.versionIdentifiers = versionIdentifiers
        self.frameworkVersion = frameworkVersion
    }

    enum Key {
        static let storeType = "NSStoreType"
        static let hashes = "NSStoreModelVersionHashes"
        static let hashesVersion = "NSStoreModelVersionHashesVersion"
        static let identifiers = "NSStoreModelVersionIdentifiers"
        static let frameworkVersion = "NSPersistenceFrameworkVersion"
        static let maximumFrameworkVersion = "NSPersistenceMaximumFrameworkVersion"
        static let digest = "NSStoreModelVersionHashesDigest"
        static let checksum = "NSStoreModelVersionChecksumKey"
        static let autoVacuum = "_NSAutoVacuumLevel"
        /// Prefix of Core Data's notes about a postponed lightweight migration.
        static let deferredMigration = "NSPersistenceDeferredLightweightMigration"
    }

    /// The value of `NSStoreType` in every SQLite store.
    static let storeType = "SQLite"

    /// Core Data changed the model but postponed part of the work on the tables. A rebuilt store has nothing postponed.
    package var hasDeferredMigration: Bool { other.keys.contains { $0.hasPrefix(Key.deferredMigration) } }
}

/// What a model contributes to a store's metadata.
package struct ModelIdentity: Hashable, Sendable {
    /// Version hash by entity.
    package let entityHashes: [String: [UInt8]]
    /// `NSStoreModelVersionHashesDigest` in base64.
    package let digest: String
    /// `NSStoreModelVersionChecksumKey` in base64.
    package let checksum: String
    package let versionIdentifiers: [String]

    package init(
        entityHashes: [String: [UInt8]], digest: String, checksum: String, versionIdentifiers: [String]
    ) {
        self.entityHashes = entityHashes
        self.digest = digest
        self.checksum = checksum
        self.versionIdentifiers = versionIdentifiers
    }
}

extension StoreMetadata {
    /// The metadata of the same store with another model, as a Core Data of `frameworkVersion` would leave it: the UUID
    /// and all foreign keys stay, keys about the model are replaced, keys that this Core Data doesn't know are left out
    /// unless the store has them.
    package func rewritten(for model: ModelIdentity, frameworkVersion version: Int) -> StoreMetadata {
        var result = self
        result.entityHashes = model.entityHashes
        result.versionIdentifiers = model.versionIdentifiers
        result.frameworkVersion = version
        // A digest or checksum of the old model would be worse than none, so an existing one is always rewritten.
        result.hashesDigest = version >= FrameworkEra.hashesDigest || hashesDigest != nil ? model.digest : nil
        result.checksum = version >= FrameworkEra.checksum || checksum != nil ? model.checksum : nil
        if version >= FrameworkEra.maximumFrameworkVersion || maximumFrameworkVersion != nil {
            result.maximumFrameworkVersion = max(version, maximumFrameworkVersion ?? 0, frameworkVersion)
        }
        if result.autoVacuumLevel == nil { result.autoVacuumLevel = "2" }
        result.other = other.filter { !$0.key.hasPrefix(Key.deferredMigration) }
        return result
    }

    /// Z_PLIST as a tree.
    package var propertyList: PropertyList {
        var keys = other
        keys[Key.storeType] = .string(Self.storeType)
        keys[Key.hashes] = .dictionary(entityHashes.mapValues { .data($0) })
        keys[Key.hashesVersion] = .integer(hashesVersion)
        keys[Key.identifiers] = .array(versionIdentifiers.map { .string($0) })
        keys[Key.frameworkVersion] = .integer(Int64(frameworkVersion))
        keys[Key.maximumFrameworkVersion] = maximumFrameworkVersion.map { .integer(Int64($0)) }
        keys[Key.digest] = hashesDigest.map { .string($0) }
        keys[Key.checksum] = checksum.map { .string($0) }
        keys[Key.autoVacuum] = autoVacuumLevel.map { .string($0) }
        return .dictionary(keys)
    }
}
