import CausewayMapping
import CausewaySQLite
import CausewayStoreFormat

// What a step that runs together with steps before it has of the store which the first of them reads.

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
}

extension ObjectStep {
    /// For each table of this step's store, the table of the first step's source whose keys its rows keep.
    ///
    /// - Parameter before: the steps that run together with this one, in their order.
    /// - Returns: nil for a table whose rows keep none.
    package func homes(after before: [ObjectStep]) -> [String?] {
        before.reversed().reduce(homes) { homes, step in
            homes.map { home in
                step.destination.tables.firstIndex { $0.name.name == home }.flatMap { step.homes[$0] }
            }
        }
    }

    /// The mappings, one of each step, through which the rows of one of this step's mappings go.
    ///
    /// - Parameters:
    ///   - plan: of this step.
    ///   - before: the steps that run together with this one, in their order.
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
