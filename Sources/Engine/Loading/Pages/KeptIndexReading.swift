import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Reads tables and their indexes on plain columns out of a file's pages, compares the indexes with the rows, and
/// counts the rows: each tree is read once, the largest first, on all workers, as strictly as `PRAGMA quick_check`.
/// Memory: a batch for each worker, and a bit for each page.
struct KeptIndexReading {
    let file: PageFile
    /// For messages: of the file that has these pages, or of the one that they were copied from.
    let path: String
    let tables: [Table]
    /// All of them on these tables.
    let indexes: [Index]
    let options: EngineOptions
    let cancellation: Cancellation

    /// A table, and the numbers of entities that its rows may have, in the first of the columns, and their links, in
    /// the others; nil where they aren't objects.
    struct Table: Sendable {
        var table: StoreSchema.Table
        var entities: TreePatch?
    }

    struct Index: Sendable {
        var index: TableIndex
        var key: IndexKey
        /// Place of its table.
        var table: Int
        var root: Int
    }

    /// A tree to read.
    fileprivate enum Tree: Sendable {
        /// The table of a place, for the indexes of these places.
        case rows(Int, [Int])
        case entries(Int)
    }

    /// What a tree holds.
    fileprivate enum Found: Sendable {
        /// How many rows there are, of which entities, and the entries that each index should have.
        case rows(Int, [Int: Int], [EntrySum])
        case entries(EntrySum)
        /// Entries that can't be an index's.
        case disorder(String)
    }

    /// What came of it.
    struct Outcome: Sendable {
        /// For each index what is wrong; nil where its entries are those of the rows.
        var disagreements: [String?] = []
        var rows = KeptRows()
    }

    /// - Parameter claims: of the file; raised by the pages of all these trees.
    /// - Returns: what was found.
    /// - Throws: `.sourceData` where a table is damaged, also with `isMisfit` where an index is; `.inputOutput`.
    func compare(_ claims: PageClaims) throws(EngineError) -> Outcome {
        let trees = largestFirst()
        var wanted = [EntrySum?](repeating: nil, count: indexes.count)
        var found = [Found?](repeating: nil, count: indexes.count)
        var outcome = Outcome()
        let reader = TreeSums(
            file: file, path: path, tables: tables, indexes: indexes, claims: claims, cancellation: cancellation)
        try PlacePipeline(trees.indices, jobs: options.jobs, cancellation: cancellation).run {
            every throws(EngineError) in
            let batch = RowBatch()
            try every { place throws(EngineError) in try reader.read(trees[place], batch) }
        } take: { place, tree throws(EngineError) in
            switch (trees[place], tree) {
            case (.rows(let table, let places), .rows(let rows, let entities, let sums)):
                outcome.rows.tables[tables[table].table.name] = rows
                outcome.rows.entities.merge(entities) { $0 + $1 }
                for (index, sum) in zip(places, sums) { wanted[index] = sum }
            case (.entries(let index), let sum): found[index] = sum
            case (.rows, _): break
            }
        }
        outcome.disagreements = indexes.indices.map { Self.difference(wanted[$0], found[$0]) }
        return outcome
    }

    private func largestFirst() -> [Tree] {
        let trees =
            tables.indices.map { table in Tree.rows(table, indexes.indices.filter { indexes[$0].table == table }) }
            + indexes.indices.map { .entries($0) }
        // What is damaged is found when the whole tree is read.
        let leaves = trees.map { tree in
            (try? file.leafCount(of: root(of: tree))) ?? 0
        }
        return trees.indices.sorted { (leaves[$1], $0) < (leaves[$0], $1) }.map { trees[$0] }
    }

    private func root(of tree: Tree) -> TreeRoot {
        switch tree {
        case .rows(let table, _): TreeRoot(Int(tables[table].table.rootPage), .table)
        case .entries(let place): TreeRoot(indexes[place].root, .index)
        }
    }

    private static func difference(_ rows: EntrySum?, _ entries: Found?) -> String? {
        switch entries {
        case .entries(let sum)? where sum == rows: nil
        case .entries(let sum)? where sum.count != rows?.count: "\(sum.count) entries for \(rows?.count ?? 0) rows"
        case .disorder(let reason)?: reason
        default: "its entries aren't those of the rows"
        }
    }
}

/// Sums of what trees hold.
private struct TreeSums: Sendable {
    let file: PageFile
    let path: String
    let tables: [KeptIndexReading.Table]
    let indexes: [KeptIndexReading.Index]
    let claims: PageClaims
    let cancellation: Cancellation

