/// Keys that were seen: ranges of successive ones, since that is how Core Data gives them.
package struct KeyRanges {
    /// Not adjacent.
    private var ranges = SortedBlocks<ClosedRange<Int64>>()

    package init() {}

    /// The first range that ends at or after the key.
    private func place(of key: Int64) -> SortedBlocks<ClosedRange<Int64>>.Place {
        ranges.firstPlace { $0.upperBound >= key }
    }

    package func contains(_ key: Int64) -> Bool {
        let place = place(of: key)
        return !ranges.isEnd(place) && ranges[place].contains(key)
    }

    /// - Returns: false where the key was there.
    package mutating func insert(_ key: Int64) -> Bool {
        let place = place(of: key)
        let upper = ranges.isEnd(place) ? nil : ranges[place]
        if let upper, upper.contains(key) { return false }
        let before = ranges.place(before: place)
        let joined = before.flatMap { key > .min && ranges[$0].upperBound == key - 1 ? $0 : nil }
        let joinsUpper = upper.map { key < .max && $0.lowerBound == key + 1 } ?? false
        switch (joined, joinsUpper) {
        case (let lower?, true):
            ranges[lower] = ranges[lower].lowerBound...ranges[place].upperBound
            ranges.remove(at: place)
        case (let lower?, false): ranges[lower] = ranges[lower].lowerBound...key
        case (nil, true): ranges[place] = key...ranges[place].upperBound
        case (nil, false): ranges.insert(key...key, at: place)
        }
        return true
    }
}
