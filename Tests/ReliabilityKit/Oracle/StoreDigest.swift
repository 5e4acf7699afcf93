internal import CausewayDigests
internal import CausewaySQLite
internal import Foundation

/// The content of a store in a form that can be compared: read through SQLite alone, without the engine.
///
/// All rows of all tables with their storage classes, in no order; the schema; the files of external data that rows
/// refer to; the metadata, parsed. Files of external data without a reference don't count: they are only ever added.
package struct StoreDigest: Hashable, Sendable {
    /// A hash for each table and for `schema`, `external data` and `header`.
    package private(set) var parts: [String: [UInt8]] = [:]
    /// Rows of each table.
    package private(set) var rows: [String: Int] = [:]

    /// Reads a store as an application does: with write access, so that SQLite recovers after a crash.
    ///
    /// - Parameters:
    ///   - path: the store's main file.
    ///   - owner: the store whose external data the rows refer to; nil is the store itself. A backup uses another
    ///     store's.
    /// - Throws: `HarnessError` if the store is missing or damaged, or lacks a file that a row refers to.
    package init(_ path: String, externalsOf owner: String? = nil) throws {
        // SQLite opens a missing file as an empty database.
        guard FileManager.default.fileExists(atPath: path) else { throw HarnessError("\(path): there is no store") }
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        if let fault = try SoundnessCheck.fault(connection) { throw HarnessError(fault) }
        let schema = try Self.texts(
            "SELECT type || '|' || name || '|' || tbl_name || '|' || ifnull(sql, '') FROM sqlite_schema", connection)
        guard !schema.isEmpty else { throw HarnessError("the store is empty") }
        parts["schema"] = Self.hash(schema)
        parts["header"] = Self.hash([
            "\(try connection.pragmaInteger("user_version")) \(try connection.pragmaInteger("application_id"))"
        ])
        var references: [String] = []
        for table in try Self.texts("SELECT name FROM sqlite_schema WHERE type = 'table'", connection) {
            try read(table, connection, &references)
        }
        parts["external data"] = Self.hash(try references.map { try Self.external($0, owner ?? path) })
        try connection.close()
    }

    private mutating func read(
        _ table: String, _ connection: borrowing Connection, _ references: inout [String]
    ) throws {
        let name = "\"\(table)\""
        var columns: [String] = []
        var cells: [String] = []
        var blobs: [String] = []
        var info = try connection.prepare("SELECT name, type FROM pragma_table_info('\(table)')")
        while try info.step() {
            let column = try info.string(at: 0) ?? ""
            columns.append(column)
            cells.append("quote(\"\(column)\")")
            if try info.string(at: 1) == "BLOB" { blobs.append(column) }
        }
        var texts = try Self.texts("SELECT \(cells.joined(separator: " || '|' || ")) FROM \(name)", connection)
        rows[table] = texts.count
        if table == "Z_METADATA" { texts = try Self.metadata(connection) }
        parts[table] = Self.hash(texts + ["columns " + columns.joined(separator: "|")])
        for column in blobs where table.hasPrefix("Z") && !table.hasPrefix("Z_M") {
            references += try Self.texts(
                """
                SELECT substr(CAST("\(column)" AS TEXT), 2, 36) FROM \(name) \
                WHERE length("\(column)") = 38 AND substr("\(column)", 1, 1) = x'02' AND substr("\(column)", 38) = x'00'
                """, connection)
        }
    }

    /// A reference's file with its content.
    private static func external(_ name: String, _ store: String) throws -> String {
        let url = URL(filePath: store)
        let file =
            url.deletingLastPathComponent().path + "/.\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
            + "/_EXTERNAL_DATA/\(name)"
        guard let content = FileManager.default.contents(atPath: file) else {
            throw HarnessError("the external data \(name) is missing")
        }
        return "\(name)|\(content.count)|\(MessageDigest.of(content))"
    }

    private static func metadata(_ connection: borrowing Connection) throws -> [String] {
        var statement = try connection.prepare("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA")
        var result: [String] = []
        while try statement.step() {
            let list = try unsafe PropertyListSerialization.propertyList(
                from: Data(statement.bytes(at: 2) ?? []), format: nil)
            result.append("\(statement.int64(at: 0))|\(try statement.string(at: 1) ?? "")|\(canonical(list))")
        }
        return result
    }

    /// Dictionaries have no order.
    private static func canonical(_ value: Any) -> String {
        switch value {
        case let dictionary as [String: Any]:
            let entries = dictionary.sorted { $0.key < $1.key }.map { "\($0.key)=\(canonical($0.value))" }
            return "{\(entries.joined(separator: ","))}"
        case let array as [Any]: return "[\(array.map(canonical).joined(separator: ","))]"
        case let data as Data: return data.base64EncodedString()
        default: return "\(value)"
        }
    }

    private static func texts(_ sql: String, _ connection: borrowing Connection) throws -> [String] {
        var statement = try connection.prepare(sql)
        var result: [String] = []
        while try statement.step() { result.append(try statement.string(at: 0) ?? "") }
        return result
    }

    private static func hash(_ texts: [String]) -> [UInt8] {
        var hasher = MessageDigest(.sha256)
        for text in texts.sorted() {
            hasher.update(text.utf8)
            hasher.update([0])
        }
        return hasher.finish()
    }

    /// Parts that differ, with their numbers of rows.
    package func differences(from other: StoreDigest) -> [String] {
        Set(parts.keys).union(other.parts.keys).sorted().compactMap { part in
            guard parts[part] != other.parts[part] else { return nil }
            guard let mine = rows[part], let theirs = other.rows[part] else {
                return
                    "\(part) \(parts[part] == nil ? "is missing" : other.parts[part] == nil ? "is extra" : "differs")"
            }
            return "\(part): \(mine) rows, \(theirs) expected"
        }
    }

    /// Rows of the other one that this one lacks, over all tables.
    package func rowsMissing(from other: StoreDigest) -> Int {
        other.rows.reduce(0) { $0 + max(0, $1.value - (rows[$1.key] ?? 0)) }
    }
}
