import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Makes records of the rows that mappings make, in the form in which INSERT would store their cells.
final class PolicyRecordFormer {
    /// A column of a table's records.
    struct Column {
        /// Its place in `TableStorage.columns`; nil: NULL, as in the column that is another name of the rowid.
        let place: Int?
        let affinity: Affinity
    }

    enum Failure: Error {
        /// The value of this column, by its place in `TableStorage.columns`, would be converted by SQLite.
        case misfit(Int)
        case record(RecordError)
    }

    private let writer = RecordWriter(capacity: 64)
    /// Long texts and blobs of the row: the writer only refers to them.
    private var held: [EncodedCells] = []
    /// The source's row of carried cells.
    private var source = RowView(capacity: PendingRows.maximumCells)

    static func columns(of table: StoreSchema.Table, _ storage: TableStorage) -> [Column] {
        table.columns.map { column in
            let place = storage.columns.firstIndex { $0.name.lowercased() == column.name.lowercased() }
            return Column(place: table.isRowID(column) ? nil : place, affinity: Affinity(column.declaredType))
        }
    }

    /// Affinities of the source's columns, by carried cell.
    private var affinities: [Affinity?] = []

    /// - Parameters:
    ///   - map: carried cells are of records in this form (nil: as those of a statement).
    ///   - affinities: of their columns; nil where a cell isn't a column's.
    func carry(from map: RowMap?, affinities: [Affinity?]) {
        self.affinities = affinities
        source = map.map { RowView($0) } ?? RowView(capacity: PendingRows.maximumCells)
    }

    /// Adds the record of a new row to a batch.
    ///
    /// - Parameters:
    ///   - row: its place in `content`, with its key.
    ///   - content: the rows of its table.
    ///   - rows: those of all tables.
    ///   - columns: of the table's records.
    ///   - batch: gets the record.
    /// - Throws: the first cell that doesn't fit, or why there can't be such a record.
    func form(
        _ row: Int, of content: RowTable, _ rows: PendingRows, _ columns: [Column], into batch: RowBatch
    ) throws(Failure) {
        defer { held.removeAll(keepingCapacity: true) }
        do {
            try unsafe content.texts.withUnsafeBytes { texts in
                try unsafe append(row, of: content, texts, rows, columns)
                do throws(RecordError) {
                    // Before the texts go: the writer only refers to them.
                    try writer.finish(into: batch, rowid: content.keys[row])
                } catch {
                    throw Failure.record(error)
                }
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            preconditionFailure("nothing else is thrown")
        }
    }

    /// The integer in a column of the row that was formed last; nil where it has none.
    func integer(_ row: Int, _ column: Int, of content: RowTable) -> Int64? {
        switch content.cells[row * content.columnCount + column] {
        case .integer(let value): value
        case .carried(let cell): source.integer(at: Int(cell))
        default: nil
        }
    }

    /// Of a carried cell of the row that was formed last.
    func serialType(ofCarried cell: Int) -> SerialType { source.serialType(at: cell) }

    /// The same cell's number; nil where it is none.
    func number(ofCarried cell: Int) -> CellValue? {
        if let integer = source.integer(at: cell) { return .integer(integer) }
        return source.real(at: cell).map { .real($0) }
    }

    private func append(
        _ row: Int, of content: RowTable, _ texts: UnsafeRawBufferPointer, _ rows: PendingRows, _ columns: [Column]
    ) throws(Failure) {
        writer.begin()
        let first = row * content.columnCount
        var isLoaded = false
        for column in columns {
            guard let place = column.place else {
                writer.appendNull()
                continue
            }
            switch content.cells[first + place] {
            case .null: writer.appendNull()
            case .integer(let value): try append(value, column)
            case .real(let value): try append(value, column)
            case .text(let text):
                unsafe try append(text: UnsafeRawBufferPointer(rebasing: texts[text.range]), column)
            case .value(let index): try append(content.values[Int(index)], column)
            case .temporary(let table, let index):
                // A removed row isn't a target.
                if let key = rows.key(table: table, index: index) { writer.append(key) } else { writer.appendNull() }
            case .carried(let cell):
                if !isLoaded {
                    try load(Int(content.sourceRows[row]), of: rows)
                    isLoaded = true
                }
                try append(carried: Int(cell), column)
            case .appended: preconditionFailure("places are given before rows are written")
            }
        }
    }

    private func load(_ row: Int, of rows: PendingRows) throws(Failure) {
        guard let batch = rows.batch else { preconditionFailure("carried cells come with their batch") }
        do throws(RecordError) {
            try source.load(row, of: batch)
        } catch {
            throw .record(error)
        }
    }

    // MARK: - Values, as the column's affinity stores them (https://www.sqlite.org/datatype3.html#type_affinity)

    private func append(_ value: Int64, _ column: Column) throws(Failure) {
        switch column.affinity {
        case .numeric, .blob: writer.append(value)
        case .real: try append(Double(value), column)
        case .text: throw misfit(column)
        }
    }

    private func append(_ value: Double, _ column: Column) throws(Failure) {
        switch column.affinity {
        case .numeric: append(value, as: .numeric)
        case .real: append(value, as: .real)
        case .blob: writer.append(value)
        case .text: throw misfit(column)
        }
    }

    private func append(_ value: Double, as form: RecordForm.Numbers) {
        if let integer = RecordFormer.stored(value, as: form) { writer.append(integer) } else { writer.append(value) }
    }

    private func append(text: UnsafeRawBufferPointer, _ column: Column) throws(Failure) {
        // It may look like a number.
        guard column.affinity == .text || column.affinity == .blob else { throw misfit(column) }
        do throws(RecordError) {
            unsafe try writer.appendText(text)
        } catch {
            throw .record(error)
        }
    }

    private func append(_ value: CellValue, _ column: Column) throws(Failure) {
        switch value {
        case .null: writer.appendNull()
        case .integer(let value): try append(value, column)
        case .real(let value): try append(value, column)
        case .text, .blob:
            if case .text = value, column.affinity != .text, column.affinity != .blob { throw misfit(column) }
            do throws(RecordError) {
                let cells = try EncodedCells([value])
                held.append(cells)
                writer.append(cells)
            } catch {
                throw .record(error)
            }
        }
    }

    private func append(carried cell: Int, _ column: Column) throws(Failure) {
        let type = source.serialType(at: cell)
        if type.isText {
            // One that such a column has already can't be a number that it would convert, as a long decimal.
            let isConverted = affinities.indices.contains(cell) && affinities[cell] == column.affinity
            guard column.affinity == .text || column.affinity == .blob || isConverted else { throw misfit(column) }
        } else if let real = source.real(at: cell) {
            return try append(real, column)
        } else if let integer = source.integer(at: cell) {
            return try append(integer, column)
        }
        writer.append(cell: cell, of: source)
    }

    private func misfit(_ column: Column) -> Failure { .misfit(column.place ?? 0) }
}
