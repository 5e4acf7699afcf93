import CausewaySQLiteFile

/// Cells: texts are copied into one array for all rows, other values that need memory of their own are kept as they
/// are.
extension RowTable {
    /// Bytes of a text over which it isn't copied.
    private static let longestText = 1 << 16
    /// Bytes of all texts over which none is copied any more: 4,096 rows of 4 KiB. A hook that sets a cell again and
    /// again can't fill the memory.
    private static let mostTextBytes = 1 << 24

    /// What a cell holds, with a copy of its text.
    func cell(_ row: Int, _ column: Int) -> Cell {
        switch cells[row * columnCount + column] {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let place): .text(TextScalars.string(ofValid: texts.span.extracting(place.range)))
        case .value(let index): Cell(values[Int(index)])
        case .carried(let cell): .carried(cell)
        case .temporary(let table, let index): .temporary(table: table, index: index)
        case .appended: .appended
        }
    }

    /// Changes a cell; that of a stored row becomes one of its changes.
    mutating func set(_ row: Int, _ column: Int, to cell: Cell) {
        fill(row, column, with: cell)
        if case .appended = cell { notePlace(row, column) }
        noteChange(row, column)
    }

    /// Gives a cell the value that its row was made or read with.
    mutating func fill(_ row: Int, _ column: Int, with cell: Cell) {
        let place = row * columnCount + column
        switch cell {
        case .null: cells[place] = .null
        case .integer(let value): cells[place] = .integer(value)
        case .real(let value): cells[place] = .real(value)
        case .text(var text):
            let isKept = text.withUTF8 { bytes in unsafe keep(UnsafeRawBufferPointer(bytes), at: place) }
            if !isKept { keep(.text(text), at: place) }
        case .blob(let bytes): keep(.blob(bytes), at: place)
        case .carried(let cell): cells[place] = .carried(cell)
        case .temporary(let table, let index): cells[place] = .temporary(table: table, index: index)
        case .appended: cells[place] = .appended
        }
    }

    /// Changes a cell to a text whose bytes are valid UTF-8.
    mutating func set(_ row: Int, _ column: Int, toValid utf8: Span<UInt8>) {
        let place = row * columnCount + column
        let isKept = unsafe utf8.withUnsafeBytes { bytes in unsafe keep(bytes, at: place) }
        if !isKept {
            keep(.text(TextScalars.string(ofValid: utf8)), at: place)
        }
        noteChange(row, column)
    }

    /// Fills cells of a new row with those of its source row.
    mutating func carry(_ columns: ArraySlice<CarriedColumn>, to row: Int) {
        let first = row * columnCount
        for each in columns { cells[first + each.column] = .carried(each.cell) }
    }

    /// Copies a text, if it is short enough.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
        guard bytes.count <= Self.longestText, texts.count + bytes.count <= Self.mostTextBytes else { return false }
        let text = TextPlace(
            offset: UInt32(truncatingIfNeeded: texts.count), length: UInt32(truncatingIfNeeded: bytes.count))
        unsafe texts.append(contentsOf: bytes)
        cells[place] = .text(text)
        return true
    }

    /// Keeps a value, in the place of the cell's last one if there is one.
    private mutating func keep(_ value: CellValue, at place: Int) {
        if case .value(let index) = cells[place] {
            values[Int(index)] = value
            return
        }
        cells[place] = .value(Int32(truncatingIfNeeded: values.count))
        values.append(value)
    }
}

/// A column of a new row that the default policy fills with a cell of its source row.
struct CarriedColumn {
    var cell: Int32
    var column: Int
}
