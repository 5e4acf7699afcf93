package import CausewayPlist
package import CausewaySQLite

extension StoreMetadata {
    /// Bytes of Z_PLIST. Metadata of real stores stay under 100 kB; apps may add to it.
    package static let maximumBytes = 16 * 1024 * 1024
    /// Bytes of one version hash; real ones have 32.
    private static let hashLength = 32

    /// Reads the one row of Z_METADATA.
    ///
    /// - Throws: `unusableMetadata` naming the key that is wrong, `limitExceeded`, `database`.
    package init(reading connection: borrowing Connection) throws(StoreFormatError) {
        let rows = try Self.rows(connection)
        guard rows.count == 1, let row = rows.first else {
            throw Self.unusable(
                "the table has \(rows.isEmpty ? "no row" : "more than one row") where Core Data keeps exactly one", nil)
        }
        guard row.version == 1 else {
            throw Self.unusable("Z_VERSION is \(row.version); only 1 is known, so the store is newer or damaged", nil)
        }
        guard let plist = row.plist, !plist.isEmpty else {
            throw Self.unusable("Z_PLIST is empty, so the store's model isn't known: restore the store", nil)
        }
        let tree: PropertyList
        do throws(PropertyListError) {
            tree = try PropertyList(parsing: plist)
        } catch {
            throw Self.unusable("Z_PLIST can't be read: \(error)", nil)
        }
        try self.init(uuid: row.uuid, propertyList: tree)
    }

    /// Interprets Z_PLIST.
    package init(uuid: String, propertyList: PropertyList) throws(StoreFormatError) {
        guard case .dictionary(var keys) = propertyList else {
            throw Self.unusable("Z_PLIST isn't a dictionary: restore the store", nil)
        }
        let isUUID =
            uuid.utf8.count == 36
            && uuid.utf8.enumerated().allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place) ? byte == 0x2d : Character(Unicode.Scalar(byte)).isHexDigit
            }
        guard isUUID else { throw Self.unusable("Z_UUID isn't a UUID, which every object URI needs", "Z_UUID") }
        let type = keys.removeValue(forKey: Key.storeType)
        guard type?.string == Self.storeType else {
            throw Self.unusable("it should be “SQLite”: the store is of another type", Key.storeType)
        }
        guard let framework = try Self.integer(&keys, Key.frameworkVersion) else {
            throw Self.unusable("it is missing, so the layout of the tables isn't known", Key.frameworkVersion)
        }
        self.init(
            uuid: uuid, entityHashes: try Self.hashes(&keys), versionIdentifiers: try Self.identifiers(&keys),
            frameworkVersion: framework)
        hashesVersion = Int64(try Self.integer(&keys, Key.hashesVersion) ?? 3)
        maximumFrameworkVersion = try Self.integer(&keys, Key.maximumFrameworkVersion)
        hashesDigest = try Self.text(&keys, Key.digest)
        checksum = try Self.text(&keys, Key.checksum)
        autoVacuumLevel = try Self.text(&keys, Key.autoVacuum)
        other = keys
    }

    private static func unusable(_ message: String, _ key: String?) -> StoreFormatError {
        StoreFormatError(.unusableMetadata, message, place: key.map { "Z_METADATA, \($0)" } ?? "Z_METADATA")
    }

    private static func rows(
        _ connection: borrowing Connection
    ) throws(StoreFormatError) -> [(version: Int64, uuid: String, plist: [UInt8]?)] {
        var rows: [(version: Int64, uuid: String, plist: [UInt8]?)] = []
        var isTooLong = false
        try StoreFormatError.doing("reading the metadata", "Z_METADATA") { () throws(SQLiteError) in
            var statement = try connection.prepare(
                "SELECT Z_VERSION, Z_UUID, length(Z_PLIST), Z_PLIST FROM Z_METADATA LIMIT 2")
            while try statement.step() {
                isTooLong = isTooLong || statement.int64(at: 2) > Int64(maximumBytes)
                if isTooLong { break }
                rows.append((statement.int64(at: 0), try statement.string(at: 1) ?? "", statement.bytes(at: 3)))
            }
        }
        guard !isTooLong else {
            throw StoreFormatError(
                .limitExceeded, "Z_PLIST has more than \(maximumBytes) bytes: the store is damaged or was misused",
                place: "Z_METADATA")
        }
        return rows
    }

    private static func integer(_ keys: inout [String: PropertyList], _ key: String) throws(StoreFormatError) -> Int? {
        guard let value = keys.removeValue(forKey: key) else { return nil }
        // Old versions wrote some numbers as reals.
        let number = value.integer ?? value.real.flatMap { Int64(exactly: $0) }
        guard let number, (0...Int64(Int32.max)).contains(number) else {
            throw unusable("it isn't a small whole number: restore the store", key)
        }
        return Int(number)
    }

    private static func text(_ keys: inout [String: PropertyList], _ key: String) throws(StoreFormatError) -> String? {
        guard let value = keys.removeValue(forKey: key) else { return nil }
        guard let text = value.string else { throw unusable("it isn't a text: restore the store", key) }
        return text
    }

    private static func hashes(_ keys: inout [String: PropertyList]) throws(StoreFormatError) -> [String: [UInt8]] {
        guard let entries = keys.removeValue(forKey: Key.hashes)?.dictionary else {
            throw unusable("it is missing or isn't a dictionary, so the store's model isn't known", Key.hashes)
        }
        var result: [String: [UInt8]] = [:]
        for (entity, value) in entries {
            guard let hash = value.data, hash.count == hashLength else {
                throw unusable("the hash of “\(entity)” isn't \(hashLength) bytes: restore the store", Key.hashes)
            }
            result[entity] = hash
        }
        return result
    }

    /// Texts; other values that an app set are useless and are rewritten anyway.
    private static func identifiers(_ keys: inout [String: PropertyList]) throws(StoreFormatError) -> [String] {
        guard let value = keys.removeValue(forKey: Key.identifiers) else { return [] }
        guard let list = value.array else { throw unusable("it isn't an array: restore the store", Key.identifiers) }
        return list.compactMap(\.string)
    }
}
