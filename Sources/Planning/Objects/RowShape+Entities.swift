import CausewayModel
import CausewaySQLite
package import CausewayStoreFormat

/// Which of a table's rows a shape reads, by their entities.
extension RowShape {
    /// Z_ENT of its rows, where nothing else decides which they are; nil otherwise.
    package var onlyEntities: [Int64]? {
        guard conditions.count == 1, case .oneOf(_, let numbers)? = conditions.first else { return nil }
        return numbers.map { Int64($0) }
    }

    /// Whether it reads every row of its table.
    ///
    /// - Parameter layout: of the store.
    /// - Returns: false also where that isn't known.
    package func readsAllRows(of layout: StoreLayout) -> Bool {
        guard let own = onlyEntities, let root = layout.table(named: table.name)?.rootEntity
        else { return false }
        let concrete = layout.model.entityAndSubentities(of: root).filter {
            layout.model.entities[$0]?.isAbstract != true
        }.compactMap { layout.entityNumbers[$0] }.map { Int64($0) }
        return Set(own).isSuperset(of: concrete)
    }
}
