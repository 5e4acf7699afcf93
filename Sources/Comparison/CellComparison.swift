import CausewaySQLite

/// How two cells compare.
enum CellVerdict {
    case equal
    /// Both have values of one storage class, or one has none.
    case different
    /// An integer against a text, a real against an integer.
    case differentClass
}

/// Cells of two statements' rows, compared as they are stored: storage class and bits. SQLite stores NaN as NULL; −0.0
/// isn't 0.0. Texts are compared as UTF-8, whatever the databases' encodings are.
enum CellComparison {
    static func verdict(
        _ a: borrowing Statement, _ first: Int, _ b: borrowing Statement, _ second: Int
    ) -> CellVerdict {
        let (left, right) = (a.type(at: first), b.type(at: second))
        guard left == right else { return left == .null || right == .null ? .different : .differentClass }
        let isEqual =
            switch left {
            case .null: true
            case .integer: a.int64(at: first) == b.int64(at: second)
            case .real: a.double(at: first).bitPattern == b.double(at: second).bitPattern
            case .text: unsafe isSame(a.unsafeText(at: first), b.unsafeText(at: second))
            case .blob: unsafe isSame(a.unsafeBytes(at: first), b.unsafeBytes(at: second))
            }
        return isEqual ? .equal : .different
    }

    /// Eight bytes at a time: values of megabytes are compared, too.
    @unsafe private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        let count = a.count
        guard count == b.count else { return false }
        guard count > 0, let left = a.baseAddress, let right = b.baseAddress else { return true }
        var offset = 0
        while offset &+ 8 <= count {
            let (one, other) = unsafe (
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            if one != other { return false }
            offset &+= 8
        }
        while offset < count {
            if unsafe a[offset] != b[offset] { return false }
            offset &+= 1
        }
        return true
    }
}
