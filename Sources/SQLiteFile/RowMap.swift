/// Where the cells of a pass are in the records of a table's own b-tree.
///
/// Such a record has the table's columns in the order of CREATE TABLE. It holds NULL where the row's key is a column,
/// and a whole number of a REAL column as an integer; it ends before columns that were added after it was written. A
/// statement's rows need no map: SQLite has done all that, and their n-th cell is the record's n-th.
@usableFromInline package struct RowMap: Sendable {
    /// One cell of the pass.
    package enum Cell: Hashable, Sendable {
        /// A column of the table, counted from 0. `isReal`: it has REAL affinity.
        case column(Int, isReal: Bool = false)
        /// The row's key: an INTEGER PRIMARY KEY, or `rowid` itself.
        case rowid
    }

    struct Place {
        /// nil: the row's key.
        let column: Int?
        let isReal: Bool
        /// The end of the run of cells, from this one on, that are adjacent in the record and carried as they are.
        let end: Int
    }

    let places: [Place]
    /// One record with each column's default for shorter rows.
    let defaults: RowBatch
    /// Columns of the table.
    let columns: Int

    /// - Parameters:
    ///   - cells: of the pass, in its order.
    ///   - defaults: of every column of the table, in the table's order.
    /// - Throws: `.tooLong` where the defaults are together over SQLite's largest record.
    package init(_ cells: [Cell], defaults: [CellValue]) throws(RecordError) {
        var places: [Place] = []
        for (index, cell) in cells.enumerated().reversed() {
            switch cell {
            case .rowid: places.append(Place(column: nil, isReal: false, end: index + 1))
            case .column(let column, let isReal):
                precondition(defaults.indices.contains(column), "the table has no such column")
                let next = places.last.flatMap { $0.isReal || isReal || $0.column != column + 1 ? nil : $0.end }
                places.append(Place(column: column, isReal: isReal, end: next ?? index + 1))
            }
        }
        self.places = places.reversed()
        self.defaults = RowBatch()
        columns = defaults.count
        let writer = RecordWriter(capacity: 1)
        let cells = try EncodedCells(defaults)
        writer.append(cells)
        try writer.finish(into: self.defaults, rowid: 0)
    }
}
