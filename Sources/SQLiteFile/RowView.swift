/// The current row of a pass, cell by cell: the same whether its record was made from a statement's row or comes from a
/// page of the table (`RowMap`).
///
/// One view per thread, for the whole pass; it allocates nothing per row. The bytes of the record stay the caller's and
/// must live until the next `load`. Accessors of cells out of range are errors of the caller and trap.
@safe
@usableFromInline package final class RowView {
    @usableFromInline let record: RecordReader
    /// Without a map a cell is the record's own: decided once per pass, so that a statement's rows need no look-up.
    @usableFromInline let isMapped: Bool
    /// Behind a pointer: a property of a class would cost a runtime exclusivity check for each access from another
    /// module.
    @usableFromInline let key: UnsafeMutablePointer<Int64>
    private let places: [RowMap.Place]
    fileprivate let defaults: RecordReader
    /// Has the bytes of `defaults`.
    private let kept: RowBatch?

    /// Of rows whose n-th cell is the record's n-th, as those of a statement and those that a pass has made.
    ///
    /// - Parameter capacity: Most cells that a row may have.
    package init(capacity: Int) {
        record = RecordReader(capacity: capacity)
        isMapped = false
        unsafe key = .allocate(capacity: 1)
        unsafe key.initialize(to: 0)
        places = []
        defaults = RecordReader(capacity: 0)
        kept = nil
    }

    /// Of rows out of a table's own b-tree.
    package init(_ map: RowMap) {
        record = RecordReader(capacity: map.columns)
        isMapped = true
        unsafe key = .allocate(capacity: 1)
        unsafe key.initialize(to: 0)
        places = map.places
        defaults = RecordReader(capacity: map.columns)
        kept = map.defaults
        do {
            try unsafe defaults.load(map.defaults.record(at: 0))
        } catch {
            preconditionFailure("a map's defaults are a record that was made by it")
        }
    }

    deinit {
        unsafe key.deallocate()
    }

    /// Moves to a row. After a throw, the view has no cells.
    @unsafe @inlinable package func load(_ bytes: UnsafeRawBufferPointer, rowid: Int64) throws(RecordError) {
        try unsafe record.load(bytes)
        unsafe key.pointee = rowid
    }

    /// Moves to a row of a batch, which must stay as it is until the next row is loaded.
    @inlinable package func load(_ row: Int, of batch: RowBatch) throws(RecordError) {
        try unsafe load(batch.record(at: row), rowid: batch.rowid(at: row))
    }
}

extension RowView {
    @inlinable package var rowid: Int64 { unsafe key.pointee }

    /// Cells of the row.
    @inlinable package var count: Int { isMapped ? mappedCount : record.count }

    @inlinable package func serialType(at cell: Int) -> SerialType {
        isMapped ? mappedType(at: cell) : record.serialType(at: cell)
    }

    @inlinable package func isNull(at cell: Int) -> Bool { serialType(at: cell).isNull }

    /// The integer of a cell; nil when it holds another storage class.
    @inlinable package func integer(at cell: Int) -> Int64? {
        isMapped ? mappedInteger(at: cell) : record.integer(at: cell)
    }

    /// The number of a real cell; nil when it holds another storage class.
    @inlinable package func real(at cell: Int) -> Double? {
        isMapped ? mappedReal(at: cell) : record.real(at: cell)
    }

    /// The content of a text or a blob.
    @unsafe @inlinable package func unsafeBytes(at cell: Int) -> UnsafeRawBufferPointer {
        unsafe isMapped ? mappedBytes(at: cell) : record.unsafeBytes(at: cell)
    }

    /// Cells of a range, from its beginning, up to the first real.
    package func countBeforeReal(in cells: Range<Int>) -> Int {
        var cell = cells.lowerBound
        while cell < cells.upperBound {
            let (reader, columns): (RecordReader, Range<Int>)
            switch isMapped ? piece(from: cell, to: cells.upperBound) : .record(cell..<cells.upperBound) {
            case .record(let range): (reader, columns) = (record, range)
            case .defaults(let range): (reader, columns) = (defaults, range)
            case .integer:
                cell += 1
                continue
            case .real: return cell - cells.lowerBound
            }
            for column in columns where reader.serialType(at: column).isReal {
                return cell + column - columns.lowerBound - cells.lowerBound
            }
            cell += columns.count
        }
        return cells.count
    }

