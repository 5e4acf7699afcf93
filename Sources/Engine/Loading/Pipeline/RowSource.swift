package import CausewaySQLiteFile
package import CausewayStores

/// Where a pass's rows come from: fills batches with records, in the source's order.
package protocol RowSource: ~Copyable, SendableMetatype {
    /// Appends rows to an empty batch until it is full.
    ///
    /// - Returns: false when there are no more rows; the batch may still hold the last ones.
    mutating func fill(_ batch: RowBatch, limits: BatchLimits) throws(EngineError) -> Bool
}

/// When a batch is closed, whichever limit comes first.
package struct BatchLimits: Hashable, Sendable {
    /// At least 1.
    package var rows: Int
    /// The row that passes this many bytes is the batch's last: a single row may be larger.
    package var bytes: Int

    package init(rows: Int, bytes: Int) {
        self.rows = max(1, rows)
        self.bytes = max(1, bytes)
    }
}