    func read(_ tree: KeptIndexReading.Tree, _ batch: RowBatch) throws(EngineError) -> KeptIndexReading.Found {
        switch tree {
        case .rows(let table, let places): try rows(of: tables[table], places, batch)
        case .entries(let place): try entries(of: indexes[place], batch)
        }
    }

    /// A table's rows, and what each of its indexes should have.
    private func rows(
        of place: KeptIndexReading.Table, _ places: [Int], _ batch: RowBatch
    ) throws(EngineError) -> KeptIndexReading.Found {
        let table = place.table
        let sums = EntrySummer(places.map { indexes[$0].key })
        var (count, entities) = (0, [Int: Int]())
        do {
            let tally = place.entities.map(RecordTally.init)
            let records = RecordReader(capacity: table.columns.count)
            var reader = TableReader(file, root: Int(table.rootPage), after: nil, claims: claims)
            try every(batch) { () throws(PageReadError) in
                try reader.fill(batch, rows: .max, bytes: bytes)
            } use: {
                count += batch.count
                for index in 0..<batch.count { try unsafe records.load(batch.record(at: index)) }
                try tally?.add(batch)
                try sums.add(batch)
            }
            if let tally, let column = place.entities?.columns.first,
                column.column == table.position(of: KeptRecords.entityColumn)
            {
                for (pair, rows) in zip(column.map.pairs, tally.take().columns[0].values) {
                    entities[Int(pair.old)] = rows
                }
            }
        } catch let error as PageReadError {
            throw EngineError(reading: error, during: "\(path), \(table.name)")
        } catch let error as EngineError {
            throw error
        } catch let error as RecordTally.Refusal {
            var refusal = EngineError(
                error.isUnknownValue ? .verification : .sourceData,
                "\(path), \(table.name).\(table.columns[error.column].name): \(error)")
            refusal.isMisfit = error.isUnknownValue
            throw refusal
        } catch {
            throw EngineError(.sourceData, "\(path), \(table.name): \(error)")
        }
        return .rows(count, entities, sums.take())
    }

    private func entries(
        of index: KeptIndexReading.Index, _ batch: RowBatch
    ) throws(EngineError) -> KeptIndexReading.Found {
        var check = IndexOrderCheck(index.key)
        do {
            var reader = IndexReader(file, root: index.root, claims: claims)
            try every(batch) { () throws(PageReadError) in
                try reader.fill(batch, rows: .max, bytes: bytes)
            } use: {
                try check.add(batch)
            }
            return .entries(check.sum)
        } catch let error as IndexSortError {
            return .disorder(error.complaint)
        } catch let error as PageReadError {
            var error = EngineError(reading: error, during: "\(path), \(index.index.title)")
            // The rows may still be sound: the store can be made anew.
            error.isMisfit = error.kind == .sourceData
            throw error
        } catch {
            throw EngineError(error, during: index.index.title)
        }
    }

    private var bytes: Int { EngineOptions.pageBatchBytes(pageSize: file.layout.pageSize) }

    /// Fills the batch until nothing is left.
    private func every(_ batch: RowBatch, fill: () throws(PageReadError) -> Bool, use: () throws -> Void) throws {
        var more = true
        while more {
            try cancellation.check()
            batch.removeAll(keepingCapacity: bytes * 2)
            more = try fill()
            try use()
        }
    }
}

extension IndexSortError {
    /// What is wrong with an index, without what to do about it.
    var complaint: String {
        switch code {
        case .outOfOrder(let entry): "entry \(entry) isn't in its place"
        case .damagedEntry(let entry): "entry \(entry) isn't one of its columns"
        case .duplicate(let first, let second): "it is unique, and has the same entry for rows \(first) and \(second)"
        default: description
        }
    }
}

extension IndexKey {
    /// nil where the index isn't one on columns of the table, in the order of their bytes, and over all rows.
    init?(_ index: TableIndex, of table: StoreSchema.Table) {
        guard !index.isPartial else { return nil }
        var columns: [Column] = []
        for column in index.columns {
            guard column.collation.uppercased() == "BINARY",
                let place = column.name.flatMap({ table.position(of: $0) })
            else { return nil }
            let source = table.isRowID(table.columns[place]) ? Source.rowid : .cell(place)
            columns.append(Column(source, isDescending: column.isDescending))
        }
        if columns.isEmpty { return nil }
        self.init(columns, isUnique: index.isUnique)
    }
}
