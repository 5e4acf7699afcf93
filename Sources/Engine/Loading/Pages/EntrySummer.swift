import CausewaySQLiteFile

/// Sums the entries that the rows of a table have in some of its indexes: one per worker.
final class EntrySummer {
    /// An `EntryFormer` that an array can hold.
    private final class Former {
        private let former: EntryFormer

        init(_ key: IndexKey) {
            do throws(RecordError) {
                former = try EntryFormer(key)
            } catch {
                preconditionFailure("only a default can be too long, and the key has none")
            }
        }

        func sum(_ rows: RowBatch) throws(IndexSortError) -> EntrySum { try former.sum(rows) }
    }

    private let formers: [Former]

    /// - Parameter keys: without defaults.
    init(_ keys: [IndexKey]) {
        formers = keys.map { Former($0) }
    }

    /// - Parameter rows: records of the table.
    /// - Returns: a sum for each key.
    /// - Throws: `.damagedRow`, `.tooLong`.
    func sums(of rows: RowBatch) throws(IndexSortError) -> [EntrySum] {
        try formers.map { (former) throws(IndexSortError) in try former.sum(rows) }
    }
}
