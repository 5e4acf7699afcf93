import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Reads the tables of a new store again, to sort the entries of their indexes.
struct TableEntries: Sendable {
    let file: PageFile
    let schema: StoreSchema
    /// Bytes that one index may take.
    let memory: Int
    let place: StepPlace
    let cancellation: Cancellation

    /// Where the entries of one index are sorted if they don't fit in the memory.
    func scratch(_ number: Int) -> String { place.work + "/" + WorkFile.sorting(place.index, index: number) }

    /// Reads the table of one index or two, and sorts their entries.
    ///
    /// - Parameters:
    ///   - indexes: of one table.
    ///   - number: the place of the first.
    ///   - summing: whether the table's records are summed.
    /// - Returns: their entries, and the sum of the records if it was asked for.
    /// - Throws: where the table can't be read, or rows break a unique index.
    func sorted(
        _ indexes: [TableIndex], first number: Int, summing: Bool
    ) throws(EngineError) -> (indexes: [SortedEntries], records: EntrySum?) {
        guard let first = indexes.first else { return ([], nil) }
        var records = summing ? EntrySum() : nil
        let root = schema.table(first.table)?.rootPage ?? 0
        let second = indexes.count > 1 ? indexes[1] : nil
        let pageSize = file.layout.pageSize
        // Says so where there is no such table.
        var one = try sorter(first, number: number)
        var other: IndexSorter?
        if let second { other = try sorter(second, number: number + 1) }
        var reader = TableReader(
            file, root: Int(root), after: nil, claims: PageClaims(pageCount: file.layout.pageCount))
        let batch = RowBatch()
        let bytes = EngineOptions.pageBatchBytes(pageSize: pageSize)
        var more = true
        while more {
            try cancellation.check()
            do throws(PageReadError) {
                more = try reader.fill(batch, rows: .max, bytes: bytes)
            } catch {
                throw EngineError(rereading: error, during: first.name)
            }
            try Self.sorting(first) { () throws(IndexSortError) in try one.add(batch) }
            if let second { try Self.sorting(second) { () throws(IndexSortError) in try other?.add(batch) } }
            records?.add(batch)
            batch.removeAll(keepingCapacity: bytes * 2)
        }
        var entries = [SortedEntries(try Self.sorted(one, first, pageSize: pageSize))]
        if let second, let other = other.take() {
            entries.append(SortedEntries(try Self.sorted(other, second, pageSize: pageSize)))
        }
        return (entries, records)
    }

    private func sorter(_ index: TableIndex, number: Int) throws(EngineError) -> IndexSorter {
        guard let table = schema.table(index.table), let key = IndexKey(index, of: table) else {
            throw EngineError(
                .verification, "\(index.name): the new store's table isn't as planned", remedy: "please report this")
        }
        return try Self.sorting(index) { () throws(IndexSortError) in
            try IndexSorter(key, memory: memory, scratchPath: scratch(number))
        }
    }

    private static func sorted(
        _ sorter: consuming IndexSorter, _ index: TableIndex, pageSize: Int
    ) throws(EngineError) -> SortedIndex {
        do throws(IndexSortError) {
            return try sorter.sorted(pageSize: pageSize)
        } catch {
            throw EngineError(sorting: error, index)
        }
    }

    static func sorting<Value: ~Copyable>(
        _ index: TableIndex, _ body: () throws(IndexSortError) -> Value
    ) throws(EngineError) -> Value {
        do throws(IndexSortError) {
            return try body()
        } catch {
            throw EngineError(sorting: error, index)
        }
    }
}

/// The sorted entries of one index. Sendable although it is mutable: the pipeline hands it from thread to thread.
final class SortedEntries: @unchecked Sendable {
    var sorted: SortedIndex?

    init(_ sorted: consuming SortedIndex) { self.sorted = consume sorted }
}

extension EngineError {
    /// An index whose entries can't be sorted.
    fileprivate init(sorting error: IndexSortError, _ index: TableIndex) {
        let place = index.title
        switch error.code {
        case .duplicate(let first, let second): self.init(rows: first, second, areEqualIn: index)
        case .tooLong(let row): self.init(.sourceData, "\(place): the entry of row \(row) is too long for SQLite")
        case .scratch(let cause):
            self.init(.inputOutput, "\(place): \(cause.message)", remedy: "make room, then run again")
        case .noMemory:
            self.init(.inputOutput, "\(place): \(error)")
        case .damagedRow, .unorderedRow, .damagedEntry, .outOfOrder, .scratchDamaged:
            self.init(
                .verification, "\(place): \(error)", remedy: "check the disk and the memory, then run again")
        }
    }

    /// Two rows that break a unique index.
    init(rows first: Int64, _ second: Int64, areEqualIn index: TableIndex) {
        self.init(
            .sourceData, "\(index.title): rows \(first) and \(second) have the same key, and it is unique",
            remedy: "the rows break a constraint of the new version; fix them in the source, then run again")
    }

    /// Pages of the new store that can't be read back.
    init(rereading error: PageReadError, during title: String) {
        self.init(
            error.cause == nil ? .verification : .inputOutput, "\(title): the new store's pages: \(error.description)",
            remedy: "check the disk and the memory, then run again")
    }
}
