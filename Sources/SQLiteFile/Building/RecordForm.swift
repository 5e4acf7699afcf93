/// The form that rows take in the records of a table's own b-tree: the inverse of `RowMap`.
///
/// A row that a pass has made has its cells in the order of the pass, the key among them, and numbers as they were
/// made. A record of the table has the columns in the order of CREATE TABLE, NULL in place of the rowid's column, and a
/// whole number in a numeric column as an integer (https://www.sqlite.org/datatype3.html#type_affinity,
/// https://www.sqlite.org/fileformat2.html#record_format).
package struct RecordForm: Sendable {
    /// What a column of the table holds.
    package enum Column: Hashable, Sendable {
        /// The row's cell of this number.
        case cell(Int, Numbers = .asMade)
        /// Nothing: the column is another name of the rowid, or the pass doesn't fill it.
        case null
    }

    /// How a column stores numbers.
    package enum Numbers: Hashable, Sendable {
        /// As they were made: no affinity, or TEXT.
        case asMade
        /// A real that is a whole number becomes an integer.
        case numeric
        /// A real that is a whole number is stored as an integer, and read as a real again.
        case real
    }

    enum Piece: Hashable {
        case nulls(Int)
        case cells(Range<Int>)
    }

    /// Adjacent columns that are copied together.
    let pieces: [Piece]
    /// Cells whose reals may become integers.
    let numbers: [(cell: Int, form: Numbers)]
    /// Cells of a row that a pass makes.
    let cells: Int

    /// - Parameters:
    ///   - columns: of the table, in the order of its records.
    ///   - cells: of a row.
    package init(_ columns: [Column], cells: Int) {
        var pieces: [Piece] = []
        var numbers: [(cell: Int, form: Numbers)] = []
        for column in columns {
            switch (column, pieces.last) {
            case (.null, .nulls(let count)?): pieces[pieces.count - 1] = .nulls(count + 1)
            case (.null, _): pieces.append(.nulls(1))
            case (.cell(let cell, _), .cells(let range)?) where range.upperBound == cell:
                pieces[pieces.count - 1] = .cells(range.lowerBound..<cell + 1)
            case (.cell(let cell, _), _): pieces.append(.cells(cell..<cell + 1))
            }
            if case .cell(let cell, let form) = column, form != .asMade { numbers.append((cell, form)) }
        }
        self.pieces = pieces
        self.numbers = numbers.sorted { $0.cell < $1.cell }
        self.cells = cells
    }
}

/// Makes the records of a table from the rows that a pass has made: one per worker.
package final class RecordFormer {
    private let form: RecordForm
    private let row: RecordReader
    private let writer: RecordWriter

    package init(_ form: RecordForm) {
        self.form = form
        row = RecordReader(capacity: form.cells)
        writer = RecordWriter(capacity: form.pieces.count)
    }

    /// Makes the record of every row of `rows` and adds it to `records`.
    ///
    /// - Throws: `RecordError` where a row isn't one of the pass's, or its record is over SQLite's largest.
    package func form(_ rows: RowBatch, into records: RowBatch) throws(RecordError) {
        for index in 0..<rows.count {
            try unsafe row.load(rows.record(at: index))
            guard row.count == form.cells else { throw RecordError(code: .badHeader, offset: 0) }
            writer.begin()
            for piece in form.pieces {
                switch piece {
                case .nulls(let count): for _ in 0..<count { writer.appendNull() }
                case .cells(let range): append(range)
                }
            }
            try writer.finish(into: records, rowid: rows.rowid(at: index))
        }
    }

    /// Appends cells, in as few copies as there are reals to change between them.
    private func append(_ range: Range<Int>) {
        var first = range.lowerBound
        for (cell, form) in form.numbers where range.contains(cell) {
            guard let real = row.real(at: cell), let integer = Self.stored(real, as: form) else { continue }
            writer.append(cells: first..<cell, of: row)
            writer.append(integer)
            first = cell + 1
        }
        writer.append(cells: first..<range.upperBound, of: row)
    }

    /// The integer that SQLite stores for a real; nil where it stores the real.
    ///
    /// NUMERIC takes every integer but the least (vdbemem.c, `sqlite3VdbeIntegerAffinity`); REAL those that need at
    /// most six bytes, since more would save nothing (vdbe.c, `OP_MakeRecord`).
    package static func stored(_ real: Double, as form: RecordForm.Numbers) -> Int64? {
        guard let integer = Int64(exactly: real), form != .asMade, integer != .min else { return nil }
        return form == .numeric || SerialType.integer(integer).length < 8 ? integer : nil
    }
}