    /// Whether a new record has these cells, `first` the first of them: every byte of types and values.
    @inlinable package func isCarried(_ cells: Range<Int>, into made: RowView, at first: Int) -> Bool {
        isMapped
            ? isMappedCarried(cells, into: made.record, at: first)
            : record.isEqual(cells, to: made.record, at: first)
    }
}

/// Cells whose position differs from their number.
extension RowView {
    /// Where neighbouring cells come from.
    fileprivate enum Piece {
        case record(Range<Int>)
        case defaults(Range<Int>)
        case integer(Int64)
        case real(Double)
    }

    /// The cells from `cell` on, below `end`, that come from one place.
    fileprivate func piece(from cell: Int, to end: Int) -> Piece {
        let place = places[cell]
        guard let first = place.column else { return .integer(rowid) }
        let isPresent = first < record.count
        if place.isReal, let integer = (isPresent ? record : defaults).integer(at: first) {
            return .real(Double(integer))
        }
        let columns = first..<first + min(place.end, end) - cell
        return isPresent ? .record(columns.clamped(to: 0..<record.count)) : .defaults(columns)
    }

    @usableFromInline var mappedCount: Int { places.count }

    @usableFromInline func mappedType(at cell: Int) -> SerialType {
        switch piece(from: cell, to: cell + 1) {
        case .record(let columns): record.serialType(at: columns.lowerBound)
        case .defaults(let columns): defaults.serialType(at: columns.lowerBound)
        case .integer(let value): .integer(value)
        case .real: .real
        }
    }

    @usableFromInline func mappedInteger(at cell: Int) -> Int64? {
        switch piece(from: cell, to: cell + 1) {
        case .record(let columns): record.integer(at: columns.lowerBound)
        case .defaults(let columns): defaults.integer(at: columns.lowerBound)
        case .integer(let value): value
        case .real: nil
        }
    }

    @usableFromInline func mappedReal(at cell: Int) -> Double? {
        switch piece(from: cell, to: cell + 1) {
        case .record(let columns): record.real(at: columns.lowerBound)
        case .defaults(let columns): defaults.real(at: columns.lowerBound)
        case .integer: nil
        case .real(let value): value
        }
    }

    @unsafe @usableFromInline func mappedBytes(at cell: Int) -> UnsafeRawBufferPointer {
        switch piece(from: cell, to: cell + 1) {
        case .record(let columns): unsafe record.unsafeBytes(at: columns.lowerBound)
        case .defaults(let columns): unsafe defaults.unsafeBytes(at: columns.lowerBound)
        case .integer, .real: unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    @usableFromInline func isMappedCarried(_ cells: Range<Int>, into made: RecordReader, at first: Int) -> Bool {
        var cell = cells.lowerBound
        var place = first
        while cell < cells.upperBound {
            var count = 1
            let isEqual: Bool
            switch piece(from: cell, to: cells.upperBound) {
            case .record(let columns):
                count = columns.count
                isEqual = record.isEqual(columns, to: made, at: place)
            case .defaults(let columns):
                count = columns.count
                isEqual = defaults.isEqual(columns, to: made, at: place)
            case .integer(let value): isEqual = made.integer(at: place) == value
            case .real(let value): isEqual = made.real(at: place)?.bitPattern == value.bitPattern
            }
            guard isEqual else { return false }
            cell += count
            place += count
        }
        return true
    }
}

extension RecordWriter {
    /// Carries a run of cells of a row: adjacent cells of its record with two copies, however many there are.
    @inlinable package func append(cells: Range<Int>, of row: RowView) {
        if row.isMapped { return appendMapped(cells, of: row) }
        append(cells: cells, of: row.record)
    }

    /// Carries one cell of a row.
    @inlinable package func append(cell: Int, of row: RowView) {
        append(cells: cell..<cell + 1, of: row)
    }

    @usableFromInline func appendMapped(_ cells: Range<Int>, of row: RowView) {
        var cell = cells.lowerBound
        while cell < cells.upperBound {
            var count = 1
            switch row.piece(from: cell, to: cells.upperBound) {
            case .record(let columns):
                count = columns.count
                append(cells: columns, of: row.record)
            case .defaults(let columns):
                count = columns.count
                append(cells: columns, of: row.defaults)
            case .integer(let value): append(value)
            case .real(let value): append(value)
            }
            cell += count
        }
    }
}
