import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// Writes rows as leaf pages of a table: workers pack them, the sink gives the pages numbers in the order of the rows.
struct PageSink: RowSink, ~Copyable {
    let packing: LeafPacking
    private let pages: StagingPages

    init(_ pages: StagingPages, form: RecordForm, title: String) {
        packing = LeafPacking(pageSize: pages.pageSize, form: form, title: title)
        self.pages = pages
    }

    mutating func write(_ batch: RowBatch, _ packed: PackedRows) throws(EngineError) {
        try pages.add(packed.leaves)
        // The memory of one huge row must not stay in every batch.
        packed.leaves.removeAll(keepingCapacity: EngineOptions.pageBatchBytes(pageSize: packed.leaves.pageSize) * 2)
        KillPoint.reach(.batchWritten)
    }

    mutating func finish() throws(EngineError) {
        try pages.endTree()
    }
}

/// What a worker packs a batch's rows into.
struct PackedRows: Sendable {
    let leaves: PackedLeaves
}

/// How workers pack rows into leaves.
struct LeafPacking: RowPacking {
    let pageSize: Int
    let form: RecordForm
    let title: String

    func makePacked() -> PackedRows { PackedRows(leaves: PackedLeaves(pageSize: pageSize)) }

    func makePacker() -> Packer { Packer(self) }

    struct Packer: RowPacker {
        private let former: RecordFormer
        private let packer: LeafPacker
        /// The records that the table's pages get: of one batch after another.
        private let records = RowBatch()
        private let title: String

        init(_ packing: LeafPacking) {
            former = RecordFormer(packing.form)
            packer = LeafPacker(pageSize: packing.pageSize)
            title = packing.title
        }

        func pack(_ rows: RowBatch, into packed: PackedRows) throws(EngineError) {
            records.removeAll(keepingCapacity: EngineOptions.pageBatchBytes(pageSize: packed.leaves.pageSize) * 2)
            do throws(RecordError) {
                try former.form(rows, into: records)
            } catch {
                throw EngineError(.verification, "\(title): \(error.message)")
            }
            do throws(PageBuildError) {
                try packer.pack(records, into: packed.leaves)
            } catch {
                throw EngineError(writing: error, during: title)
            }
        }
    }
}
