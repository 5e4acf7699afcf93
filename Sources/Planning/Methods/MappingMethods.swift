import CausewayMapping
import CausewaySQLite
import CausewayStoreFormat

/// How the rows of an entity mapping get into their tables.
package enum MappingMethod: String, Hashable, Sendable {
    /// Workers make them, and they are packed into leaves, while no connection is open on the new store.
    case pages
    /// They are written by INSERT.
    case statements
}

/// Chooses for each entity mapping of a step how its rows are written.
///
/// Mappings by pages come first. So the others see what they would see anyway, and new keys are given in the same order
/// whatever the method, only mappings whose order nobody notices may come later than one that follows them.
struct MappingMethods {
    let objects: ObjectStep
    /// Why pages of the store can't be read or written; nil where they can.
    let obstacle: String?
    /// Tables, in lower case, that SQLite makes with an index of a constraint.
    let constrained: Set<String>

    /// By the place of the mapping; those that read no rows have none.
    func choices() -> [Int: MethodChoice<MappingMethod>] {
        var result: [Int: MethodChoice<MappingMethod>] = [:]
        /// The first mapping that must come before all that follow.
        var barrier: String?
        for plan in objects.mappings {
            let hasCode = plan.description.policyClassName != nil
            guard plan.sourceEntity != nil else {
                if hasCode { barrier = barrier ?? plan.description.name }
                continue
            }
            let own = obstacle ?? reason(against: plan)
            let reason = own ?? barrier.map { "“\($0)” comes before it, and may see its rows" }
            result[plan.index] = MethodChoice(method: reason == nil ? .pages : .statements, reason: reason)
            // It makes one row of each, with its key, and calls nobody; no place of it is counted on from.
            let isUnseen = !hasCode && plan.keeping == .always && plan.isIndependent && !hasPlaces(plan)
            if own != nil, !isUnseen { barrier = barrier ?? plan.description.name }
        }
        return result
    }

    /// How the indexes are made: sorted, where nobody changes rows once they are packed.
    ///
    /// - Parameters:
    ///   - indexes: of the store to make.
    ///   - mappings: how their rows are written.
    ///   - sorting: which can be sorted.
    /// - Returns: by name; none where no mapping is by pages.
    func indexes(
        _ indexes: [TableIndex], _ mappings: [Int: MethodChoice<MappingMethod>], _ sorting: IndexSorting
    ) -> [String: MethodChoice<IndexWork.Method>] {
        guard mappings.values.contains(where: { $0.method == .pages }) else { return [:] }
        let changing = objects.mappings.first { changesRows($0, mappings[$0.index]?.method) }
        var result: [String: MethodChoice<IndexWork.Method>] = [:]
        // Join tables are filled by statements.
        let tables = Set(objects.destination.tables.map { $0.name.name.lowercased() })
        for index in indexes where index.origin != .constraint && tables.contains(index.table.lowercased()) {
            var reason = sorting.reason(against: index)
            // Duplicates may be rows to leave out.
            if index.isUnique { reason = reason ?? "it is unique, and the rows are checked before it is made" }
            if let changing { reason = reason ?? "“\(changing.description.name)” may change rows that are made" }
            result[index.name] = MethodChoice(
                method: reason == nil ? .sort : .statements, reason: reason ?? "mapping models make the rows")
        }
        return result
    }

    /// Whether rows are written or changed once those of the mappings by pages are packed.
    private func changesRows(_ plan: EntityMappingPlan, _ method: MappingMethod?) -> Bool {
        guard plan.sourceEntity != nil else { return plan.description.policyClassName != nil }
        return method != .pages || plan.isReadAgain
    }

    /// Whether a mapping without code makes rows with places in ordered relationships, from which others are counted
    /// on.
    private func hasPlaces(_ plan: EntityMappingPlan) -> Bool {
        guard plan.sourceEntity != nil, plan.description.policyClassName == nil,
            let table = plan.destinationEntity.flatMap({ objects.destination.table(of: $0) })
        else { return false }
        return objects.destination.layout.tables[table].columns.contains { $0.role.isPlace }
    }

    private func reason(against plan: EntityMappingPlan) -> String? {
        if !objects.isResumable { return "a policy or the manager of the step isn't resumable" }
        if plan.keeping == .ifFree { return "other mappings read its rows too" }
        if !plan.isIndependent { return "its rows aren't made independently of each other" }
        if plan.description.policyClassName != nil, let packed = objects.mappings.first(where: { hasPlaces($0) }) {
            return
                "its policy may add to ordered relationships of rows that “\(packed.description.name)” makes, behind their "
                + "largest places"
        }
        guard let entity = plan.destinationEntity, let table = objects.destination.table(of: entity) else { return nil }
        if constrained.contains(objects.destination.tables[table].name.name.lowercased()) {
            return "a constraint of its table has an index"
        }
        let all = objects.mappings.filter { other in
            other.sourceEntity != nil
                && other.destinationEntity.flatMap { objects.destination.table(of: $0) } == table
        }
        // Rows that keep their keys come first, each made by the mapping of its entity, and then those of one mapping
        // after another.
        let coded = all.first { $0.columns == nil && !objects.isProjected }
        guard all.count > 1, let coded else { return nil }
        let name = coded.description.name
        return "several mappings fill its table, and the rows of “\(name)” follow from more than its source"
    }
}
