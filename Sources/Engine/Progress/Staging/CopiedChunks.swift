import CausewayCheckpoint

/// How far the copy is with which a new store begins. Saved with the step's progress, in a checkpoint that counts once
/// these chunks are durable.
final class CopiedChunks {
    /// The part of the progress that has it.
    static let part = "copy"

    /// Whether the file began with the source's extents.
    var isClone = false
    /// Bytes: the chunks of a copy that is resumed are as long as before.
    var chunkLength = 0
    /// Chunks that are copied, the first ones: they are taken in their order.
    var copied = 0
    /// Of these, chunks whose long records are patched on overflow pages.
    var patched = 0
    /// Whether there are such records.
    var hasLongRecords = false
    /// All that the copy writes is in the file. From then on SQLite has it.
    var isWhole = false

    init() {}

    /// What a checkpoint says; nil where it is about something else.
    init?(in record: StepRecord) {
        guard let bytes = record.parts[Self.part] else { return nil }
        var reader = FieldReader(bytes)
        guard (try? restore(&reader)) != nil else { return nil }
    }

    func save(_ writer: inout FieldWriter) {
        writer.write(isClone)
        writer.write(chunkLength)
        writer.write(copied)
        writer.write(patched)
        writer.write(hasLongRecords)
        writer.write(isWhole)
    }

    func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        isClone = try reader.bool()
        (chunkLength, copied, patched) = (try reader.int(), try reader.int(), try reader.int())
        hasLongRecords = try reader.bool()
        isWhole = try reader.bool()
        guard chunkLength > 0, copied >= 0, patched >= 0 else {
            throw CheckpointError(.malformed, "the copy's numbers are impossible; restart the step")
        }
    }
}
