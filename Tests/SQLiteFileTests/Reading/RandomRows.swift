import CausewaySQLiteFile

/// Numbers from a seed (SplitMix64), the same everywhere.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            unsafe withUnsafeBytes(of: next()) { unsafe bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    mutating func cell(longest: Int) -> CellValue {
        switch Int.random(in: 0..<12, using: &self) {
        case 0, 1: .null
        case 2: .integer(Int64.random(in: 0...1, using: &self))
        case 3, 4, 5:
            .integer(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self))
        case 6: .real(Double(Int64.random(in: -99...99, using: &self)) / 8)
        case 7: .blob(bytes(Int.random(in: 0...longest, using: &self)))
        default: .text(String(repeating: "text \(next() % 1_000) ", count: Int.random(in: 0...5, using: &self)))
        }
    }

    /// Rows of ascending rowids with gaps.
    mutating func rows(_ count: Int, width: Int, longest: Int, from first: Int64 = 1) -> [PlainRow] {
        var rowid = first
        return (0..<count).map { _ in
            rowid += Int64.random(in: 1...3, using: &self)
            return PlainRow(rowid: rowid, cells: (0..<width).map { _ in cell(longest: longest) })
        }
    }
}
