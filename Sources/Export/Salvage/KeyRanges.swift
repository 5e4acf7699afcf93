/// Keys that were seen: ranges of successive ones, since that is how Core Data gives them.
package struct KeyRanges {
    /// Ascending, not adjacent.
    private var ranges: [ClosedRange<Int64>] = []

    package init() {}

    /// The first range that ends at or after the key.
    private func place(of key: Int64) -> Int { ranges.firstPlace { $0.upperBound >= key } }

    package func contains(_ key: Int64) -> Bool {
        let place = place(of: key)
        return place < ranges.count && ranges[place].contains(key)
    }

    /// - Returns: false where the key was there.
    package mutating func insert(_ key: Int64) -> Bool {
        let place = place(of: key)
        if place < ranges.count, ranges[place].contains(key) { return false }
        let joinsLower = place > 0 && key > .min && ranges[place - 1].upperBound == key - 1
        let joinsUpper = place < ranges.count && key < .max && ranges[place].lowerBound == key + 1
        switch (joinsLower, joinsUpper) {
        case (true, true):
            ranges[place - 1] = ranges[place - 1].lowerBound...ranges[place].upperBound
            ranges.remove(at: place)
        case (true, false): ranges[place - 1] = ranges[place - 1].lowerBound...key
        case (false, true): ranges[place] = key...ranges[place].upperBound
        case (false, false): ranges.insert(key...key, at: place)
        }
        return true
    }
}

extension Array {
    /// The place of the first element that fulfils a condition, which all after it fulfil too; the end where none does.
    func firstPlace(where isThere: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isThere(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
