import CausewayPlanning
import CausewaySQLiteFile

/// The cells with which a new row of an entity begins: the model's defaults. Every new row takes it in hand: one
/// reference is counted, not that of each array.
final class RowTemplate {
    let cells: ContiguousArray<StoredCell>
    /// Texts and blobs, which every row has of its own.
    let values: [(column: Int, value: Cell)]

    init(_ entity: Int32, _ map: StorageMap) throws(ObjectError) {
        guard let template = map.template(of: entity) else {
            throw ObjectError(.unknownEntity, "\(map.name(of: entity)) is abstract: it can't have objects")
        }
        var cells: ContiguousArray<StoredCell> = []
        var values: [(column: Int, value: Cell)] = []
        for (column, value) in template.enumerated() {
            switch value {
            case .integer(let value): cells.append(.integer(value))
            case .real(let value): cells.append(.real(value))
            case .text, .blob:
                values.append((column, Cell(value)))
                cells.append(.null)
            case .null: cells.append(.null)
            }
        }
        (self.cells, self.values) = (cells, values)
    }
}
