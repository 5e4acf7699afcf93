package import CausewayCheckpoint
package import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// In a checkpoint: the source's values, whether the destination's are the same, and if not, those. Of each group its
/// rows, and where it has any, two sums and a count for each column. Then whether the sums cover all rows, and the sum
/// of new records, and those of carried indexes.
extension PassDigest {
    package func write(to writer: inout FieldWriter) {
        write(source, to: &writer)
        let isSame = source == destination
        writer.write(isSame)
        if !isSame { write(destination, to: &writer) }
        writer.write(isSummed)
        records.write(to: &writer)
        writer.write(count: entries.count)
        for sum in entries { sum.write(to: &writer) }
    }

    /// Reads the digest of a pass whose recipes are those of `pass`.
    ///
    /// - Parameters:
    ///   - pass: as planned now; a checkpoint of another plan has been refused before.
    ///   - reader: positioned at the digest, and after it afterwards.
    /// - Throws: `truncated` and `malformed`.
    package init(_ pass: RowPass, from reader: inout FieldReader) throws(CheckpointError) {
        let shape = DigestShape(pass)
        let source = try Self.values(shape, from: &reader)
        let isSame = try reader.bool()
        self.init(shape, source: source, destination: isSame ? source : try Self.values(shape, from: &reader))
        isSummed = try reader.bool()
        records = try EntrySum(from: &reader)
        for _ in 0..<(try reader.count(limit: StoreSchema.maximumObjects)) {
            entries.append(try EntrySum(from: &reader))
        }
    }

    private func write(_ values: [UInt64], to writer: inout FieldWriter) {
        for group in shape.groups {
            writer.write(values[group.offset])
            if values[group.offset] == 0 { continue }
            for (_, place) in shape.columns(of: group) {
                writer.write(fixed: values[place])
                writer.write(fixed: values[place + 1])
                writer.write(values[place + 2])
            }
        }
    }

    private static func values(
        _ shape: DigestShape, from reader: inout FieldReader
    ) throws(CheckpointError) -> [UInt64] {
        var values: [UInt64] = Array(repeating: 0, count: shape.valueCount)
        for group in shape.groups {
            let rows = try reader.unsigned()
            values[group.offset] = rows
            if rows == 0 { continue }
            for (_, place) in shape.columns(of: group) {
                values[place] = try reader.fixed()
                values[place + 1] = try reader.fixed()
                values[place + 2] = try reader.unsigned()
                guard values[place + 2] <= rows else {
                    throw CheckpointError(
                        .malformed, "A digest counts more values than rows; the checkpoint is damaged. Discard it.")
                }
            }
        }
        return values
    }
}

extension EntrySum {
    /// Bytes that it takes in a checkpoint, at most.
    static let writtenLength = 28

    fileprivate func write(to writer: inout FieldWriter) {
        writer.write(count)
        writer.write(fixed: first)
        writer.write(fixed: second)
    }

    fileprivate init(from reader: inout FieldReader) throws(CheckpointError) {
        let count = try reader.int()
        let first = try reader.fixed()
        self.init(count: count, first: first, second: try reader.fixed())
    }
}
