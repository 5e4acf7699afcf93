import CausewayEvaluation
import CausewayModel
import CausewayStoreFormat

extension ObjectStep {
    /// Links to missing rows end, whether the rows were left out or the source's key was dangling: Core Data's look-up
    /// doesn't find them (InsideCoreDataMigration §3).
    ///
    /// - Parameter destination: the new store.
    /// - Returns: a statement for each column and each join table with links.
    static func cleanups(of destination: StorageMap) -> [Cleanup] {
        var result: [Cleanup] = []
        func target(_ relationship: String, _ entity: String) -> String? {
            destination.schema.model.relationship(relationship, of: entity)?.relationship.destination
        }
        for (place, table) in destination.layout.tables.enumerated() {
            for column in table.columns {
                guard case .toOne(let entity, let name) = column.role,
                    let target = target(name, entity),
                    let other = destination.layout.table(of: target)
                else { continue }
                let others: [ColumnRole] = [
                    .toOneEntity(entity: entity, relationship: name), .orderKey(entity: entity, relationship: name),
                ]
                let sets = [column.name] + others.compactMap { destination.layout.column($0)?.name }
                let sql =
                    """
                    UPDATE "\(table.name)" SET \(sets.map { "\"\($0)\" = NULL" }.joined(separator: ", ")) \
                    WHERE "\(column.name)" IS NOT NULL AND NOT EXISTS \
                    (SELECT 1 FROM "\(other.name)" AS o WHERE o."Z_PK" = "\(table.name)"."\(column.name)")
                    """
                result.append(Cleanup(sql: sql, link: (place, column.name)))
            }
        }
        for table in destination.layout.joinTables {
            guard let owner = destination.layout.table(of: table.owner),
                let other = destination.layout.table(of: table.inverseOwner)
            else { continue }
            let (mine, theirs) = (table.ownerColumn, table.destinationColumn)
            let sql =
                """
                DELETE FROM "\(table.name)" WHERE NOT EXISTS \
                (SELECT 1 FROM "\(owner.name)" AS o WHERE o."Z_PK" = "\(table.name)"."\(mine)") OR NOT EXISTS \
                (SELECT 1 FROM "\(other.name)" AS o WHERE o."Z_PK" = "\(table.name)"."\(theirs)")
                """
            result.append(Cleanup(sql: sql))
        }
        return result
    }
}
