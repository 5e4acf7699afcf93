import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// An index of the source whose entries are those of a rebuilt table, too, but for numbers that change: they are packed
/// anew, in their order.
///
/// It isn't trusted: the source's may be stale. What it holds is compared with what the new table's records have, which
/// are summed as they are packed, before its first page is written.
struct CarriedIndex: Sendable {
    /// The source's, for messages.
    let title: String
    /// The source.
    let file: PageFile
    /// Its tree, and the integers that become others in it.
    let changes: TreePatch
    /// In the records of the source's table.
    let key: IndexKey
    /// What the rows have.
    let expected: EntrySum
    let cancellation: Cancellation

    /// Reads the whole index.
    ///
    /// - Returns: what is wrong with it; nil where its entries are those of the rows, in strict order.
    /// - Throws: where the source can't be read at all.
    func fault() throws(EngineError) -> String? {
        var check = IndexOrderCheck(key)
        var reader = reader()
        var patcher = EntryPatcher(changes)
        let batch = RowBatch()
        do {
            var more = true
            while more {
                try cancellation.check()
                more = try fill(batch, from: &reader)
                try patcher.patch(batch)
                try check.add(batch)
            }
        } catch let error as IndexSortError {
            return error.complaint
        } catch let error as PageReadError {
            if error.cause != nil { throw EngineError(reading: error, during: title) }
            return error.description
        } catch {
            throw EngineError(error, during: title)
        }
        if check.sum == expected { return nil }
        return check.sum.count == expected.count
            ? "its entries aren't those of the rows" : "\(check.sum.count) entries for \(expected.count) rows"
    }

    /// Gives the entries, packed, to `write`, which is called at least once.
    ///
    /// - Parameters:
    ///   - leaves: is filled for every call.
    ///   - write: takes them.
    /// - Throws: `.verification` where they aren't those that were read before.
    func pack(into leaves: PackedLeaves, write: () throws(EngineError) -> Void) throws(EngineError) {
        let packer = IndexPacker(pageSize: leaves.pageSize)
        var reader = reader()
        var patcher = EntryPatcher(changes)
        let batch = RowBatch()
        var given = EntrySum()
        packer.begin(leaves)
        var more = true
        while more {
            try cancellation.check()
            do throws(PageReadError) {
                more = try fill(batch, from: &reader)
            } catch {
                throw EngineError(reading: error, during: title)
            }
            do throws(IndexSortError) {
                try patcher.patch(batch)
            } catch {
                throw differs()
            }
            given.add(entries: batch)
            for index in 0..<batch.count {
                while try !append(index, of: batch, to: packer) {
                    try write()
                    packer.begin(leaves)
                }
            }
        }
        packer.finish()
        try write()
        guard given == expected else { throw differs() }
    }

    private func differs() -> EngineError {
        EngineError(
            .verification, "\(title): the source's index was read twice, and not the same",
            remedy: "check the disk and the memory, then run again")
    }

    private func append(_ index: Int, of batch: RowBatch, to packer: IndexPacker) throws(EngineError) -> Bool {
        do throws(PageBuildError) {
            return try unsafe packer.append(batch.record(at: index))
        } catch {
            throw EngineError(writing: error, during: title)
        }
    }

    private func reader() -> IndexReader {
        IndexReader(file, root: changes.tree.page, claims: PageClaims(pageCount: file.layout.pageCount))
    }

    private func fill(_ batch: RowBatch, from reader: inout IndexReader) throws(PageReadError) -> Bool {
        let bytes = EngineOptions.pageBatchBytes(pageSize: file.layout.pageSize)
        batch.removeAll(keepingCapacity: bytes * 2)
        return try reader.fill(batch, rows: .max, bytes: bytes)
    }
}
