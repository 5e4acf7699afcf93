import CausewayPlist
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct StoreMetadataTests {
    private static let uuid = "5E3F5B5A-37F0-4A8E-9E3C-0123456789AB"
    private static let hash = [UInt8](repeating: 7, count: 32)

    private func keys(_ changes: [String: PropertyList?] = [:]) -> PropertyList {
        var keys: [String: PropertyList] = [
            "NSStoreType": .string("SQLite"), "NSStoreModelVersionHashes": .dictionary(["Foo": .data(Self.hash)]),
            "NSStoreModelVersionHashesVersion": .integer(3), "NSStoreModelVersionIdentifiers": .array([.string("1.2")]),
            "NSPersistenceFrameworkVersion": .integer(866), "_NSAutoVacuumLevel": .string("2"),
            "app": .array([.real(1.5), .date(3), .boolean(true), .dictionary(["a": .data([1])])]),
            "migrationManagerClass": .string("NSSQLiteInPlaceMigrationManager"),
        ]
        for (key, value) in changes { keys[key] = value }
        return .dictionary(keys)
    }

    private func model(_ byte: UInt8 = 9) -> ModelIdentity {
        ModelIdentity(
            entityHashes: ["Bar": [UInt8](repeating: byte, count: 32)], digest: "digest", checksum: "checksum",
            versionIdentifiers: ["2.0"])
    }

    @Test("known keys are typed, all others carried unchanged, and writing gives the same property list")
    func roundTrip() throws {
        let metadata = try StoreMetadata(uuid: Self.uuid, propertyList: keys())
        #expect(metadata.entityHashes == ["Foo": Self.hash])
        #expect(metadata.versionIdentifiers == ["1.2"])
        #expect(metadata.frameworkVersion == 866)
        #expect(metadata.hashesDigest == nil)
        #expect(Set(metadata.other.keys) == ["app", "migrationManagerClass"])
        #expect(metadata.propertyList == keys())
        let store = try TestModels.store(try TestModels.layout(TestModels.library))
        try metadata.write(to: store)
        #expect(try StoreMetadata(reading: store) == metadata)
        try metadata.write(to: store)
        #expect(try store.texts("SELECT COUNT(*) FROM Z_METADATA") == ["1"])
    }

    @Test(
        "digest, checksum and maximum version are written from the version that knows them",
        arguments: [
            (866, false, false, nil), (977, true, false, nil), (1344, true, true, nil), (1522, true, true, 1522),
        ]
            as [(Int, Bool, Bool, Int?)])
    func eras(version: Int, digest: Bool, checksum: Bool, maximum: Int?) throws {
        let metadata = try StoreMetadata(uuid: Self.uuid, propertyList: keys())
            .rewritten(for: model(), frameworkVersion: version)
        #expect(metadata.uuid == Self.uuid)
        #expect(metadata.entityHashes.keys.sorted() == ["Bar"])
        #expect(metadata.versionIdentifiers == ["2.0"])
        #expect(metadata.frameworkVersion == version)
        #expect(metadata.hashesDigest == (digest ? "digest" : nil))
        #expect(metadata.checksum == (checksum ? "checksum" : nil))
        #expect(metadata.maximumFrameworkVersion == maximum)
        #expect(Set(metadata.other.keys) == ["app", "migrationManagerClass"])
    }

    @Test("existing keys are rewritten too, and the maximum version never decreases")
    func existing() throws {
        let metadata = try StoreMetadata(
            uuid: Self.uuid,
            propertyList: keys([
                "NSStoreModelVersionHashesDigest": .string("old"), "NSStoreModelVersionChecksumKey": .string("old"),
                "NSPersistenceMaximumFrameworkVersion": .integer(1600),
            ]))
        let rewritten = metadata.rewritten(for: model(), frameworkVersion: 866)
        #expect(rewritten.hashesDigest == "digest")
        #expect(rewritten.checksum == "checksum")
        #expect(rewritten.maximumFrameworkVersion == 1600)
    }

    @Test("keys about a deferred migration are removed by the rebuild")
    func deferred() throws {
        let key = "NSPersistenceDeferredLightweightMigrationOptionKey"
        let metadata = try StoreMetadata(uuid: Self.uuid, propertyList: keys([key: .boolean(true)]))
        #expect(metadata.hasDeferredMigration)
        #expect(!metadata.rewritten(for: model(), frameworkVersion: 1344).hasDeferredMigration)
    }

    @Test(
        "a key of the wrong kind is refused by name",
        arguments: [
            ("NSStoreType", .string("XML")), ("NSStoreType", nil), ("NSStoreModelVersionHashes", nil),
            ("NSStoreModelVersionHashes", .dictionary(["Foo": .data([1])])),
            ("NSStoreModelVersionHashes", .dictionary(["Foo": .string("x")])),
            ("NSPersistenceFrameworkVersion", nil), ("NSPersistenceFrameworkVersion", .string("866")),
            ("NSPersistenceFrameworkVersion", .integer(-1)), ("NSPersistenceFrameworkVersion", .integer(1 << 40)),
            ("NSStoreModelVersionIdentifiers", .string("1")), ("NSStoreModelVersionHashesDigest", .integer(1)),
        ] as [(String, PropertyList?)])
    func wrongKinds(key: String, value: PropertyList?) {
        let error = #expect(throws: StoreFormatError.self) {
            try StoreMetadata(uuid: Self.uuid, propertyList: keys([key: value]))
        }
        #expect(error?.code == .unusableMetadata)
        #expect(error?.place?.contains(key) == true)
    }

    @Test("a UUID that isn't one is refused", arguments: ["", "x", "5E3F5B5A-37F0-4A8E-9E3C-0123456789AG"])
    func wrongUUID(uuid: String) {
        #expect(throws: StoreFormatError.self) { try StoreMetadata(uuid: uuid, propertyList: keys()) }
    }

    @Test(
        "a table without exactly one good row is refused",
        arguments: [
            "DELETE FROM Z_METADATA", "INSERT INTO Z_METADATA VALUES (2, 'x', x'00')",
            "UPDATE Z_METADATA SET Z_VERSION = 2", "UPDATE Z_METADATA SET Z_PLIST = NULL",
            "UPDATE Z_METADATA SET Z_PLIST = x'62706c697374303000'", "UPDATE Z_METADATA SET Z_UUID = NULL",
        ])
    func rows(damage: String) throws {
        let store = try TestModels.store(try TestModels.layout(TestModels.library))
        try StoreMetadata(uuid: Self.uuid, propertyList: keys()).write(to: store)
        try store.execute(damage)
        var error: StoreFormatError?
        do { _ = try StoreMetadata(reading: store) } catch let thrown { error = thrown }
        #expect(error?.code == .unusableMetadata)
    }
}
