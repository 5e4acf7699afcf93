/// Counts the integers of some columns in records that are read: one batch after another, by one thread, without an
/// allocation for a record.
package final class RecordTally {
    private let records: RecordPatcher
    private let patches: [TreePatch]

    /// - Parameter columns: each with the values to count; other values may be there too.
    package init(_ columns: TreePatch) {
        patches = [columns]
        records = RecordPatcher(PatchProgram(patches))
    }

    /// - Throws: for a record that breaks the file format before the last of the columns.
    package func add(_ rows: RowBatch) throws(RecordError) {
        let tree = unsafe records.program.trees[0]
        for index in 0..<rows.count {
            let record = unsafe rows.record(at: index)
            guard let start = record.baseAddress else { throw RecordError(code: .badHeader, offset: 0) }
            do throws(RecordPatcher.Misfit) {
                try unsafe records.choose(start, available: record.count, length: record.count, tree)
            } catch {
                throw RecordError(code: .badHeader, offset: 0)
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
