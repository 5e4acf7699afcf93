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
    /// Ascending; none overlaps another.
    private var runs: [Run] = []

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
        if place < runs.count, runs[place].lower <= key {
            if runs[place].leaf != leaf { split(place, at: key, leaf) }
        } else if place > 0, runs[place - 1].leaf == leaf {
            runs[place - 1].upper = key
        } else if place < runs.count, runs[place].leaf == leaf {
            runs[place].lower = key
        } else {
            runs.insert(Run(lower: key, upper: key, leaf: leaf), at: place)
        }
        return true
    }

    /// The leaf with the row of a key; nil where none was written, and where there was no room.
    package func leaf(of key: Int64) -> SalvagedLeaf? {
        let place = place(of: key)
        guard keys.contains(key), place < runs.count, runs[place].lower <= key else { return nil }
        return runs[place].leaf
    }

    /// The first run that ends at or after the key.
    private func place(of key: Int64) -> Int { runs.firstPlace { $0.upper >= key } }

    /// Takes a key out of another leaf's run.
    private mutating func split(_ place: Int, at key: Int64, _ leaf: SalvagedLeaf) {
        let whole = runs[place]
        var parts: [Run] = []
        if whole.lower < key { parts.append(Run(lower: whole.lower, upper: key - 1, leaf: whole.leaf)) }
        if parts.isEmpty, place > 0, runs[place - 1].leaf == leaf {
            runs[place - 1].upper = key
        } else {
            parts.append(Run(lower: key, upper: key, leaf: leaf))
        }
        if whole.upper > key { parts.append(Run(lower: key + 1, upper: whole.upper, leaf: whole.leaf)) }
        runs.replaceSubrange(place...place, with: parts)
    }
}
