import CausewayPlist
package import CausewaySQLite

extension StoreMetadata {
    /// Z_PLIST as bytes.
    package func plistBytes() throws(StoreFormatError) -> [UInt8] {
        do throws(PropertyListError) {
            return try BinaryPropertyListWriter.bytes(of: propertyList)
        } catch {
            throw StoreFormatError(.unusableMetadata, "the metadata can't be written: \(error)", place: "Z_METADATA")
        }
    }

    /// Replaces the one row of Z_METADATA.
    package func write(to connection: borrowing Connection) throws(StoreFormatError) {
        let bytes = try plistBytes()
        try StoreFormatError.doing("writing the metadata", "Z_METADATA") { () throws(SQLiteError) in
            try connection.execute("DELETE FROM Z_METADATA")
            var statement = try connection.prepare(
                "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?1, ?2)")
            try statement.bind(uuid, at: 1)
            try statement.bind(bytes, at: 2)
            try statement.run()
        }
    }
}
