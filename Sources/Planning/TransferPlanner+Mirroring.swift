import CausewayMapping
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// CloudKit mirroring: rows name the app's objects by Z_ENT and Z_PK, and relationships by their names. Keys and names
/// stay, so only the numbers change; rows about what is gone are left out (InsideCoreDataMigration §11).
extension TransferPlanner {
    /// A pass that carries a table of CloudKit mirroring.
    ///
    /// - Parameters:
    ///   - table: of the source.
    ///   - mirrored: all of them.
    ///   - schema: the source's.
    /// - Returns: the pass; without a condition and with the same numbers the table can stay as it is.
    /// - Throws: for names that can't stand in a statement.
    func mirrorPass(
        _ table: StoreSchema.Table, _ mirrored: MirroredTables, _ schema: StoreSchema
    ) throws(PlanError) -> RowPass {
        let known = CloudKitTable(table)
        let columns = table.columns.map(\.name)
        var shape = RowShape(table: try identifier(table.name))
        let cells = try columns.map { name throws(PlanError) in shape.index(of: .column(try identifier(name))) }
        let key = table.position(of: "Z_PK").map { cells[$0] }
        if let condition = try relationshipCondition(known, mirrored) { shape.conditions.append(condition) }
        for owner in known.owners {
            guard let other = schema.table(owner.table) else { continue }
            let kept = try keptRows(of: CloudKitTable(other), mirrored)
            guard !kept.isEmpty else { continue }
            shape.conditions.append(
                .targetMeets(try identifier(owner.column), table: try identifier(other.name), kept))
        }
        let carried = cells.map { CellRecipe.carry($0) }
        let numbered = known.entityColumns.compactMap { columns.firstIndex(of: $0) }
        var pass = RowPass(
            kind: .mirrored, title: table.name, shape: shape, destinationTable: table.name,
            destinationColumns: columns, key: key, discriminator: nil,
            projections: [0: RowProjection(entity: table.name, cells: carried)])
        guard let first = numbered.first else { return pass }
        pass.discriminator = cells[first]
        pass.projections = [:]
        for mapping in mapping.entityMappings {
            guard let to = mapping.destination, let old = mapping.source.flatMap({ source.layout.entityNumbers[$0] }),
                let new = numbers[old]
            else { continue }
            var own = carried
            for place in numbered.dropFirst() { own[place] = .entityNumber(cells[place], numbers: numbers) }
            own[first] = .literal(.integer(Int64(new)))
            pass.projections[old] = RowProjection(entity: to, cells: own)
        }
        pass.dropped = droppedNumbers(in: table.name, mirrored)
        pass.dropsUnknown = mirrored.strayed.contains(table.name)
        return pass
    }

    /// Numbers of entities that go and that rows of the table name.
    private func droppedNumbers(in table: String, _ mirrored: MirroredTables) -> Set<Int> {
        dropped.intersection(mirrored.numbers[table] ?? [])
    }

    /// nil where no row of the table names a relationship that ends.
    private func relationshipCondition(
        _ known: CloudKitTable, _ mirrored: MirroredTables
    ) throws(PlanError) -> RowShape.Condition? {
        guard let columns = known.relationshipColumns else { return nil }
        let ended = mapping.endedRelationships(of: source.model).intersection(
            mirrored.relationships[known.table.name] ?? [])
        guard !ended.isEmpty else { return nil }
        return .isNone(
            try identifier(columns.entity), try identifier(columns.relationship),
            of: ended.sorted { ($0.first, $0.second) < ($1.first, $1.second) })
    }

    /// What the rows of a table that stay have in common; empty where all of them stay.
    private func keptRows(
        of known: CloudKitTable, _ mirrored: MirroredTables
    ) throws(PlanError) -> [RowShape.Condition] {
        var result = try relationshipCondition(known, mirrored).map { [$0] } ?? []
        let name = known.table.name
        if let column = known.entityColumns.first,
            mirrored.strayed.contains(name) || !droppedNumbers(in: name, mirrored).isEmpty
        {
            result.append(.oneOf(try identifier(column), numbers.keys.sorted()))
        }
        return result
    }
}
