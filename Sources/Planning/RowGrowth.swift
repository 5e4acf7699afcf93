import CausewaySQLiteFile
import CausewayStoreFormat

extension RowPass {
    /// Bytes by which a row may become longer than the record that it is made from: a long default makes a huge batch
    /// of many short rows. Never too few, but for the content of external files.
    package var addedBytes: Int {
        projections.values.map { $0.cells.reduce(0) { $0 + $1.addedBytes } }.max() ?? 0
    }
}

extension CellRecipe {
    fileprivate var addedBytes: Int {
        switch self {
        // A serial type: the record may end before the cell.
        case .carry, .key: 1
        case .carryOr(_, let literal), .literal(let literal), .literalIfPresent(_, let literal): literal.longestForm
        case .converted(_, _, let literal): max(CellValue.longestNumber, literal?.longestForm ?? 0)
        case .entityNumber: CellValue.longestNumber
        case .first(let recipe, _): recipe.addedBytes
        case .inlined, .prefixed: 1 + CellValue.longestSerialType
        case .historyBitmap(_, let map): map.longestBitmap + CellValue.longestSerialType
        }
    }
}

extension CellValue {
    /// Bytes of a serial type of SQLite's largest value, a varint
    /// (https://www.sqlite.org/fileformat2.html#record_format).
    fileprivate static let longestSerialType = 5
    /// A serial type and eight bytes.
    fileprivate static let longestNumber = 9

    /// Bytes that the value takes in a record at most.
    fileprivate var longestForm: Int {
        switch self {
        case .null: 1
        case .integer, .real: Self.longestNumber
        case .text(let text): text.utf8.count + Self.longestSerialType
        case .blob(let bytes): bytes.count + Self.longestSerialType
        }
    }
}
