/// Merges adjacent sorted runs into one sequence: a tree of losers over their first entries. Of equal keys that of the
/// earlier run comes first, so that rowids ascend.
@safe
struct RunMerge: ~Copyable {
    private let order: EntryOrder
    private let readers: UnsafeMutablePointer<RunReader>
    private let count: Int
    /// The run that lost at each node; at 0 the winner of all.
    private let losers: UnsafeMutablePointer<Int>
    private var hasBegun = false
    private let mask: UInt64
    private let isOneColumn: Bool

    /// At least one run.
    init(_ runs: ArraySlice<SortedRun>, _ order: EntryOrder) {
        precondition(!runs.isEmpty, "nothing to merge")
        self.order = order
        count = runs.count
        mask = order.isDescending(0) ? .max : 0
        isOneColumn = order.columnCount == 1
        unsafe readers = .allocate(capacity: count)
        for (index, run) in runs.enumerated() {
            unsafe (readers + index).initialize(to: RunReader(run, mask: mask))
        }
        unsafe losers = .allocate(capacity: count)
        unsafe losers.initialize(repeating: 0, count: count)
    }

    deinit {
        for index in 0..<count { unsafe readers[index].deallocate() }
        unsafe readers.deallocate()
        unsafe losers.deallocate()
    }

    /// The next entry; nil after the last. Valid until the next call.
    @unsafe @inline(__always) mutating func next(
        _ scratch: borrowing SortScratch
    ) throws(IndexSortError) -> UnsafeRawBufferPointer? {
        if hasBegun {
            try advance(scratch)
        } else {
            try begin(scratch)
        }
        return unsafe readers[losers[0]].entry
    }

    private mutating func begin(_ scratch: borrowing SortScratch) throws(IndexSortError) {
        hasBegun = true
        for index in 0..<count { try unsafe readers[index].advance(scratch) }
        unsafe losers[0] = winner(of: 1)
    }

    /// Plays all games below a node. Nodes are numbered as in a heap, the runs after them.
    private func winner(of node: Int) -> Int {
        if node >= count { return node - count }
        let (left, right) = (winner(of: 2 * node), winner(of: 2 * node + 1))
        let isLeft = isBefore(left, right)
        unsafe losers[node] = isLeft ? right : left
        return isLeft ? left : right
    }

    @inline(__always) private mutating func advance(_ scratch: borrowing SortScratch) throws(IndexSortError) {
        var winner = unsafe losers[0]
        let before = unsafe readers[winner].prefix
        try unsafe readers[winner].advance(scratch)
        // It has won against the others with an equal key.
        if isOneColumn, unsafe readers[winner].prefix == before, unsafe readers[winner].entry != nil,
            KeyPrefix.isWhole(before ^ mask)
        {
            return
        }
        var node = (winner + count) / 2
        while node > 0 {
            let other = unsafe losers[node]
            if isBefore(other, winner) {
                unsafe losers[node] = winner
                winner = other
            }
            node /= 2
        }
        unsafe losers[0] = winner
    }

    @inline(__always) private func isBefore(_ left: Int, _ right: Int) -> Bool {
        guard let one = unsafe readers[left].entry else { return false }
        guard let other = unsafe readers[right].entry else { return true }
        let prefixes = unsafe (readers[left].prefix, readers[right].prefix)
        if prefixes.0 != prefixes.1 { return prefixes.0 < prefixes.1 }
        let isWhole = KeyPrefix.isWhole(prefixes.0 ^ mask)
        if !(isWhole && isOneColumn) {
            let order = unsafe order.compare(one, other, from: isWhole ? 1 : 0)
            if order != 0 { return order < 0 }
        }
        return left < right
    }
}
