/// Where a row was found: a leaf that can be read again.
package enum SalvagedLeaf: Hashable {
    /// By its number: the tree of the row's table leads to it.
    case tree(Int)
    /// By its number: nothing but the row itself says whose it is.
    case stray(Int)
    /// By its place among the pages of the `-wal` that SQLite doesn't read.
    case unreached(Int)
}

/// The keys of a table whose rows were written, and the leaves that these are on, as far as there is room for them.
///
/// Rows of a leaf have successive keys, so that a leaf takes a few bytes, not a row. Damaged keys lie between others
/// and take more.
package struct WrittenKeys {
    /// Keys that are on one leaf if they were written at all.
    private struct Run {
        var lower: Int64
        var upper: Int64
        let leaf: SalvagedLeaf
    }

    private let most: Int
    private var keys = KeyRanges()
    /// None overlaps another.
    private var runs = SortedBlocks<Run>()

    /// Runs that are kept: 10 MB. What is on later leaves is known by its key alone.
    package static let mostRuns = 1 << 18

    package init(most: Int = Self.mostRuns) {
        self.most = most
    }

    package func contains(_ key: Int64) -> Bool { keys.contains(key) }

    /// - Returns: false where the key was there; the leaf isn't kept then.
    package mutating func insert(_ key: Int64, on leaf: SalvagedLeaf) -> Bool {
        guard keys.insert(key) else { return false }
        guard runs.count < most else { return true }
        let place = place(of: key)
        let before = runs.place(before: place)
        if !runs.isEnd(place), runs[place].lower <= key {
            if runs[place].leaf != leaf { split(place, at: key, leaf) }
        } else if let before, runs[before].leaf == leaf {
            runs[before].upper = key
        } else if !runs.isEnd(place), runs[place].leaf == leaf {
            runs[place].lower = key
        } else {
            add(key...key, leaf)
        }
        return true
    }

    /// The leaf with the row of a key; nil where none was written, and where there was no room.
    package func leaf(of key: Int64) -> SalvagedLeaf? {
        let place = place(of: key)
        guard keys.contains(key), !runs.isEnd(place), runs[place].lower <= key else { return nil }
        return runs[place].leaf
    }

    /// The first run that ends at or after the key.
    private func place(of key: Int64) -> SortedBlocks<Run>.Place { runs.firstPlace { $0.upper >= key } }

    private mutating func add(_ keys: ClosedRange<Int64>, _ leaf: SalvagedLeaf) {
        runs.insert(Run(lower: keys.lowerBound, upper: keys.upperBound, leaf: leaf), at: place(of: keys.lowerBound))
    }

    /// Takes a key out of another leaf's run.
    private mutating func split(_ place: SortedBlocks<Run>.Place, at key: Int64, _ leaf: SalvagedLeaf) {
        let whole = runs[place]
        runs.remove(at: place)
        if whole.lower < key { add(whole.lower...key - 1, whole.leaf) }
        if whole.upper > key { add(key + 1...whole.upper, whole.leaf) }
        if let before = runs.place(before: self.place(of: key)), runs[before].leaf == leaf {
            runs[before].upper = key
        } else {
            add(key...key, leaf)
        }
    }
}
