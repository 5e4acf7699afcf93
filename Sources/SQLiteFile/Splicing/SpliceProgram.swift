/// How records of one table become records of another without their cells being decoded: what each column of the new
/// table gets.
///
/// Made once for all rows of a kind. The records are those that `RowView`, `RecordWriter` and `RecordFormer` make
/// together, byte for byte; for a row that needs more than copying, `RecordSplicer` says so.
package struct SpliceProgram: Sendable {
    /// What a column of the new table gets.
    package enum Column: Hashable, Sendable {
        /// The cell of a column of the source's table; NULL where the record ends before it. `isReal`: that column has
        /// REAL affinity.
        case carried(Int, isReal: Bool = false, RecordForm.Numbers = .asMade)
        /// The same value for all rows.
        case constant(CellValue, RecordForm.Numbers = .asMade)
        /// Another integer for that of a column of the source's table, which hasn't REAL affinity; NULL for what isn't
        /// named.
        case renumbered(Int, [Int: Int])
    }

    /// Rows that need more than copying.
    package enum Exception: Hashable, Sendable {
        /// The column of the source's table holds NULL.
        case null(Int)
        /// The column, which hasn't REAL affinity, holds one of these integers.
        case integer(Int, among: Set<Int>)
        /// The column, which hasn't REAL affinity, holds neither an integer nor NULL.
        case otherThanInteger(Int)
    }

    enum Step {
        /// Adjacent columns that are copied together.
        case carried(Range<Int>)
        case constants(EncodedCells)
        /// By the integer of the column; `noNumber` for NULL.
        case renumbered(Int, [Int64])
    }

    /// Stands for NULL among the numbers of a step; no Z_ENT is that small.
    static let noNumber = Int64.min
    /// Integers of a step are looked up in an array: up to this one.
    private static let largestNumber = 65_535

    let steps: [Step]
    let exceptions: [Exception]
    /// Columns whose reals may be stored as integers.
    let reals: [(column: Int, form: RecordForm.Numbers)]
    /// Columns of REAL affinity, whose integers are read as reals: only where the new column has it too, they are
    /// stored as they are.
    let wholeReals: [(column: Int, form: RecordForm.Numbers)]
    /// Columns of the source's table whose cells that aren't NULL are counted; nil: of every row.
    let counted: [Int?]

    /// nil where the integers to renumber are too large for it.
    ///
    /// - Parameters:
    ///   - columns: of the new table, in the order of its records.
    ///   - exceptions: rows that aren't spliced.
    ///   - counted: columns of the source's table whose cells that aren't NULL are counted; nil: of every row.
    /// - Throws: `.tooLong` where the constants are together over SQLite's largest record.
    package init?(_ columns: [Column], exceptions: [Exception] = [], counted: [Int?] = []) throws(RecordError) {
        var steps: [Step] = []
        var constants: [CellValue] = []
        var reals: [(column: Int, form: RecordForm.Numbers)] = []
        var wholeReals: [(column: Int, form: RecordForm.Numbers)] = []
        for column in columns {
            if case .constant(let value, let form) = column {
                constants.append(Self.stored(value, as: form))
                continue
            }
            if !constants.isEmpty { steps.append(.constants(try EncodedCells(constants))) }
            constants = []
            switch column {
            case .carried(let cell, let isReal, let form):
                if case .carried(let before)? = steps.last, before.upperBound == cell {
                    steps[steps.count - 1] = .carried(before.lowerBound..<cell + 1)
                } else {
                    steps.append(.carried(cell..<cell + 1))
                }
                if form != .asMade { reals.append((cell, form)) }
                if isReal { wholeReals.append((cell, form)) }
            case .renumbered(let cell, let numbers):
                guard let numbers = Self.array(numbers) else { return nil }
                steps.append(.renumbered(cell, numbers))
            case .constant: break
            }
        }
        if !constants.isEmpty { steps.append(.constants(try EncodedCells(constants))) }
        self.steps = steps
        self.exceptions = exceptions
        self.reals = reals
        self.wholeReals = wholeReals
        self.counted = counted
    }

    private static func stored(_ value: CellValue, as form: RecordForm.Numbers) -> CellValue {
        guard case .real(let real) = value, let integer = RecordFormer.stored(real, as: form) else { return value }
        return .integer(integer)
    }

    private static func array(_ numbers: [Int: Int]) -> [Int64]? {
        guard let largest = numbers.keys.max() else { return [] }
        guard largest <= largestNumber, numbers.keys.allSatisfy({ $0 >= 0 }) else { return nil }
        var result = Array(repeating: noNumber, count: largest + 1)
        for (number, other) in numbers { result[number] = Int64(other) }
        return result
    }
}
