package import CausewaySQLite
package import CausewayStoreFormat

/// How many objects CloudKit mirroring knows, and how many of them wait for it.
package struct CloudKitCounts: Hashable, Sendable {
    /// Tables ANSCK….
    package var tables: Int
    /// Rows about objects of the app's.
    package var objects = 0
    /// Objects that are to be sent, or were never sent.
    package var waitingForUpload = 0
    /// Objects that are gone here and are to be deleted in the cloud.
    package var waitingForDeletion = 0

    /// nil where the store isn't mirrored.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - connection: on the store; its rows are read once.
    /// - Throws: where they can't be read.
    package init?(_ schema: StoreSchema, in connection: borrowing Connection) throws(SQLiteError) {
        let names = CloudKitTables.names(in: schema)
        guard !names.isEmpty else { return nil }
        tables = names.count
        guard names.contains(CloudKitTables.records.lowercased()), let records = schema.table(CloudKitTables.records)
        else { return }
        func has(_ column: String) -> Bool { records.position(of: column) != nil }
        let deletes = has("ZNEEDSCLOUDDELETE") ? "ifnull(ZNEEDSCLOUDDELETE, 0) <> 0" : "0"
        var uploads = has("ZNEEDSUPLOAD") ? ["ifnull(ZNEEDSUPLOAD, 0) <> 0"] : []
        if has("ZCKRECORDNAME") { uploads.append("ZCKRECORDNAME IS NULL") }
        if uploads.isEmpty { uploads = ["0"] }
        var statement = try connection.prepare(
            """
            SELECT count(*), count(*) FILTER (WHERE NOT (\(deletes)) AND (\(uploads.joined(separator: " OR ")))), \
            count(*) FILTER (WHERE \(deletes)) FROM \(try SQLIdentifier(records.name))
            """)
        guard try statement.step() else { return }
        objects = Int(clamping: statement.int64(at: 0))
        waitingForUpload = Int(clamping: statement.int64(at: 1))
        waitingForDeletion = Int(clamping: statement.int64(at: 2))
    }
}
