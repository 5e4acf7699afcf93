import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Makes the record of a destination row from the current source row.
final class RowMaker {
    private let pass: RowPass
    private let row: RowView
    private let stock: RecipeStock
    private let external: ExternalValues
    private let writer: RecordWriter
    /// Values made for the current row; the writer refers to them until its record is finished.
    private var made: [EncodedCells] = []
    /// Values of the current row that can't be read, and are NULL in the new row.
    private(set) var setAside: [BadRow] = []

    init(_ pass: RowPass, row: RowView, stock: RecipeStock, external: ExternalValues) {
        self.pass = pass
        self.row = row
        self.stock = stock
        self.external = external
        writer = RecordWriter(capacity: pass.destinationColumns.count)
    }

    /// Makes the row and puts it at the end of `output`.
    ///
    /// - Parameters:
    ///   - program: of the row's projection.
    ///   - optional: cells with external values that become NULL if they can't be read.
    ///   - output: gets the row.
    /// - Throws: `BadRow` for a bad row, else `EngineError` or `RecordError`; the output is unchanged then.
    func make(_ program: [RowOperation], optional: [Int] = [], into output: RowBatch) throws {
        writer.begin()
        made.removeAll(keepingCapacity: true)
        if !setAside.isEmpty { setAside = [] }
        for operation in program { try run(operation, optional) }
        try writer.finish(into: output, rowid: row.rowid)
    }

    private func run(_ operation: RowOperation, _ optional: [Int]) throws {
        switch operation {
        case .carry(let range): writer.append(cells: range, of: row)
        case .literals(let place): writer.append(stock.literals[place])
        case .carryOr(let cell, let literal): carry(cell, literal: literal)
        case .converted(let cell, let conversion, let literal): convert(cell, stock.conversions[conversion], literal)
        case .key(let cell, let entity, let dropped):
            if let number = try entityNumber(at: entity), stock.dropped[dropped].contains(number) {
                writer.appendNull()
            } else {
                writer.append(cell: cell, of: row)
            }
        case .entityNumber(let cell, let numbers):
            if let number = try entityNumber(at: cell), let mapped = stock.numbers[numbers][number] {
                writer.append(Int64(mapped))
            } else {
                writer.appendNull()
            }
        case .literalIfPresent(let cell, let literal):
            if row.isNull(at: cell) { writer.appendNull() } else { writer.append(stock.literals[literal]) }
        case .first(let operation, let position):
            if row.integer(at: position) == CellRecipe.firstPosition {
                try run(stock.operations[operation], optional)
            } else {
                writer.appendNull()
            }
        case .inlined(let cell, let attribute):
            do {
                try make(from: cell, stock.attributes[attribute]) { try content(of: $0, stock.attributes[attribute]) }
            } catch let bad as BadRow where optional.contains(cell) {
                setAside.append(bad)
                writer.appendNull()
            }
        case .prefixed(let cell, let attribute):
            try make(from: cell, stock.attributes[attribute]) { [ExternalValues.inlinePrefix] + $0 }
        case .historyBitmap(let cell, let map): try make(from: cell, column(at: cell)) { stock.maps[map]($0) }
        }
    }

    /// The Z_ENT of a link's target; nil for NULL.
    private func entityNumber(at cell: Int) throws(BadRow) -> Int? {
        if let number = row.integer(at: cell) { return Int(number) }
        if row.isNull(at: cell) { return nil }
        let column = column(at: cell)
        throw BadRow(code: .migration, property: column, reason: "\(column): \(LinkEntity.complaint)")
    }

    /// `literal` is its place; nil: NULL stays NULL.
    private func carry(_ cell: Int, literal: Int?) {
        if let literal, row.isNull(at: cell) {
            writer.append(stock.literals[literal])
        } else {
            writer.append(cell: cell, of: row)
        }
    }

    private func convert(_ cell: Int, _ conversion: NumericConversion, _ literal: Int?) {
        guard let number = row.number(at: cell) else { return carry(cell, literal: literal) }
        switch conversion.applied(to: number) {
        case .integer(let value): writer.append(value)
        case .real(let value): writer.append(value)
        }
    }

    /// A blob made from a binary cell; NULL from NULL, and where `change` gives nil.
    private func make(from cell: Int, _ property: String, _ change: ([UInt8]) throws -> [UInt8]?) throws {
        guard let value = try binary(at: cell, property), let changed = try change(value) else {
            return writer.appendNull()
        }
        let cells = try EncodedCells([.blob(changed)])
        made.append(cells)
        writer.append(cells)
    }

    /// The bytes of a binary cell; nil for NULL.
    private func binary(at cell: Int, _ property: String) throws(BadRow) -> [UInt8]? {
        let type = row.serialType(at: cell)
        if type.isNull { return nil }
        guard type.isBlob || type.isText else {
            throw BadRow(code: .migration, property: property, reason: "\(property): a binary attribute holds a number")
        }
        return unsafe Array(row.unsafeBytes(at: cell))
    }

    private func content(of value: [UInt8], _ attribute: String) throws -> [UInt8] {
        do throws(EngineError) {
            return try external.content(of: value, title: attribute)
        } catch {
            guard error.kind == .sourceData else { throw error }
            var bad = BadRow(code: .migration, property: attribute, reason: error.message)
            if !error.remedy.isEmpty { bad.remedy = error.remedy }
            throw bad
        }
    }

    /// For messages: the source's column of a cell.
    private func column(at cell: Int) -> String {
        guard case .column(let name) = pass.shape.cells[cell] else { return pass.title }
        return name.name
    }
}

extension RowView {
    /// nil for NULL, texts and binary data.
    @inline(__always) func number(at cell: Int) -> StoredNumber? {
        if let integer = integer(at: cell) { return .integer(integer) }
        return real(at: cell).map { .real($0) }
    }
}
