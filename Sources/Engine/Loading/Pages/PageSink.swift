import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// Writes rows as leaf pages of a table: workers pack them, the sink gives the pages numbers in the order of the rows.
struct PageSink: RowSink, ~Copyable {
    let packing: LeafPacking
    private let pages: StagingPages
    /// The number of the table's root page.
    private let root: Int

    /// Begins the table's tree, or goes on with it.
    init(_ pages: StagingPages, root: Int, _ packing: LeafPacking) throws(EngineError) {
        try pages.begin(.table, root: root)
        self.packing = packing
        self.pages = pages
        self.root = root
    }

    mutating func write(_ batch: RowBatch, _ packed: PackedRows) throws(EngineError) {
        try pages.add(packed.leaves, toTreeAt: root)
        // The memory of one huge row must not stay in every batch.
        packed.leaves.removeAll(keepingCapacity: EngineOptions.pageBatchBytes(pageSize: packed.leaves.pageSize) * 2)
        KillPoint.reach(.batchWritten)
    }

    mutating func finish() throws(EngineError) {
        try pages.endTree(at: root)
    }
}
