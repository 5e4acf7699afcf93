/// Which program is for a row.
package struct SpliceChoice: Sendable {
    /// The column of the source's table, of another affinity than REAL, whose integer chooses; nil: the first program
    /// is for all rows.
    let column: Int?
    /// By that integer; −1 for none.
    let programs: [Int32]

    /// The first program for every row.
    package static let first = SpliceChoice(column: nil, programs: [0])

    /// - Parameters:
    ///   - column: of the source's table.
    ///   - programs: by the integer in that column; rows with another are left to the caller.
    package init(column: Int, programs: [Int: Int]) {
        let numbers = programs.filter { (0...65_535).contains($0.key) }
        var list = Array(repeating: Int32(-1), count: (numbers.keys.max() ?? -1) + 1)
        for (number, program) in numbers { list[number] = Int32(truncatingIfNeeded: program) }
        self.init(column: column, programs: list)
    }

    private init(column: Int?, programs: [Int32]) {
        self.column = column
        self.programs = programs
    }
}
