import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Appends values to a record in the form in which INSERT would store them, by the column's affinity
/// (https://www.sqlite.org/datatype3.html#type_affinity).
final class AffinityWriter {
    enum Failure: Error {
        /// SQLite would convert the value.
        case misfit
        case record(RecordError)
    }

    let record = RecordWriter(capacity: 64)
    /// Long texts and blobs of the row: the record's writer only refers to them.
    private var held: [EncodedCells] = []

    /// Begins a row, whatever has become of the one before it.
    func begin() {
        if !held.isEmpty { held.removeAll(keepingCapacity: true) }
        record.begin()
    }

    /// Adds the row to a batch.
    func finish(into batch: RowBatch, rowid: Int64) throws(Failure) {
        do throws(RecordError) {
            try record.finish(into: batch, rowid: rowid)
        } catch {
            throw .record(error)
        }
        // The memory of one huge value must not stay.
        if !held.isEmpty { held.removeAll(keepingCapacity: true) }
    }

    func append(_ value: Int64, as affinity: Affinity) throws(Failure) {
        switch affinity {
        case .numeric, .blob: record.append(value)
        case .real: append(Double(value), form: .real)
        case .text: throw .misfit
        }
    }

    func append(_ value: Double, as affinity: Affinity) throws(Failure) {
        switch affinity {
        case .numeric: append(value, form: .numeric)
        case .real: append(value, form: .real)
        case .blob: record.append(value)
        case .text: throw .misfit
        }
    }

    private func append(_ value: Double, form: RecordForm.Numbers) {
        if let integer = RecordFormer.stored(value, as: form) { record.append(integer) } else { record.append(value) }
    }

    /// The text stays where it is until the record is finished.
    func append(text: UnsafeRawBufferPointer, as affinity: Affinity) throws(Failure) {
        // It may look like a number.
        guard affinity == .text || affinity == .blob else { throw .misfit }
        do throws(RecordError) {
            unsafe try record.appendText(text)
        } catch {
            throw .record(error)
        }
    }

    func append(_ value: CellValue, as affinity: Affinity) throws(Failure) {
        switch value {
        case .null: record.appendNull()
        case .integer(let value): try append(value, as: affinity)
        case .real(let value): try append(value, as: affinity)
        case .text, .blob:
            if case .text = value, affinity != .text, affinity != .blob { throw .misfit }
            do throws(RecordError) {
                let cells = try EncodedCells([value])
                held.append(cells)
                record.append(cells)
            } catch {
                throw .record(error)
            }
        }
    }

    /// A cell of a source row, bytes unchanged unless it is a number.
    ///
    /// - Parameters:
    ///   - cell: its place.
    ///   - source: stays on the row until the record is finished.
    ///   - origin: the affinity of the column that it is of; nil where it isn't a column's.
    ///   - affinity: of the new column.
    /// - Throws: a text that SQLite might convert; a record that is too long.
    func append(
        carried cell: Int, of source: RowView, from origin: Affinity?, as affinity: Affinity
    ) throws(Failure) {
        let type = source.serialType(at: cell)
        if type.isText {
            // One that such a column has already can't be a number that it would convert, as a long decimal.
            guard affinity == .text || affinity == .blob || origin == affinity else { throw .misfit }
        } else if type.isReal, let real = source.real(at: cell) {
            return try append(real, as: affinity)
        } else if type.isInteger, let integer = source.integer(at: cell) {
            return try append(integer, as: affinity)
        }
        record.append(cell: cell, of: source)
    }
}

extension EngineError {
    /// A new row that can't be formed as INSERT would store it.
    init(_ failure: AffinityWriter.Failure, _ place: String, column: String?) {
        switch failure {
        case .misfit: self.init(rowsDontFit: "\(place), column \(column ?? ""): a value of another kind")
        case .record(let error): self.init(.sourceData, "\(place): \(error.message)")
        }
    }
}
