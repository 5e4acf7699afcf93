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
    /// Chunks whose long records are patched on overflow pages, too.
    var patched = 0
    /// What was found in the chunks that are copied: `PatchCounts.numbers`; none before the first.
    var counts: [Int] = []
    /// All that the copy writes is in the file. From then on SQLite has it.
    var isWhole = false

    /// Far more trees than a store has, each with columns of a hundred thousand numbers.
    private static let maximumCounts = 100_000_000

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
        writer.write(count: counts.count)
        for count in counts { writer.write(count) }
        writer.write(isWhole)
    }

    func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        isClone = try reader.bool()
        (chunkLength, copied, patched) = (try reader.int(), try reader.int(), try reader.int())
        counts = []
        for _ in 0..<(try reader.count(limit: Self.maximumCounts)) { counts.append(try reader.int()) }
        isWhole = try reader.bool()
        // Sums of them don't overflow.
        guard chunkLength > 0, copied >= 0, patched >= 0, counts.allSatisfy({ (0...Int.max / 4).contains($0) }) else {
            throw CheckpointError(.malformed, "the copy's numbers are impossible; restart the step")
        }
    }
}
