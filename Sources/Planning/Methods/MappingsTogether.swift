import CausewayMapping

extension StepPlan {
    /// Entity mappings by pages whose rows keep their keys in one table, such as those of a hierarchy: their source's
    /// table is read once, for all of them.
    ///
    /// - Parameter plan: one of them.
    /// - Returns: all of them in their order; the mapping alone where it shares its table with none.
    package func mappingsTogether(with plan: EntityMappingPlan) -> [EntityMappingPlan] {
        guard let objects, let table = objects.tableKept(by: plan), methods.mappings[plan.index]?.method == .pages
        else {
            return [plan]
        }
        return objects.mappings.filter { other in
            methods.mappings[other.index]?.method == .pages && objects.tableKept(by: other) == table
        }
    }

    /// Entity mappings of the first of steps that run together which read a table for several mappings of this step.
    ///
    /// - Parameter before: the steps that run together with this one, in their order; all have mapping models.
    /// - Returns: their places in the first step.
    package func readersTogether(after before: [StepPlan]) -> Set<Int> {
        guard let objects else { return [] }
        let between = before.compactMap(\.objects)
        var result: Set<Int> = []
        for plan in objects.mappings where mappingsTogether(with: plan).count > 1 {
            if let first = objects.way(to: plan, after: between)?.first { result.insert(first.index) }
        }
        return result
    }
}

extension ObjectStep {
    /// The table in which the rows of a mapping keep the keys of their source rows; nil where they get others.
    fileprivate func tableKept(by plan: EntityMappingPlan) -> Int? {
        guard plan.sourceEntity != nil, plan.keeping == .always else { return nil }
        return plan.destinationEntity.flatMap { destination.table(of: $0) }
    }
}
