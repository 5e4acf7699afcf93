/// How a run works; nothing here changes the rows that result.
package struct EngineOptions: Hashable, Sendable {
    /// Rows in a batch, at most. From 64 on the throughput is flat (performance.md §2.1); below 16 it suffers.
    package var batchRows: Int
    /// Bytes in a batch, about.
    package var batchBytes: Int
    /// Worker threads, at least 1.
    package var jobs: Int

    package init(batchRows: Int = 4_096, batchBytes: Int = 1 << 20, jobs: Int) {
        self.batchRows = batchRows
        self.batchBytes = batchBytes
        self.jobs = jobs
    }

    /// Bytes of all batches in flight, as long as no single row is larger than a batch.
    package static func memoryBytes(jobs: Int, batchBytes: Int) -> Int {
        RowPipeline.memory(jobs: max(1, jobs), batchBytes: batchBytes)
    }
}
