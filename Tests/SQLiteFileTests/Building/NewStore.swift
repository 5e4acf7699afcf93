import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// A test's row.
struct MadeRow: Hashable, Sendable {
    var rowid: Int64
    var cells: [CellValue]

    init(_ rowid: Int64, _ cells: [CellValue]) {
        self.rowid = rowid
        self.cells = cells
    }

    /// One blob, so that its record has `payload` bytes, at least 2.
    init(_ rowid: Int64, payload: Int) {
        // Header's length and serial type, which has one byte up to a blob of 57 bytes.
        let type = payload - 2 <= 57 ? 1 : payload - 3 <= 8_185 ? 2 : payload - 4 <= 1_048_569 ? 3 : 4
        let length = max(0, payload - 1 - type)
        let start = Int(truncatingIfNeeded: rowid) & 0xff
        self.init(rowid, [.blob(Array(Self.pattern[start..<start + length]))])
    }

    /// Bytes that repeat only after 251, so that pages in a wrong order show.
    static let pattern = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 % 251) }

    func append(to batch: RowBatch) throws {
        let cells = try EncodedCells(cells)
        let writer = RecordWriter(capacity: 1)
        writer.append(cells)
        try writer.finish(into: batch, rowid: rowid)
    }
}

/// A database file made by stock SQLite with empty trees, which tests fill with pages. Removed with the value.
final class NewStore {
    let path: String
    private let folder: String

    init(pageSize: Int, autoVacuum: Int, _ schema: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "causeway-build-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/new.sqlite"
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        try connection.execute(
            "PRAGMA synchronous=OFF; PRAGMA page_size=\(pageSize); PRAGMA auto_vacuum=\(autoVacuum); \(schema)")
        try connection.close()
    }

    /// A second file with the same content.
    init(copying other: NewStore) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "causeway-build-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/new.sqlite"
        try FileManager.default.copyItem(atPath: other.path, toPath: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    var bytes: Data {
        get throws { try Data(contentsOf: URL(filePath: path)) }
    }

    func open() throws -> Connection {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        try connection.execute("PRAGMA synchronous=OFF")
        return connection
    }

    func file() throws -> OpenFile {
        try OpenFile(path, mode: .readWrite)
    }

    func integer(_ sql: String) throws -> Int64 {
        let connection = try open()
        return try Self.integer(sql, on: connection)
    }

    static func integer(_ sql: String, on connection: borrowing Connection) throws -> Int64 {
        var statement = try connection.prepare(sql)
        return try statement.step() ? statement.int64(at: 0) : -1
    }

    func root(_ name: String) throws -> Int {
        Int(try integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"))
    }

    /// All columns of a query.
    static func rows(_ sql: String, on connection: borrowing Connection) throws -> [[CellValue]] {
        var statement = try connection.prepare(sql)
        var rows: [[CellValue]] = []
        while try statement.step() {
            rows.append(try (0..<statement.columnCount).map { try cell(statement, $0) })
        }
        return rows
    }

    func rows(_ sql: String) throws -> [[CellValue]] {
        let connection = try open()
        return try Self.rows(sql, on: connection)
    }

    private static func cell(_ statement: borrowing Statement, _ index: Int) throws -> CellValue {
        switch statement.type(at: index) {
        case .integer: .integer(statement.int64(at: index))
        case .real: .real(statement.double(at: index))
        case .text: .text(try statement.string(at: index) ?? "")
        case .blob: .blob(statement.bytes(at: index) ?? [])
        case .null: .null
        }
    }

    /// What `PRAGMA integrity_check` says.
    static func check(_ connection: borrowing Connection) throws -> String {
        let rows = try rows("PRAGMA integrity_check", on: connection)
        return rows.map { if case .text(let text)? = $0.first { text } else { "?" } }.joined(separator: "; ")
    }

    func check() throws -> String {
        let connection = try open()
        return try Self.check(connection)
    }
}

extension NewStore {
    /// Packs rows, a buffer for each batch.
    static func pack(_ rows: [MadeRow], pageSize: Int, batch: Int) throws -> [PackedLeaves] {
        let packer = LeafPacker(pageSize: pageSize)
        var packed: [PackedLeaves] = []
        var start = 0
        while start < rows.count {
            let end = min(rows.count, start + batch)
            let batch = RowBatch()
            for row in rows[start..<end] { try row.append(to: batch) }
            let leaves = PackedLeaves(pageSize: pageSize, pages: 1)
            try packer.pack(batch, into: leaves)
            packed.append(leaves)
            start = end
        }
        return packed
    }

    /// Fills an empty table.
    func build(_ table: String, _ rows: [MadeRow], batch: Int = 1_000) throws {
        let root = try root(table)
        var writer = try DatabaseWriter(file())
        var tree = try TreeBuilder(.table, root: root, on: writer)
        for leaves in try Self.pack(rows, pageSize: writer.pageSize, batch: batch) {
            try tree.add(leaves, to: &writer)
        }
        try tree.finish(with: &writer)
        try writer.finish(syncs: false)
    }
}

extension NewStore {
    /// Packs entries, given in the index's order.
    static func pack(_ entries: [[CellValue]], pageSize: Int, pagesPerBatch: Int) throws -> [PackedLeaves] {
        let packer = IndexPacker(pageSize: pageSize, pagesPerBatch: pagesPerBatch)
        var packed = [PackedLeaves(pageSize: pageSize, pages: 1)]
        packer.begin(packed[0])
        let batch = RowBatch()
        for (index, cells) in entries.enumerated() { try MadeRow(Int64(index), cells).append(to: batch) }
        for index in 0..<batch.count {
            if try unsafe packer.append(batch.record(at: index)) { continue }
            packed.append(PackedLeaves(pageSize: pageSize, pages: 1))
            packer.begin(packed[packed.count - 1])
            let isTaken = unsafe try packer.append(batch.record(at: index))
            #expect(isTaken)
        }
        packer.finish()
        return packed
    }

    /// Fills an empty index.
    func build(index: String, _ entries: [[CellValue]], pagesPerBatch: Int = 16) throws {
        let root = try root(index)
        var writer = try DatabaseWriter(file())
        var tree = try TreeBuilder(.index, root: root, on: writer)
        for leaves in try Self.pack(entries, pageSize: writer.pageSize, pagesPerBatch: pagesPerBatch) {
            try tree.add(leaves, to: &writer)
        }
        try tree.finish(with: &writer)
        try writer.finish(syncs: false)
    }
}
