/// Checks the entries of an index as it is in a file, against its key: that each is one of the key, in strict order,
/// and of a UNIQUE index that no two keys are equal. Gives their count and digest, to be compared with those of the
/// rows.
///
/// An index whose entries are stored in another form than CREATE INDEX gives them today (integers in more bytes than
/// needed) is in order but has another digest: it counts as different, and is sorted anew.
package struct IndexOrderCheck: ~Copyable {
    /// Of the entries so far.
    package private(set) var sum = EntrySum()

    private let order: EntryOrder
    private let isUnique: Bool
    private let record: RecordReader
    /// The last entry of the batch before.
    private var last: [UInt8] = []

    package init(_ key: IndexKey) {
        order = EntryOrder(key)
        isUnique = key.isUnique
        record = RecordReader(capacity: key.columns.count + 1)
    }

    /// Takes the next entries, as `IndexReader` gives them.
    ///
    /// - Throws: `.damagedEntry`, `.outOfOrder`, `.duplicate`.
    package mutating func add(_ entries: RowBatch) throws(IndexSortError) {
        guard entries.count > 0 else { return }
        let before = last
        try unsafe before.span.bytes.withUnsafeBytes { (bytes) throws(IndexSortError) in
            var previous = unsafe bytes
            for index in 0..<entries.count {
                let entry = unsafe entries.record(at: index)
                try unsafe check(entry)
                if previous.count > 0 { try unsafe check(entry, after: previous) }
                unsafe sum.add(entry)
                unsafe previous = entry
            }
        }
        last = unsafe Array(entries.record(at: entries.count - 1))
    }

    @unsafe private func check(_ entry: UnsafeRawBufferPointer) throws(IndexSortError) {
        do throws(RecordError) {
            try unsafe record.load(entry)
        } catch {
            throw IndexSortError(.damagedEntry(entry: sum.count))
        }
        guard record.count == record.capacity, record.serialType(at: record.count - 1).isInteger else {
            throw IndexSortError(.damagedEntry(entry: sum.count))
        }
    }

    @unsafe private func check(
        _ entry: UnsafeRawBufferPointer, after previous: UnsafeRawBufferPointer
    ) throws(IndexSortError) {
        let place = unsafe order.compare(previous, entry)
        if place < 0 { return }
        let rowids = unsafe (order.rowid(previous), order.rowid(entry))
        guard place == 0, rowids.0 < rowids.1 else { throw IndexSortError(.outOfOrder(entry: sum.count)) }
        if isUnique, unsafe !order.hasNull(entry) {
            throw IndexSortError(.duplicate(first: rowids.0, second: rowids.1))
        }
    }
}
