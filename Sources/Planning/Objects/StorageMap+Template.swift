import CausewayEvaluation
import CausewayModel
package import CausewaySQLiteFile
import CausewayStoreFormat

extension StorageMap {
    /// The cells with which a new row of an entity begins, by column of its table: the model's defaults.
    ///
    /// - Parameter entity: Z_ENT.
    /// - Returns: nil where it can't have rows: it is abstract, or the model lacks it.
    package func template(of entity: Int32) -> [CellValue]? {
        guard let table = table(of: entity), let description = schema.model.entities[name(of: entity)],
            !description.isAbstract
        else { return nil }
        var cells = [CellValue](repeating: .null, count: tables[table].columns.count)
        cells[TableStorage.entityNumber] = .integer(Int64(entity))
        cells[TableStorage.optimisticLock] = .integer(1)
        for index in schema.names.indices {
            guard case .attribute(let column, let attribute)? = place(of: .init(index: index), entity: entity),
                attribute.derivation == nil
            else { continue }
            // A default without a stored form (`UnstorableDefault`): the plan refuses or reports attributes that would
            // lack it.
            cells[column] = CellValue(attribute.defaultValue, as: attribute) ?? .null
        }
        return cells
    }
}
