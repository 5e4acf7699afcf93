import CausewayPlatform
import CausewaySQLiteFile

/// How a run works. Nothing here changes the resulting rows, except the time that expressions may read.
package struct EngineOptions: Hashable, Sendable {
    /// Most rows in a batch. From 64 on the throughput is flat (InsideSpeed §2.1); below 16 it suffers.
    package var batchRows: Int
    /// Approximate bytes in a batch.
    package var batchBytes: Int
    /// Most rows in a batch of a mapping's rows that statements write, table by table: another number makes other
    /// pages, so that no flag says it.
    package var mappingBatchRows: Int
    /// Worker threads, at least 1.
    package var jobs: Int
    /// What `now()` gives in expressions, in seconds since 2001-01-01 UTC: one time for the whole run.
    package var now: Double
    /// Seconds between checkpoint files, which `status` reads; 0: one with every batch. Commits come once a second, or
    /// as often as checkpoints where these come more often.
    package var checkpointInterval: Double
    /// zstd's level for checkpoints, 1 to 19.
    package var compressionLevel: Int32
    /// Bytes that batches in flight may take together; nil sets no limit.
    package var memoryLimit: Int?
    /// Bytes that batches of pages may take together: workers that they have no room for aren't used. nil sets no
    /// limit.
    package var pageMemory: Int?
    /// Bytes of a chunk of the copy that a new store begins with; its bytes don't depend on it.
    package var copyChunkBytes = DatabaseCopy.chunkLength
    /// Both engines make the same rows.
    package var engine = EngineChoice.auto
    /// Off only to compare: rows of rebuilt tables are then made cell by cell, with the same pages.
    package var splices = true

    package init(
        batchRows: Int = 4_096, batchBytes: Int = 1 << 20, mappingBatchRows: Int = 1_024, jobs: Int,
        now: Double = WallClock.secondsSinceReferenceDate(), checkpointInterval: Double = 5,
        compressionLevel: Int32 = 3, memoryLimit: Int? = nil
    ) {
        self.batchRows = batchRows
        self.batchBytes = batchBytes
        self.mappingBatchRows = mappingBatchRows
        self.jobs = jobs
        self.now = now
        self.checkpointInterval = checkpointInterval
        self.compressionLevel = compressionLevel
        (self.memoryLimit, pageMemory) = (memoryLimit, memoryLimit)
    }

    /// Seconds between commits of the staging store: shorter intervals cost fsyncs, longer ones lose more work in a
    /// kill.
    package var commitInterval: Double { min(1, checkpointInterval) }

    /// Bytes of all batches in flight, as long as no single row is larger than a batch.
    package static func memoryBytes(jobs: Int, batchBytes: Int) -> Int {
        // Each has two halves: rows read, and rows to write.
        2 * poolSize(jobs: max(1, jobs)) * batchBytes
    }

    /// Bytes of such a batch: they follow from no option, but for a limit of the memory that has no room for those of
    /// one worker.
    package var mappingBatchBytes: Int {
        min(256 << 10, max(4_096, (memoryLimit ?? .max) / Self.memoryBytes(jobs: 1, batchBytes: 1)))
    }

    /// Workers of such a mapping: as many as are asked for and `memoryLimit` has room for, 1 at least.
    package var mappingJobs: Int {
        var result = max(1, jobs)
        while result > 1, Self.memoryBytes(jobs: result, batchBytes: mappingBatchBytes) > memoryLimit ?? .max {
            result -= 1
        }
        return result
    }

    /// Bytes of a batch of the page engine: 256 pages, at most 4 MiB. It follows from the page size alone, because the
    /// last leaf of each batch isn't full, and the store's bytes must not depend on options.
    package static func pageBatchBytes(pageSize: Int) -> Int { min(4 << 20, pageSize * 256) }

    /// Most rows in such a batch: as many as get no more than a batch's bytes added, so that what is made of short rows
    /// stays as small as a batch or two. It follows from the plan alone, too.
    ///
    /// - Parameters:
    ///   - bytes: that a row of the pass gets (`RowPass.addedBytes`).
    ///   - pageSize: of both stores.
    /// - Returns: 1 at least.
    package static func pageBatchRows(adding bytes: Int, pageSize: Int) -> Int {
        max(1, pageBatchBytes(pageSize: pageSize) / max(1, bytes))
    }

    /// Bytes of all batches in flight where pages are read and written, as long as no single row is larger than a
    /// batch.
    ///
    /// What is made of a batch's rows may take twice its bytes (`pageBatchRows`). Where it takes less, a batch's table
    /// of rows, 16 bytes for each, lies within that.
    package static func pageMemoryBytes(jobs: Int, pageSize: Int) -> Int {
        // In each batch pages read, and twice their bytes of rows made and of pages to write; in each worker, of
        // records.
        let batches = 5 * poolSize(jobs: max(1, jobs)) + 2 * max(1, jobs)
        // Memory that grows has a quarter to spare (`MemoryGrowth`).
        return batches * pageBatchBytes(pageSize: pageSize) / 4 * 5
    }

    /// Workers of a step in which pages are read or written.
    ///
    /// - Parameter pageSize: of both stores.
    /// - Returns: as many as are asked for and `pageMemory` has room for, 1 at least.
    package func pageJobs(pageSize: Int) -> Int {
        guard let pageMemory else { return max(1, jobs) }
        var result = max(1, jobs)
        while result > 1, Self.pageMemoryBytes(jobs: result, pageSize: pageSize) > pageMemory { result -= 1 }
        return result
    }

    /// Bytes of batches of pages where the app names neither a number of workers nor a limit: with what else a run
    /// needs, it stays below 128 MiB on any number of processors.
    package static let defaultPageMemory = 96 << 20

    /// Bytes that all sorters of indexes may take together: more makes few indexes faster, as their entries then need
    /// no file.
    package var sortMemoryBytes: Int { min(memoryLimit ?? .max, 48 << 20) }

    /// Batches that circulate in a pass: one for each worker, and as many again so that no worker waits.
    package static func poolSize(jobs: Int) -> Int { jobs * 2 + 1 }
}
