package import CausewayMapping
package import CausewayModel
package import CausewayStoreFormat

/// The tables of CloudKit mirroring that a step carries, and what their rows name: tables in which no row is left out
/// can stay as they are.
package struct MirroredTables: Sendable {
    /// Tables, their indexes, and whatever else is on them.
    package var objects: [StoreSchema.Object]
    /// Z_ENTs of the app's entities that rows name, by table.
    package var numbers: [String: Set<Int>] = [:]
    /// Tables with rows whose number is that of no entity.
    package var strayed: Set<String> = []
    /// Entities with their relationships that rows name, by table.
    package var relationships: [String: Set<RowShape.TextPair>] = [:]

    package init(objects: [StoreSchema.Object]) {
        self.objects = objects
    }

    func contains(table: String) -> Bool { objects.contains { $0.kind == .table && $0.name == table } }

    /// What the step after this one finds.
    package func after(_ step: StepPlan) -> MirroredTables {
        let names = Set(objects.map(\.name))
        let renumbered = step.renumbering
        let ended = step.mapping.endedRelationships(of: step.source.model)
        var result = MirroredTables(objects: step.appObjects.filter { names.contains($0.name) })
        result.numbers = numbers.mapValues { Set($0.compactMap { renumbered[$0] }) }
        result.relationships = relationships.mapValues { $0.subtracting(ended) }
        return result
    }
}

extension StepPlan {
    /// Z_ENT in the store to make by Z_ENT in the store to read, of every entity that stays.
    package var renumbering: [Int: Int] { TransferPlanner.renumbering(mapping, from: source, to: layout) }
}

extension MappingModel {
    /// Entities of the source with those of their relationships, inherited ones included, that end: as CloudKit's rows
    /// name them.
    package func endedRelationships(of source: ManagedObjectModel) -> Set<RowShape.TextPair> {
        var result: Set<RowShape.TextPair> = []
        for entity in entityMappings {
            guard let from = entity.source else { continue }
            for relationship in source.lineage(of: from).flatMap(\.relationships)
            where entity.destination == nil || entity.relationship(relationship.name)?.links == nil {
                result.insert(RowShape.TextPair(from, relationship.name))
            }
        }
        return result
    }
}
