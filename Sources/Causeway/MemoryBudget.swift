import CausewayPreparation
import CausewayStores

/// A limit on the bytes of the rows in flight, and what a run gives up to keep it.
struct MemoryBudget {
    /// Bytes.
    let bytes: Int

    /// Bytes of a batch below which the threads' hand-overs begin to cost: workers are given up before batches shrink
    /// below this.
    private static let comfortableBatch = 64 << 10
    /// Bytes of the smallest batch: a page, about what one row takes anyway.
    private static let smallestBatch = 4_096

    /// The same options with smaller batches, then fewer workers, then the smallest batches.
    ///
    /// - Throws: `.usage` where even those don't fit.
    func fitting(_ wanted: EngineOptions) throws(EngineError) -> EngineOptions {
        var options = wanted
        shrinkBatches(of: &options, to: Self.comfortableBatch)
        while options.jobs > 1, needed(options) > bytes { options.jobs -= 1 }
        shrinkBatches(of: &options, to: Self.smallestBatch)
        guard needed(options) <= bytes else {
            throw EngineError(
                .usage, "the smallest batches need \(needed(options)) bytes of memory, the limit is \(bytes)",
                remedy: "raise --memory-limit")
        }
        return options
    }

    private func needed(_ options: EngineOptions) -> Int {
        EngineOptions.memoryBytes(jobs: options.jobs, batchBytes: options.batchBytes)
    }

    /// To what fits, but not below `least`.
    private func shrinkBatches(of options: inout EngineOptions, to least: Int) {
        guard needed(options) > bytes else { return }
        // Bytes of memory for one byte of batch size.
        let batches = max(1, EngineOptions.memoryBytes(jobs: options.jobs, batchBytes: 1))
        options.batchBytes = min(options.batchBytes, max(least, bytes / batches))
    }
}
