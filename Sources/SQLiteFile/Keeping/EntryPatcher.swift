/// Overwrites integers in the entries of an index, as they were read.
package struct EntryPatcher: ~Copyable {
    private let records: RecordPatcher
    private let tree: PatchProgram.Tree
    /// Entries so far.
    private var count = 0

    package init(_ patch: TreePatch) {
        precondition(patch.tree.kind == .index, "a table's rows have columns, its entries keys")
        records = RecordPatcher(PatchProgram([patch]))
        tree = unsafe records.program.trees[0]
    }

    /// Takes the next entries, as `IndexReader` gives them.
    ///
    /// - Parameter entries: overwritten.
    /// - Throws: `.damagedEntry`, also for an integer that the patch doesn't name.
    package mutating func patch(_ entries: RowBatch) throws(IndexSortError) {
        guard !tree.steps.isEmpty else { return }
        for index in 0..<entries.count {
            let entry = unsafe UnsafeMutableRawBufferPointer(mutating: entries.record(at: index))
            guard let bytes = entry.baseAddress else { throw IndexSortError(.damagedEntry(entry: count)) }
            do throws(RecordPatcher.Misfit) {
                try unsafe records.choose(bytes, available: entry.count, length: entry.count, tree)
            } catch {
                throw IndexSortError(.damagedEntry(entry: count))
            }
            unsafe records.apply(to: bytes, tree)
            count += 1
        }
    }
}
