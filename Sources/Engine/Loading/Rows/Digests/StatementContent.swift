import CausewayMapping
import CausewayPlanning
import CausewaySQLite
import CausewayStores

/// Cells of a statement's row for digests: separate from `DigestMeter`, so that what the passes computed from records
/// is recomputed from what SQLite reads.
enum StatementContent {
    /// nil for NULL. Texts of databases that aren't UTF-8 are converted, as the passes do.
    static func content(_ row: borrowing Statement, _ cell: Int, isUTF8: Bool) -> CellContent? {
        switch row.type(at: cell) {
        case .null: nil
        case .integer: CellHash.integer(row.int64(at: cell))
        case .real: CellHash.real(row.double(at: cell))
        case .text:
            unsafe CellHash.text(isUTF8 ? row.unsafeBytes(at: cell) : row.unsafeText(at: cell))
        case .blob: unsafe CellHash.blob(row.unsafeBytes(at: cell))
        }
    }

    /// The cell as its recipe carries it.
    static func content(_ row: borrowing Statement, _ cell: DigestShape.Cell, isUTF8: Bool) -> CellContent? {
        if let position = cell.position {
            guard row.type(at: position) == .integer, row.int64(at: position) == CellRecipe.firstPosition else {
                return nil
            }
        }
        let content = content(row, cell.input, isUTF8: isUTF8)
        switch cell.rule {
        case .plain: return content
        case .absent: return nil
        case .replacingNull(let literal): return content ?? CellContent(literal)
        case .converting(let conversion, let literal):
            if let number = row.number(at: cell.input) { return CellContent(conversion.applied(to: number)) }
            return content ?? literal.flatMap { CellContent($0) }
        case .ending(let entity, let dropped):
            guard row.type(at: entity) == .integer else { return content }
            return dropped.contains(Int(clamping: row.int64(at: entity))) ? nil : content
        }
    }
}
