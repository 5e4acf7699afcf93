import CausewayMapping
import CausewayModel
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

extension TransferPlanner {
    /// The passes that carry persistent history (InsideStoreFormat §11): change rows are renumbered with their
    /// entities, those of dropped entities are dropped, tokens stay valid.
    /// `schema` is the source's. Throws for names that can't stand in a statement.
    func historyPasses(_ schema: StoreSchema) throws(PlanError) -> [RowPass] {
        guard schema.history != nil else { return [] }
        let layout = HistoryLayout(destination)
        var passes: [RowPass] = []
        for entity in HistoryLayout.Entity.allCases {
            guard let table = schema.table(entity.table) else { continue }
            let columns = layout.columns(of: entity).compactMap { $0.split(separator: " ").first.map(String.init) }
            guard !columns.isEmpty else { continue }
            passes.append(try entity == .change ? changePass(table, columns) : copyPass(table, columns))
        }
        return passes
    }

    /// A pass that carries the columns that both tables have.
    private func copyPass(_ table: StoreSchema.Table, _ columns: [String]) throws(PlanError) -> RowPass {
        var shape = RowShape(table: try identifier(table.name))
        let cells = try columns.map { name throws(PlanError) in try carried(name, from: table, shape: &shape) }
        return RowPass(
            kind: .history, title: table.name, shape: shape, destinationTable: table.name,
            destinationColumns: columns, key: key(of: table, in: &shape), discriminator: nil,
            projections: [0: RowProjection(entity: table.name, cells: cells)])
    }

    private func key(of table: StoreSchema.Table, in shape: inout RowShape) -> Int? {
        guard let column = table.columns.first(where: { table.isRowID($0) }), let name = try? SQLIdentifier(column.name)
        else { return nil }
        return shape.index(of: .column(name))
    }

    private func carried(
        _ name: String?, from table: StoreSchema.Table, shape: inout RowShape
    ) throws(PlanError) -> CellRecipe {
        guard let position = name.flatMap({ table.position(of: $0) }) else { return .literal(.null) }
        return .carry(shape.index(of: .column(try identifier(table.columns[position].name))))
    }

    private func changePass(_ table: StoreSchema.Table, _ columns: [String]) throws(PlanError) -> RowPass {
        var shape = RowShape(table: try identifier(table.name))
        let key = shape.index(of: .column(try identifier("Z_PK")))
        let discriminator = shape.index(of: .column(try identifier("ZENTITY")))
        var projections: [Int: RowProjection] = [:]
        for mapping in mapping.entityMappings {
            guard let from = mapping.source, let to = mapping.destination,
                let old = source.layout.entityNumbers[from], let new = destination.entityNumbers[to]
            else { continue }
            let tombstones = tombstoneColumns(mapping, from: from, to: to)
            var cells: [CellRecipe] = []
            for name in columns {
                switch name {
                case "ZENTITY": cells.append(.literal(.integer(Int64(new))))
                case "ZCOLUMNS":
                    let column = shape.index(of: .column(try identifier(name)))
                    cells.append(.historyBitmap(column, bitmapMap(mapping, from: from, to: to)))
                case let name where name.hasPrefix("ZTOMBSTONE"):
                    cells.append(try carried(tombstones[name], from: table, shape: &shape))
                default: cells.append(try carried(name, from: table, shape: &shape))
                }
            }
            projections[old] = RowProjection(entity: to, cells: cells)
        }
        var pass = RowPass(
            kind: .history, title: table.name, shape: shape, destinationTable: table.name,
            destinationColumns: columns, key: key, discriminator: discriminator, projections: projections)
        (pass.dropped, pass.dropsUnknown) = (dropped, true)
        return pass
    }

    /// The source's tombstone column for each of the destination's: the i-th holds the i-th attribute that is preserved
    /// on deletion.
    private func tombstoneColumns(_ mapping: EntityMapping, from: String, to: String) -> [String: String] {
        let before = preserved(in: source.model, entity: from)
        var result: [String: String] = [:]
        for (index, path) in preserved(in: destination.model, entity: to).enumerated() {
            guard case .carried(let origin, _, _) = mapping.attribute(path)?.value,
                let place = before.firstIndex(of: origin)
            else { continue }
            result["ZTOMBSTONE\(index)"] = "ZTOMBSTONE\(place)"
        }
        return result
    }

    /// Superclass first, by name inside each level, as the bits of ZCOLUMNS are.
    private func preserved(in model: ManagedObjectModel, entity: String) -> [String] {
        model.lineage(of: entity).reversed().flatMap { ancestor in
            ancestor.attributes.filter(\.preservesValueInHistoryOnDeletion).map(\.name)
                .sorted(by: ManagedObjectModel.compareOrder)
        }
    }

    private func bitmapMap(_ mapping: EntityMapping, from: String, to: String) -> HistoryColumnsMap {
        var attributes: [String: String] = [:]
        for attribute in mapping.attributes {
            if case .carried(let origin, _, _) = attribute.value { attributes[origin] = attribute.destination }
        }
        var relationships: [String: String] = [:]
        for relationship in mapping.relationships {
            if let links = relationship.links, !links.isInverted {
                relationships[links.relationship] = relationship.destination
            }
        }
        let positions = HistoryPositions(of: to, in: destination)
        let known = Set(positions.positions)
        return HistoryColumnsMap(from: HistoryPositions(of: from, in: source.layout), to: positions) { position in
            let image: HistoryPosition? =
                switch position {
                case .attribute(let path): attributes[path].map { .attribute($0) }
                case .toOne(let name): relationships[name].map { .toOne($0) }
                case .toOneEntity(let name): relationships[name].map { .toOneEntity($0) }
                case .orderKey(let name): relationships[name].map { .orderKey($0) }
                case .toMany(let name): relationships[name].map { .toMany($0) }
                case .virtualToOne: nil
                }
            // A to-one that became a to-many has another bit; it starts clear.
            return image.flatMap { known.contains($0) ? $0 : nil }
        }
    }
}
