import CausewayCheckpoint
import CausewayPlanning
import CausewaySQLiteFile

/// What is known of the trees that a copy of the source has brought into a new store. Saved with the progress: a later
/// run doesn't copy again.
struct KeptTrees: Sendable {
    /// The part of the progress that has it.
    static let part = "kept trees"

    /// Whether the file began with the source's extents, so that kept pages weren't read.
    var isClone = false
    /// Bytes of pages that the file shares with the source; every page of tables in other copies was read.
    var sharedBytes = 0
    /// What was found in tables as they were copied, in a clone only in those that are patched; nil before the copy is
    /// whole.
    var rows: KeptRows?
    /// What this run has read of the new store once they were there; not saved.
    var reading: KeptReading?
}

/// Trees of a new store that were read whole.
struct KeptReading: Sendable {
    /// Of their tables, those with all of their indexes.
    var rows: KeptRows
    var trees: Set<TreeRoot>
    /// Their pages.
    var claims: PageClaims
}

extension KeptTrees {
    private static let maximumObjects = 100_000

    func save(_ writer: inout FieldWriter) {
        writer.write(isClone)
        writer.write(sharedBytes)
        writer.write(rows != nil)
        if let rows { Self.save(rows, &writer) }
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        isClone = try reader.bool()
        sharedBytes = try reader.int()
        if try reader.bool() { rows = try Self.rows(from: &reader) }
    }

    private static func save(_ rows: KeptRows, _ writer: inout FieldWriter) {
        writer.write(count: rows.tables.count)
        for (name, count) in rows.tables.sorted(by: { $0.key < $1.key }) {
            writer.write(name)
            writer.write(count)
        }
        writer.write(count: rows.entities.count)
        for (number, count) in rows.entities.sorted(by: { $0.key < $1.key }) {
            writer.write(number)
            writer.write(count)
        }
    }

    private static func rows(from reader: inout FieldReader) throws(CheckpointError) -> KeptRows {
        var rows = KeptRows()
        for _ in 0..<(try reader.count(limit: maximumObjects)) {
            let name = try reader.string()
            rows.tables[name] = try reader.int()
        }
        for _ in 0..<(try reader.count(limit: maximumObjects)) {
            let number = try reader.int()
            rows.entities[number] = try reader.int()
        }
        return rows
    }
}
