import CausewayPlanning
import CausewaySQLiteFile

/// The cells with which a new row of an entity begins: the model's defaults.
struct RowTemplate {
    private(set) var cells: ContiguousArray<StoredCell> = []
    /// Texts and blobs, which every row has of its own.
    private(set) var values: [(column: Int, value: Cell)] = []

    init(_ entity: Int32, _ map: StorageMap) throws(ObjectError) {
        guard let template = map.template(of: entity) else {
            throw ObjectError(.unknownEntity, "\(map.name(of: entity)) is abstract: it can't have objects")
        }
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
    }
}
