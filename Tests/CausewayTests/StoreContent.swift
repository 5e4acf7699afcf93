import CausewaySQLite
import Foundation
import Testing

/// What a store holds, read by plain SQL.
enum StoreContent {
    /// Every row as text, cells separated by `|`, as SQL literals: different values have different texts.
    static func rows(_ sql: String, _ store: String) throws -> [String] {
        try rows(sql, store, without: [], of: "")
    }

    private static func rows(
        _ sql: String, _ store: String, without random: Set<String>, of table: String
    ) throws -> [String] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        let columns = try columnNames(sql, connection).filter { !random.contains("\(table).\($0)") }
        let cells = columns.map { "quote(\"\($0)\")" }.joined(separator: " || '|' || ")
        var statement = try connection.prepare("SELECT \(cells) FROM (\(sql))")
        var result: [String] = []
        while try statement.step() { result.append(try statement.string(at: 0) ?? "") }
        return result
    }

    /// Every row's cells as text; nil is NULL.
    static func texts(_ sql: String, _ store: String) throws -> [[String?]] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        var statement = try connection.prepare(sql)
        var result: [[String?]] = []
        while try statement.step() {
            result.append(try (0..<statement.columnCount).map { try statement.string(at: $0) })
        }
        return result
    }

    private static func columnNames(_ sql: String, _ connection: borrowing Connection) throws -> [String] {
        let statement = try connection.prepare(sql)
        return (0..<statement.columnCount).map { statement.columnName(at: $0) }
    }

    static func count(_ sql: String, _ store: String) throws -> Int {
        Int(try rows("SELECT count(*) AS n FROM \(sql)", store).first ?? "") ?? -1
    }

    static func execute(_ sql: String, _ store: String) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute(sql)
    }

    /// Every row of every table, Z_OPT and Core Data's own tables included, and the files of external data; without the
    /// columns `TABLE.COLUMN` that differ in every run.
    static func dump(_ store: String, without random: Set<String> = []) throws -> [String: [String]] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        var tables = try connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        var names: [String] = []
        while try tables.step() { names.append(try tables.string(at: 0) ?? "") }
        var result: [String: [String]] = [:]
        for name in names {
            result[name] = try rows("SELECT * FROM \"\(name)\"", store, without: random, of: name).sorted()
        }
        result["external data"] = try externalFiles(store)
        return result
    }

    static func externalFiles(_ store: String) throws -> [String] {
        let url = URL(filePath: store)
        let folder = url.deletingLastPathComponent().appending(
            path: ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
        guard FileManager.default.fileExists(atPath: folder.path()) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted().map { name in
            "\(name)|\(try Data(contentsOf: folder.appending(path: name)).base64EncodedString())"
        }
    }

    /// Expects that two stores hold the same, cell by cell.
    static func expectSame(
        _ dump: [String: [String]], _ other: [String: [String]], _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(dump.keys.sorted() == other.keys.sorted(), comment, sourceLocation: sourceLocation)
        for (table, rows) in dump.sorted(by: { $0.key < $1.key }) where rows != other[table] {
            let theirs = other[table] ?? []
            let mine = rows.first { !theirs.contains($0) } ?? "nothing"
            let missing = theirs.first { !rows.contains($0) } ?? "nothing"
            Issue.record(
                "\(comment): \(table) has \(mine.prefix(300)) and lacks \(missing.prefix(300))",
                sourceLocation: sourceLocation)
        }
    }
}
