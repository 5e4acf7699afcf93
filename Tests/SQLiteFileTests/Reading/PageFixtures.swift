import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// A row from SELECT or from a reader of pages, for comparison.
struct PlainRow: Hashable {
    var rowid: Int64
    var cells: [CellValue]
}

/// A database file in its own folder, made by stock SQLite. The folder is removed with the value.
final class PageFixture {
    let path: String
    private let folder: URL

    init(_ script: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "store.sqlite").path
        if !script.isEmpty { try run(script) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func run(_ script: [String]) throws {
        let connection = try writer()
        for sql in script { try connection.execute(sql) }
        try connection.close()
    }

    var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(filePath: path))) }
    }

    func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// A test's file needn't survive a power failure.
    private func writer() throws -> Connection {
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        try connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
        return connection
    }

    /// Inserts rows: rowid and cells.
    func insert(_ rows: [PlainRow], into table: String, columns: String) throws {
        let connection = try writer()
        try connection.execute("BEGIN")
        let places = columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
        var statement = try connection.prepare("INSERT INTO \(table)(\(columns)) VALUES(\(places))")
        for row in rows {
            try statement.bind(row.rowid, at: 1)
            for (index, cell) in row.cells.enumerated() {
                switch cell {
                case .null: try statement.bindNull(at: index + 2)
                case .integer(let value): try statement.bind(value, at: index + 2)
                case .real(let value): try statement.bind(value, at: index + 2)
                case .text(let value): try statement.bind(value, at: index + 2)
                case .blob(let value): try statement.bind(value, at: index + 2)
                }
            }
            try statement.run()
        }
        try connection.execute("COMMIT")
    }

    /// Replaces the content of the same file.
    func overwrite(_ bytes: [UInt8]) throws {
        let file = try OpenFile(path, mode: .readWrite)
        try file.truncate(to: Int64(bytes.count))
        try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, at: 0) }
    }

    func pages() throws -> PageFile {
        let file = try OpenFile(path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        return PageFile(file, layout)
    }

    func connection(_ mode: Connection.Mode = .readOnly) throws -> Connection {
        try Connection(path: path, mode: mode, hardening: .untrusted)
    }

    func root(of name: String) throws -> Int {
        let connection = try connection()
        var statement = try connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        guard try statement.step() else { throw CocoaError(.featureUnsupported) }
        return Int(statement.int64(at: 0))
    }

    /// A query's rows; the first column is the rowid, unless there is none.
    func select(
        _ sql: String, hasRowid: Bool = true, mode: Connection.Mode = .readOnly
    ) throws -> [PlainRow] {
        try Self.rows(of: sql, hasRowid: hasRowid, in: connection(mode))
    }

    static func rows(
        of sql: String, hasRowid: Bool = true, in connection: borrowing Connection
    ) throws -> [PlainRow] {
        var statement = try connection.prepare(sql)
        var rows: [PlainRow] = []
        while try statement.step() {
            let cells = (hasRowid ? 1 : 0)..<statement.columnCount
            rows.append(
                PlainRow(
                    rowid: hasRowid ? statement.int64(at: 0) : 0,
                    cells: cells.map { unsafe value(of: statement, at: $0) }))
        }
        return rows
    }

    @unsafe private static func value(of statement: borrowing Statement, at index: Int) -> CellValue {
        switch statement.type(at: index) {
        case .null: .null
        case .integer: .integer(statement.int64(at: index))
        case .real: .real(statement.double(at: index))
        case .text: .text(unsafe text(statement.unsafeBytes(at: index)))
        case .blob: .blob(unsafe Array(statement.unsafeBytes(at: index)))
        }
    }
}

/// The bytes of a text as the first 256 characters of Unicode, so that no byte is lost, valid UTF-8 or not.
@unsafe func text(_ bytes: UnsafeRawBufferPointer) -> String {
    if unsafe bytes.allSatisfy({ $0 < 0x80 }) { return unsafe String(decoding: bytes, as: UTF8.self) }
    return unsafe String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
}

/// How a tree is read in a test.
struct ReadingLimits {
    var rows = Int.max
    var bytes = 64 << 10
}

/// The rows of a batch as values; `width` is the number of the table's columns.
func plainRows(of batch: RowBatch, width: Int = 100) throws -> [PlainRow] {
    let reader = RecordReader(capacity: width)
    return try (0..<batch.count).map { row in
        try unsafe reader.load(batch.record(at: row))
        let cells = (0..<reader.count).map { index -> CellValue in
            if reader.isNull(at: index) { return .null }
            if let integer = reader.integer(at: index) { return .integer(integer) }
            if let real = reader.real(at: index) { return .real(real) }
            let bytes = unsafe reader.unsafeBytes(at: index)
            return reader.serialType(at: index).isText
                ? .text(unsafe text(bytes)) : .blob(unsafe Array(bytes))
        }
        return PlainRow(rowid: batch.rowid(at: row), cells: cells)
    }
}

/// All rows that a reader of a table gives, batch by batch.
func read(
    table root: Int, of file: PageFile, after rowid: Int64? = nil, claims: PageClaims? = nil,
    _ limits: ReadingLimits = ReadingLimits(), width: Int = 100,
    onBatch: (RowBatch) throws -> Void = { _ in }
) throws -> [PlainRow] {
    let claims = claims ?? PageClaims(pageCount: file.layout.pageCount)
    var reader = TableReader(file, root: root, after: rowid, claims: claims)
    return try read(limits, width, onBatch) { batch throws(PageReadError) in
        try reader.fill(batch, rows: limits.rows, bytes: limits.bytes)
    }
}

/// All entries that a reader of an index gives, batch by batch.
func read(
    index root: Int, of file: PageFile, claims: PageClaims? = nil, _ limits: ReadingLimits = ReadingLimits(),
    width: Int = 100, onBatch: (RowBatch) throws -> Void = { _ in }
) throws -> [PlainRow] {
    let claims = claims ?? PageClaims(pageCount: file.layout.pageCount)
    var reader = IndexReader(file, root: root, claims: claims)
    return try read(limits, width, onBatch) { batch throws(PageReadError) in
        try reader.fill(batch, rows: limits.rows, bytes: limits.bytes)
    }
}

private func read(
    _ limits: ReadingLimits, _ width: Int, _ onBatch: (RowBatch) throws -> Void,
    fill: (RowBatch) throws(PageReadError) -> Bool
) throws -> [PlainRow] {
    let batch = RowBatch()
    var rows: [PlainRow] = []
    var hasMore = true
    while hasMore {
        batch.removeAll(keepingCapacity: 1 << 20)
        hasMore = try fill(batch)
        #expect(batch.count <= max(1, limits.rows))
        #expect(!hasMore || !batch.isEmpty)
        try onBatch(batch)
        rows += try plainRows(of: batch, width: width)
    }
    return rows
}
