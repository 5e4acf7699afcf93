/// Numbers and dates.
extension ValueRecipe {
    enum Number {
        case integer(Int)
        case real(Double)
    }

    /// 2015-01-01 00:00 UTC in seconds since 2001-01-01: the first rows are about that old.
    static let firstDate = 441_763_200.0
    /// Ten years, over which the rows of an entity were made.
    private static let dateSpan = 315_576_000.0
    /// A week: rows aren't made quite in order.
    private static let dateNoise = 604_800.0

    /// The row's number among all rows that have the attribute, from 0.
    func number(of row: RowPlace) -> Int { firstNumber + row.ordinal }

    /// nil for NULL, and for kinds that aren't numbers.
    func number(_ row: RowPlace, _ random: inout RandomStream) -> Number? {
        switch kind {
        case .boolean(let share):
            return .integer(Int(random.nextByte()) < share ? 1 : 0)
        case .integer(let bits, let range):
            let magnitude = Int(random.next() >> 1) & ((1 << random.next(below: bits + 1)) - 1)
            let (width, overflows) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
            if overflows || width == Int.max { return .integer(magnitude) }
            return .integer(range.lowerBound + magnitude % (width + 1))
        case .uniqueInteger(let range):
            let (value, overflows) = range.lowerBound.addingReportingOverflow(number(of: row))
            return overflows || value > range.upperBound ? nil : .integer(value)
        case .real(let bounds), .decimal(let bounds, _):
            // Hundredths up to 10, 100, … 1,000,000, each equally likely.
            var bound = 1_000
            for _ in 0..<random.next(below: 6) { bound *= 10 }
            return .real(bounds.fit(Double(random.next(below: bound)) / 100))
        case .uniqueReal(let first, let step):
            return .real(first + step * Double(number(of: row)))
        case .date(let bounds, let isUnique):
            return .real(isUnique ? uniqueDate(row, &random) : date(row, bounds, &random))
        case .text, .fixedText, .uuid, .uri, .binary, .external, .transformable:
            return nil
        }
    }

    private func date(_ row: RowPlace, _ bounds: ValueBounds, _ random: inout RandomStream) -> Double {
        let start = ValueRecipe.firstDate + ValueRecipe.dateSpan * (Double(row.ordinal) / Double(count))
        let unit = random.nextUnit()
        let moment = start + ValueRecipe.dateNoise * unit * unit
        // Some apps round their dates: SQLite turns these into integers (InsideStoreFormat §4.1).
        let isWhole = random.next(below: 4) == 0
        // Microseconds, so that equal dates are equal on any machine.
        return bounds.clamp(isWhole ? moment.rounded(.down) : (moment * 1_000_000).rounded() / 1_000_000)
    }

    /// A minute for each row.
    private func uniqueDate(_ row: RowPlace, _ random: inout RandomStream) -> Double {
        ValueRecipe.firstDate + Double(number(of: row) + 1) * 60 + Double(random.next(below: 59))
    }
}

extension ValueBounds {
    /// As `clamp`, but values beyond the bounds are spread over the range, where there is one.
    func fit(_ value: Double) -> Double {
        guard let least, let most, most > least, value < least || value > most else { return clamp(value) }
        let width = most - least
        return least + (value / 1_000).truncatingRemainder(dividingBy: 1).magnitude * width
    }
}

extension RandomStream {
    /// Bytes of a blob in a row: some hundred, now and then several thousand.
    mutating func blobLength() -> Int {
        let size = 16 << next(below: 6)
        return size + next(below: next(below: 64) == 0 ? 8_192 : size)
    }
}
