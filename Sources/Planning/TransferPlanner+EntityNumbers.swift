import CausewayMapping
import CausewaySQLiteFile
import CausewayStoreFormat

/// Z_ENT: entities have other numbers in another version (InsideStoreFormat §2).
extension TransferPlanner {
    /// Destination Z_ENT by source Z_ENT.
    static func renumbering(
        _ mapping: MappingModel, from source: StoreLayout, to destination: StoreLayout
    ) -> [Int: Int] {
        var numbers: [Int: Int] = [:]
        for entity in mapping.entityMappings {
            if let from = entity.source.flatMap({ source.entityNumbers[$0] }),
                let to = entity.destination.flatMap({ destination.entityNumbers[$0] })
            {
                numbers[from] = to
            }
        }
        return numbers
    }

    /// The row's own Z_ENT, the same for every row of its entity.
    func entityNumber(of entity: String) -> CellRecipe {
        .literal(.integer(Int64(destination.entityNumbers[entity] ?? 0)))
    }

    /// The Z_ENT of the row at the other end; NULL without links.
    func keyEntity(_ links: ResolvedLinks?, shape: inout RowShape) throws(PlanError) -> CellRecipe {
        guard let links else { return .literal(.null) }
        guard let entity = try source.entityCell(links) else {
            // Without subentities in the source, every target is of the declared entity.
            guard let from = source.layout.entityNumbers[links.otherEntity], let to = numbers[from],
                !links.lost.contains(from)
            else { return .literal(.null) }
            let present = CellRecipe.literalIfPresent(
                shape.index(of: try source.keyCell(links)), .integer(Int64(to)))
            return try first(present, links, shape: &shape)
        }
        let kept = links.lost.isEmpty ? numbers : numbers.filter { !links.lost.contains($0.key) }
        return try first(.entityNumber(shape.index(of: entity), numbers: kept), links, shape: &shape)
    }
}
