package import CausewaySQLiteFile
package import CausewayStores

/// Where a pass's rows go: workers pack the rows of a batch, then the sink takes the batches in order.
package protocol RowSink: ~Copyable {
    associatedtype Packing: RowPacking

    /// What workers do with a batch's rows before it is written.
    var packing: Packing { get }
    /// Writes every row of the batch; both may be recycled when this returns.
    mutating func write(_ batch: RowBatch, _ packed: Packing.Packer.Packed) throws(EngineError)
    /// Makes what was written part of the store.
    mutating func finish() throws(EngineError)
}

/// Makes what workers need to pack rows.
package protocol RowPacking: Sendable {
    associatedtype Packer: RowPacker

    /// For one batch in flight; used again for later ones.
    func makePacked() -> Packer.Packed
    /// For one worker.
    func makePacker() -> Packer
}

/// Packs the rows of one batch after another: one per worker.
package protocol RowPacker {
    associatedtype Packed: Sendable

    /// Packs all rows; what `packed` held before is gone.
    func pack(_ rows: RowBatch, into packed: Packed) throws(EngineError)
}

/// For a sink that takes rows as they were made.
struct NoPacking: RowPacking, RowPacker {
    func makePacked() {}
    func makePacker() -> NoPacking { self }
    func pack(_ rows: RowBatch, into packed: Void) {}
}
