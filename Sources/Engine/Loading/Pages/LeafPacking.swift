import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// What a worker packs a batch's rows into.
struct PackedRows: Sendable {
    let leaves: PackedLeaves
}

/// How workers pack rows into leaves: spliced straight from the records that were read, or made cell by cell.
struct LeafPacking: RowPacking {
    let pageSize: Int
    /// Columns of the source's table.
    let columns: Int
    let form: RecordForm
    /// nil where no row can be spliced.
    let splice: PassSplice?
    let takesSums: Bool
    /// The keys of the indexes whose entries are carried, in the new table's records.
    let carried: [IndexKey]
    /// The pass's, for messages.
    let title: String

    func makePacked() -> PackedRows { PackedRows(leaves: PackedLeaves(pageSize: pageSize)) }

    func makePacker() -> Packer { Packer(self) }
}

/// What works on one batch after another.
extension LeafPacking {
    struct Packer: RowPacker {
        private let numbers: RecordNumbers
        private let former: RecordFormer
        private let packer: LeafPacker
        private let splice: (splicer: RecordSplicer, groups: [Int])?
        private let takesSums: Bool
        /// The records that the table's pages get, of rows that aren't spliced: of one batch after another.
        private let records = RowBatch()
        /// nil where no index is carried.
        private let entries: EntrySummer?
        private let title: String

        init(_ packing: LeafPacking) {
            numbers = RecordNumbers(columns: packing.columns)
            former = RecordFormer(packing.form)
            packer = LeafPacker(pageSize: packing.pageSize)
            let entries = packing.carried.isEmpty ? nil : EntrySummer(packing.carried)
            self.entries = entries
            splice = packing.splice.map {
                ($0.makeSplicer(takesSums: packing.takesSums, entries: entries), $0.groups)
            }
            takesSums = packing.takesSums
            title = packing.title
        }

        func pack(_ rows: RowBatch, into packed: PackedRows) throws(EngineError) {
            try form(rows, into: packed)
            try packing { () throws(PageBuildError) in try packer.pack(records, into: packed.leaves) }
        }

        func make(
            _ rows: RowBatch, with projector: RowProjector, through output: RowBatch, into packed: PackedRows
        ) throws(EngineError) -> MadeRows {
            defer { if let entries { projector.note(entries: entries.take()) } }
            guard let splice else {
                try projector.project(plain(rows, 0..<rows.count) ?? rows, into: output)
                try pack(output, into: packed)
                return MadeRows(count: output.count, bytes: output.byteCount)
            }
            projector.begin()
            packer.begin(packed.leaves)
            var made = MadeRows()
            var index = 0
            while index < rows.count {
                index = try packing { () throws(PageBuildError) in
                    try splice.splicer.splice(rows, from: index, into: packer)
                }
                guard index < rows.count else { break }
                made.count += try make(index, of: rows, projector, output, packed, noting: splice.splicer)
                index += 1
            }
            packer.finish()
            let tally = splice.splicer.takeTally()
            for (program, group) in splice.groups.enumerated() where tally.rows[program] > 0 {
                projector.count(
                    spliced: tally.rows[program], cells: takesSums ? tally.cells[program] : [], group: group)
            }
            projector.note(tally.records)
            made.count += tally.count
            made.bytes = tally.bytes
            return made
        }

        /// Makes a row that can't be spliced.
        /// - Returns: 1, or 0 where it isn't packed.
        private func make(
            _ index: Int, of rows: RowBatch, _ projector: RowProjector, _ output: RowBatch, _ packed: PackedRows,
            noting splicer: RecordSplicer
        ) throws(EngineError) -> Int {
            output.removeAll()
            if let rows = try plain(rows, index..<index + 1) {
                try projector.project(0, of: rows, into: output)
            } else {
                try projector.project(index, of: rows, into: output)
            }
            guard output.count == 1 else { return 0 }
            try form(output, into: packed)
            try packing { () throws(PageBuildError) in try packer.append(records) }
            splicer.note(records)
            return 1
        }

        /// Rows with NULL for NaN, as SQLite reads them; nil where they have none.
        private func plain(_ rows: RowBatch, _ range: Range<Int>) throws(EngineError) -> RowBatch? {
            do throws(RecordError) {
                return try numbers.plain(rows, range)
            } catch {
                throw EngineError(.sourceData, "\(title): \(error.message)")
            }
        }

        private func form(_ rows: RowBatch, into packed: PackedRows) throws(EngineError) {
            records.removeAll(keepingCapacity: EngineOptions.pageBatchBytes(pageSize: packed.leaves.pageSize) * 2)
            do throws(RecordError) {
                try former.form(rows, into: records)
            } catch {
                throw EngineError(.verification, "\(title): \(error.message)")
            }
            do throws(IndexSortError) {
                try entries?.add(records)
            } catch {
                throw EngineError(.verification, "\(title): \(error)")
            }
        }

        private func packing<Value>(_ body: () throws(PageBuildError) -> Value) throws(EngineError) -> Value {
            do throws(PageBuildError) {
                return try body()
            } catch {
                throw EngineError(writing: error, during: title)
            }
        }
    }
}
