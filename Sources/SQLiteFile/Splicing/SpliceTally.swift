/// What a splicer has made since it was asked last.
package struct SpliceTally: Sendable {
    /// Rows of each program.
    package internal(set) var rows: [Int] = []
    /// For each program, cells that aren't NULL of each column that it counts.
    package internal(set) var cells: [[Int]] = []
    /// Count and digest of the records with their rowids, where they are asked for.
    package internal(set) var records = EntrySum()
    /// Bytes of the records.
    package internal(set) var bytes = 0

    /// Rows of all programs.
    package var count: Int { rows.reduce(0, +) }
}
