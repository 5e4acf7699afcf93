import CausewaySQLiteFile
import CausewayStores

/// Where a pass's rows go: workers pack the rows of a batch, then the sink takes the batches in order.
protocol RowSink: ~Copyable {
    associatedtype Packing: RowPacking

    /// What workers do with a batch's rows before it is written.
    var packing: Packing { get }
    /// Writes every row of the batch; both may be recycled when this returns.
    mutating func write(_ batch: RowBatch, _ packed: Packing.Packer.Packed) throws(EngineError)
    /// Makes what was written part of the store.
    mutating func finish() throws(EngineError)
}

/// Makes what workers need to pack rows.
protocol RowPacking: Sendable {
    associatedtype Packer: RowPacker

    /// For one batch in flight; used again for later ones.
    func makePacked() -> Packer.Packed
    /// For one worker.
    func makePacker() -> Packer
}

/// Packs the rows of one batch after another: one per worker.
protocol RowPacker {
    associatedtype Packed: Sendable

    /// Packs all rows; what `packed` held before is gone.
    func pack(_ rows: RowBatch, into packed: Packed) throws(EngineError)
    /// Makes the new rows of a batch that was read, and packs them; what `packed` held before is gone.
    ///
    /// - Parameters:
    ///   - rows: the source's.
    ///   - projector: makes rows, and counts those that aren't packed.
    ///   - output: empty; room for the new rows.
    ///   - packed: what is written.
    /// - Returns: what was made.
    /// - Throws: for a row that can't be made or packed.
    func make(
        _ rows: RowBatch, with projector: RowProjector, through output: RowBatch, into packed: Packed
    ) throws(EngineError) -> MadeRows
}

/// Rows that were made, and the bytes of their records.
struct MadeRows: Sendable {
    var count = 0
    var bytes = 0
}

extension RowPacker {
    func make(
        _ rows: RowBatch, with projector: RowProjector, through output: RowBatch, into packed: Packed
    ) throws(EngineError) -> MadeRows {
        try projector.project(rows, into: output)
        try pack(output, into: packed)
        return MadeRows(count: output.count, bytes: output.byteCount)
    }
}

/// For a sink that takes rows as they were made.
struct NoPacking: RowPacking, RowPacker {
    func makePacked() {}
    func makePacker() -> NoPacking { self }
    func pack(_ rows: RowBatch, into packed: Void) {}
}
