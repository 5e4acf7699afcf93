import CausewaySQLiteFile

/// Values at which orders go wrong: few enough that equal ones are frequent.
extension SeededNumbers {
    mutating func hardInteger() -> Int64 {
        let power = Int64(1) << Int64.random(in: 0...62, using: &self)
        let near = Int64.random(in: -3...3, using: &self)
        switch Int.random(in: 0..<8, using: &self) {
        case 0: return pick([.min, .min + 1, .max, .max - 1])
        case 1: return (1 << 53) + near
        case 2: return -(1 << 53) + near
        case 3: return power &+ near
        case 4: return -power &+ near
        default: return Int64.random(in: -20...300, using: &self)
        }
    }

    mutating func hardReal() -> Double {
        switch Int.random(in: 0..<8, using: &self) {
        case 0: return pick([0.0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude])
        case 1: return pick([0x1p63, -0x1p63, 0x1p53, -0x1p53, 0x1p63.nextUp, 0x1p63.nextDown, (-0x1p63).nextDown])
        case 2: return Double(hardInteger())
        case 3: return Double(hardInteger()).nextUp
        case 4: return Double(hardInteger()).nextDown
        case 5: return Double(Int64.random(in: -40...40, using: &self)) / 4
        case 6: return 700_000_000 + Double(Int64.random(in: 0...999, using: &self)) / 1_000
        default: return pick([1e300, -1e300, 1e-300, 5e17, 0.1])
        }
    }

    /// Bytes whose beginnings are equal, to different lengths.
    mutating func hardBytes(longest: Int) -> [UInt8] {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: return []
        case 1: return Array(repeating: pick([0, 97]), count: Int.random(in: 1...10, using: &self))
        case 2: return Array("https://example.com/\(next() % 500)".utf8)
        case 3: return Array(MadeRow.pattern[0..<Int.random(in: 0...120, using: &self)]) + [pick([0, 1, 255])]
        case 4: return Array(MadeRow.pattern[0..<Int.random(in: 0...longest, using: &self)])
        default: return bytes(Int.random(in: 0...20, using: &self))
        }
    }

    /// `longest`: bytes of a text or blob.
    mutating func hardCell(longest: Int) -> CellValue {
        switch Int.random(in: 0..<8, using: &self) {
        case 0, 1: .null
        case 2, 3: .integer(hardInteger())
        case 4: .real(hardReal())
        // Below 128, so that the bytes are UTF-8.
        case 5, 6: .text(String(decoding: hardBytes(longest: longest).map { $0 & 0x7f }, as: UTF8.self))
        default: .blob(hardBytes(longest: longest))
        }
    }
}
