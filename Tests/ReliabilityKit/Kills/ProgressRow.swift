internal import CausewayCheckpoint
internal import CausewayPlatform
internal import CausewaySQLite

/// What the progress row of a staging store says, or a checkpoint while pages are written; read without the engine
/// (InsideCrashSafety §4.3).
struct ProgressRow: Comparable, CustomStringConvertible {
    static let table = "zz_causeway_progress"

    /// Counted from 0.
    let step: Int
    /// Rows that have been read, over all steps.
    let rows: Int

    var description: String { "step \(step + 1) with \(rows) rows" }

    static func < (one: ProgressRow, other: ProgressRow) -> Bool { (one.step, one.rows) < (other.step, other.rows) }

    init(step: Int, rows: Int) {
        (self.step, self.rows) = (step, rows)
    }

    /// Bytes of the container's length, which precedes the container.
    private static let lengthBytes = 8

    /// Reads the row of the current step in a work directory; nil if no step has saved progress.
    ///
    /// - Parameters:
    ///   - work: the work directory; it isn't changed.
    ///   - scratch: a folder for copies, made anew.
    /// - Throws: `HarnessError` if there is a row that can't be read.
    init?(in work: String, scratch: String) throws {
        guard try Files.exists(work + "/plan.json") else { return nil }
        let names = Set(try Files.list(work))
        let under = names.filter { name in
            name.hasPrefix("step-") && name.hasSuffix(".sqlite") && !name.hasSuffix("-objects.sqlite")
                && !names.contains(String(name.dropLast(".sqlite".count)) + ".verified.json")
        }
        guard let name = under.max() else { return nil }
        try FolderTree.remove(scratch)
        try Files.makeDirectory(scratch)
        for file in [name, name + "-journal"] where names.contains(file) {
            try FolderTree.copy(work + "/" + file, to: scratch + "/" + file)
        }
        // A copy without its first page, which is in the first chunk, has none to go on from.
        let magic = try Files.readPrefix(of: scratch + "/" + name, length: Self.magicBytes)
        if magic.allSatisfy({ $0 == 0 }) { return nil }
        guard let stored = try Self.stored(in: scratch + "/" + name) else { return nil }
        let number = name.dropFirst("step-".count).dropLast(".sqlite".count)
        var saved = try names.filter { $0.hasPrefix("ckpt-\(number)-") && $0.hasSuffix(".cwz") }.map { file in
            try Self.progress(Files.readFile(work + "/" + file, limit: Self.fileLimit))
        }
        // Room for a row, and none yet: the store has just become a database, and the checkpoints say how far it is.
        let isBlank = stored.allSatisfy { $0 == 0 } && !saved.isEmpty
        if !isBlank {
            guard let length = Self.length(stored), length > 0, length <= stored.count - Self.lengthBytes else {
                throw HarnessError("\(name): the progress row can't be read")
            }
            let row = try Self.progress(Array(stored.dropFirst(Self.lengthBytes).prefix(length)))
            saved = saved.filter { $0.step == row.step } + [row]
        }
        // Never ahead of a row: what a checkpoint copies is committed first.
        guard let furthest = saved.max(by: { $0.rows < $1.rows }) else { return nil }
        (step, rows) = furthest
        try FolderTree.remove(scratch)
    }

    /// Bytes that begin a database.
    private static let magicBytes = 16

    private static func stored(in path: String) throws -> [UInt8]? {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        let stored = try stored(connection)
        try connection.close()
        return stored
    }

    /// Bytes of a checkpoint.
    private static let fileLimit = 64 << 20

    /// Step and rows of a container.
    private static func progress(_ container: [UInt8]) throws -> (step: Int, rows: Int) {
        let content = try CheckpointContainer.decode(container, expecting: nil)
        var reader = FieldReader(content.payload)
        let step = try reader.int()
        // The stations that are done, and the open one with its cursor.
        _ = try reader.int()
        if try reader.bool() {
            _ = try reader.string()
            _ = try reader.int()
            for _ in 0..<3 { _ = try reader.signed() }
        }
        return (step, try reader.int())
    }

    /// The row's blob; nil if there is no table, or no blob in it.
    static func stored(_ connection: borrowing Connection) throws(SQLiteError) -> [UInt8]? {
        var tables = try connection.prepare("SELECT count(*) FROM sqlite_schema WHERE name = '\(table)'")
        guard try tables.step(), tables.int64(at: 0) == 1 else { return nil }
        var row = try connection.prepare("SELECT state FROM \(table)")
        guard try row.step() else { return nil }
        return row.bytes(at: 0)
    }

    /// The container's length according to the blob.
    static func length(_ stored: [UInt8]) -> Int? {
        var reader = FieldReader(Array(stored.prefix(lengthBytes)))
        guard let length = try? reader.fixed() else { return nil }
        return Int(clamping: length)
    }
}
