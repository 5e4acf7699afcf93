/// Sorted runs in the scratch file, and how they become one sequence within a bound of memory.
struct RunFile: ~Copyable {
    private let order: EntryOrder
    private let budget: Int
    private let blockLength: Int
    private var runs: [SortedRun] = []
    private var scratch: SortScratch

    /// Most runs that are merged at once: more wins little, and reads ever shorter pieces of the file.
    private static let largestFanIn = 64

    init(_ path: String, _ order: EntryOrder, budget: Int) throws(IndexSortError) {
        self.order = order
        self.budget = budget
        blockLength = min(max(budget / 64, 256), 256 << 10)
        scratch = try SortScratch(path)
    }

    /// Writes sorted entries as the next run.
    mutating func add(_ entries: borrowing EntryBuffer) throws(IndexSortError) {
        var writer = RunWriter(blockLength: blockLength, at: scratch.end)
        var staging = EntryStaging()
        for place in 0..<entries.count {
            try unsafe writer.append(staging.entry(at: place, of: entries), to: &scratch)
        }
        runs.append(try writer.finish(to: &scratch))
    }

    /// Merges adjacent runs until the rest can be merged at once.
    /// - Returns: that last merge.
    /// - Throws: `.scratch`, `.scratchDamaged`, `.noMemory`.
    consuming func merged() throws(IndexSortError) -> MergedRuns {
        var start = 0
        while true {
            let fit = fitting(from: 0)
            if fit == runs.count { break }
            // No more than needed: what is merged is written and read again.
            let count = max(2, min(fitting(from: start), runs.count - fit + 1))
            try merge(start..<start + count)
            start += 1
            if start + 1 >= runs.count { start = 0 }
        }
        let merge = RunMerge(runs[...], order)
        return MergedRuns(scratch: scratch, merge: merge)
    }

    /// How many runs from this one on can be merged at once, at least two if there are.
    private func fitting(from start: Int) -> Int {
        // A frame, and the block that is being written.
        var used = 2 * blockLength
        var end = start
        while end < runs.count, end - start < Self.largestFanIn {
            used += 2 * max(blockLength, runs[end].longestBlock) - blockLength
            if used > budget, end - start >= 2 { break }
            end += 1
        }
        return end - start
    }

    private mutating func merge(_ part: Range<Int>) throws(IndexSortError) {
        var merge = RunMerge(runs[part], order)
        var writer = RunWriter(blockLength: blockLength, at: scratch.end)
        while let entry = try unsafe merge.next(scratch) { try unsafe writer.append(entry, to: &scratch) }
        runs.replaceSubrange(part, with: [try writer.finish(to: &scratch)])
    }
}

/// All entries of the scratch file, in order.
struct MergedRuns: ~Copyable {
    private let scratch: SortScratch
    private var merge: RunMerge

    init(scratch: consuming SortScratch, merge: consuming RunMerge) {
        self.scratch = scratch
        self.merge = merge
    }

    /// The next entry; nil after the last. Valid until the next call.
    @unsafe @inline(__always) mutating func next() throws(IndexSortError) -> UnsafeRawBufferPointer? {
        try unsafe merge.next(scratch)
    }

    /// Empties the scratch file.
    consuming func discard() {
        scratch.discard()
    }
}
