/// Counts the integers of some columns in records that are read: one batch after another, by one thread, without an
/// allocation for a record.
package final class RecordTally {
    /// Why a row isn't counted.
    package struct Refusal: Error, CustomStringConvertible {
        /// Whether the record is sound, and has a value that the map refuses.
        package let isUnknownValue: Bool
        /// From 0.
        package let column: Int

        package var description: String {
            isUnknownValue ? "a row names an entity that isn't there" : "a record can't be read"
        }
    }

    private let records: RecordPatcher
    private let patches: [TreePatch]

    /// - Parameter columns: each with the values to count; other values may be there too.
    package init(_ columns: TreePatch) {
        patches = [columns]
        records = RecordPatcher(PatchProgram(patches))
    }

    /// - Throws: for a record that breaks the file format before the last of the columns, or has a value that is
    ///   refused.
    package func add(_ rows: RowBatch) throws(Refusal) {
        let tree = unsafe records.program.trees[0]
        for index in 0..<rows.count {
            let record = unsafe rows.record(at: index)
            guard let start = record.baseAddress else { throw Refusal(isUnknownValue: false, column: 0) }
            do throws(RecordPatcher.Misfit) {
                try unsafe records.choose(start, available: record.count, length: record.count, tree)
            } catch {
                guard case .unknownValue(let column, _) = error else {
                    throw Refusal(isUnknownValue: false, column: 0)
                }
                throw Refusal(isUnknownValue: true, column: column)
            }
            records.count(tree)
        }
    }

    /// What was counted since the last call.
    package func take() -> PatchCounts.Tree {
        var counts = PatchCounts(patches)
        records.takeCounts(into: &counts)
        return counts.trees[0]
    }
}
