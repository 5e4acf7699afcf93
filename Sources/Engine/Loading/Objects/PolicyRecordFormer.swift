import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Makes records of the rows that mappings make, in the form in which INSERT would store their cells.
final class PolicyRecordFormer {
    /// A column of a table's records.
    struct Column: Sendable {
        /// Its place in `TableStorage.columns`; nil: NULL, as in the column that is another name of the rowid.
        let place: Int?
        let affinity: Affinity
    }

    enum Failure: Error {
        /// The value of this column, by its place in `TableStorage.columns`, would be converted by SQLite.
        case misfit(Int)
        case record(RecordError)

        init(_ failure: AffinityWriter.Failure, _ column: Int) {
            switch failure {
            case .misfit: self = .misfit(column)
            case .record(let error): self = .record(error)
            }
        }
    }

    private let writer = AffinityWriter()
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

    /// - Parameter input: carried cells are of such rows.
    func carry(from input: MappedRowForm.Input) {
        affinities = input.affinities
        source = input.map.map { RowView($0) } ?? RowView(capacity: PendingRows.maximumCells)
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
        do {
            try unsafe content.texts.withUnsafeBytes { texts in
                try unsafe append(row, of: content, texts, rows, columns)
                do throws(AffinityWriter.Failure) {
                    // Before the texts go: the writer only refers to them.
                    try writer.finish(into: batch, rowid: content.keys[row])
                } catch {
                    throw Failure(error, TableStorage.primaryKey)
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

    /// The integer in a carried cell of that row; nil where it has none.
    func integer(ofCarried cell: Int) -> Int64? { source.integer(at: cell) }

    /// Of a carried cell of the row that was formed last.
    func serialType(ofCarried cell: Int) -> SerialType { source.serialType(at: cell) }

    /// Whether the same cell holds NULL, or NaN, which is stored as NULL.
    func isNull(ofCarried cell: Int) -> Bool {
        source.serialType(at: cell).isNull || source.real(at: cell)?.isNaN == true
    }

    /// The same cell's number; nil where it is none.
    func number(ofCarried cell: Int) -> CellValue? {
        if let integer = source.integer(at: cell) { return .integer(integer) }
        return source.real(at: cell).map { .real($0) }
    }

    private func append(
        _ row: Int, of content: RowTable, _ texts: UnsafeRawBufferPointer, _ rows: PendingRows, _ columns: [Column]
    ) throws(Failure) {
        // Each of them is retained once for the row, not once for a cell.
        let (writer, source, affinities) = (writer, source, affinities)
        let record = writer.record
        writer.begin()
        let (cells, first) = (content.cells.span, row * content.columnCount)
        var isLoaded = false
        let columns = columns.span
        for index in columns.indices {
            let column = columns[index]
            guard let place = column.place else {
                record.appendNull()
                continue
            }
            do throws(AffinityWriter.Failure) {
                switch cells[first + place] {
                case .null: record.appendNull()
                case .integer(let value): try writer.append(value, as: column.affinity)
                case .real(let value): try writer.append(value, as: column.affinity)
                case .text(let text):
                    let bytes = unsafe UnsafeRawBufferPointer(rebasing: texts[text.range])
                    unsafe try writer.append(text: bytes, as: column.affinity)
                case .value(let index): try writer.append(content.values[Int(index)], as: column.affinity)
                case .temporary(let table, let index):
                    // A removed row isn't a target.
                    if let key = rows.key(table: table, index: index) {
                        record.append(key)
                    } else {
                        record.appendNull()
                    }
                case .carried(let cell):
                    if !isLoaded { try load(Int(content.sourceRows[row]), of: rows) }
                    isLoaded = true
                    let origin = affinities.indices.contains(Int(cell)) ? affinities[Int(cell)] : nil
                    try writer.append(carried: Int(cell), of: source, from: origin, as: column.affinity)
                case .appended: preconditionFailure("places are given before rows are written")
                }
            } catch {
                throw Failure(error, place)
            }
        }
    }

    private func load(_ row: Int, of rows: PendingRows) throws(AffinityWriter.Failure) {
        guard let batch = rows.batch else { preconditionFailure("carried cells come with their batch") }
        do throws(RecordError) {
            try source.load(row, of: batch)
        } catch {
            throw .record(error)
        }
    }
}
