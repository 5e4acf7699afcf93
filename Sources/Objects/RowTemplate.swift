import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// The cells with which a new row of an entity begins: the model's defaults.
struct RowTemplate {
    private(set) var cells: ContiguousArray<StoredCell>
    /// Texts and blobs, which every row has of its own.
    private(set) var values: [(column: Int, value: Cell)] = []

    init(_ entity: Int32, table: Int, _ map: StorageMap) throws(ObjectError) {
        guard let description = map.schema.model.entities[map.name(of: entity)], !description.isAbstract else {
            throw ObjectError(.unknownEntity, "\(map.name(of: entity)) is abstract: it can't have objects")
        }
        cells = ContiguousArray(repeating: .null, count: map.tables[table].columns.count)
        cells[TableStorage.entityNumber] = .integer(Int64(entity))
        cells[TableStorage.optimisticLock] = .integer(1)
        for index in map.schema.names.indices {
            guard case .attribute(let column, let attribute)? = map.place(of: .init(index: index), entity: entity),
                attribute.derivation == nil
            else { continue }
            // An app's own object as the default has no stored form: the plan refuses or reports attributes that would
            // lack it.
            switch CellValue(attribute.defaultValue, as: attribute) {
            case .integer(let value): cells[column] = .integer(value)
            case .real(let value): cells[column] = .real(value)
            case .text(let value): values.append((column, .text(value)))
            case .blob(let value): values.append((column, .blob(value)))
            case .null, nil: cells[column] = .null
            }
        }
    }
}
