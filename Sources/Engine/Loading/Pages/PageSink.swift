import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// Writes rows as leaf pages of a table: workers pack them, the sink gives the pages numbers in the order of the rows.
struct PageSink: RowSink, ~Copyable {
    let packing: LeafPacking
    private let pages: StagingPages

    init(_ pages: StagingPages, _ packing: LeafPacking) {
        self.packing = packing
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
