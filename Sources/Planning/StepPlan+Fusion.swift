import CausewayMapping
import CausewaySQLite
import CausewayStoreFormat

// What a step that runs together with steps before it has of the store which the first of them reads. The first may be
// inferred, the others have mapping models.

extension StepPlan {
    /// Entities of the first step's source whose largest keys the tables continue, by the root of this step's table.
    ///
    /// - Parameter before: the steps that run together with this one, in their order.
    /// - Returns: names of root entities.
    package func keyOrigins(after before: [StepPlan]) -> [String: Set<String>] {
        before.reversed().reduce(keyOrigins) { origins, step in
            origins.mapValues { roots in
                roots.reduce(into: []) { $0.formUnion(step.keyOrigins[$1] ?? []) }
            }
        }
    }

    /// For each table of this step's store, the table of the first step's source whose keys its rows keep.
    ///
    /// - Parameter before: the steps that run together with this one, in their order.
    /// - Returns: nil for a table whose rows keep none; empty where the step is inferred.
    package func homes(after before: [StepPlan]) -> [String?] {
        before.reversed().reduce(objects?.homes ?? []) { homes, step in
            homes.map { home in home.flatMap { step.home(of: $0) } }
        }
    }

    private func home(of table: String) -> String? {
        guard let objects else { return rows(of: table)?.sourceTable }
        return objects.destination.tables.firstIndex { $0.name.name == table }.flatMap { objects.homes[$0] }
    }

    /// The pass that fills an entity table of an inferred step; nil where none does, or where several do.
    package func rows(of table: String) -> RowPass? {
        let found = passes.filter { $0.kind == .entity && $0.destinationTable == table }
        return found.count == 1 ? found[0] : nil
    }

    /// The pass whose rows a mapping of the next step takes.
    package func rows(for plan: EntityMappingPlan) -> RowPass? {
        plan.description.sourceEntity.flatMap { layout.table(of: $0) }.flatMap { rows(of: $0.name) }
    }
}

extension ObjectStep {
    /// The mappings, one of each step, through which the rows of one of this step's mappings go.
    ///
    /// - Parameters:
    ///   - plan: of this step.
    ///   - before: the steps with mapping models that run together with this one, in their order.
    /// - Returns: in the order of the steps; nil where no row of the first step's source gets so far.
    package func way(to plan: EntityMappingPlan, after before: [ObjectStep]) -> [EntityMappingPlan]? {
        var way = [plan]
        for step in before.reversed() {
            let entity = way[0].description.sourceEntity
            guard
                let earlier = step.mappings.first(where: {
                    $0.sourceEntity != nil && $0.description.destinationEntity == entity
                })
            else { return nil }
            way.insert(earlier, at: 0)
        }
        return way
    }
}
