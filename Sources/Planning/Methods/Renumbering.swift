extension KeptTable {
    /// Integers of one column that become others.
    package struct Renumbering: Hashable, Sendable {
        /// Place of the column in the records.
        package var place: Int
        /// The new number by the old one.
        package var numbers: [Int64: Int64]
    }
}

extension KeptTable.Renumbering {
    /// Whether of two numbers the smaller one stays the smaller.
    var keepsOrder: Bool {
        let new = numbers.sorted { $0.key < $1.key }.map(\.value)
        return zip(new, new.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// The first number that has another stored size than the one it becomes.
    var storedUnlike: (old: Int64, new: Int64)? {
        numbers.sorted { $0.key < $1.key }.first { !Self.isStoredAlike($0.key, $0.value) }.map { ($0.key, $0.value) }
    }

    /// Whether two integers have the same serial type, with bytes of their own: 0 and 1 have none
    /// (https://www.sqlite.org/fileformat2.html#record_format).
    private static func isStoredAlike(_ first: Int64, _ second: Int64) -> Bool {
        if first == second { return true }
        guard let length = storedBits(first) else { return false }
        return length == storedBits(second)
    }

    private static func storedBits(_ number: Int64) -> Int? {
        if number == 0 || number == 1 { return nil }
        let bits = Int64.bitWidth - (number < 0 ? ~number : number).leadingZeroBitCount + 1
        return [8, 16, 24, 32, 48, 64].first { bits <= $0 }
    }
}
