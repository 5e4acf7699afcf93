import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel

/// Links between rows that follow from their source rows, though not all of these keep their keys.
extension LinkPlanning {
    private typealias Option = EntityMappingPlan.LinkChoice.Option

    /// A to-one whose target is known when its row is made; nil if stage 2 must link.
    ///
    /// The targets' mappings come first, so that their rows have keys by then.
    func choice(
        _ property: PropertyMappingDescription, of index: Int, _ fill: EntityMappingPlan.RelationshipFill,
        _ columns: inout SourceColumns
    ) throws(PlanError) -> EntityMappingPlan.LinkChoice? {
        let mapping = planner.entities[index].mapping.mapping
        guard planner.followsSource(index), let expression = property.expression,
            case .toOne(let to)? = place(property.name, of: mapping.destinationEntity, in: planner.destination),
            to.oneToOneInverse == nil, to.orderColumn == nil, isOwn(to, of: index),
            let options = try options(expression, of: index, leadingTo: to.relationship.destination, &columns)
        else { return nil }
        return EntityMappingPlan.LinkChoice(
            options: options, column: to.column, entityColumn: to.entityColumn, relationship: fill)
    }

    /// Whether nobody sets the links of a to-one before its own mapping does in stage 2: then it doesn't matter that
    /// they are there from the beginning.
    private func isOwn(_ to: ToOneStorage, of index: Int) -> Bool {
        planner.hasNoPolicy && !planner.readsSubentities && !isOvertaken(to, of: index)
    }

    private func options(
        _ expression: Expression, of index: Int, leadingTo kind: String, _ columns: inout SourceColumns
    ) throws(PlanError) -> [Option]? {
        guard case .conditional(let predicate, let first, let second) = expression else {
            return try option(expression, of: index, leadingTo: kind, &columns).map { [$0] }
        }
        guard let condition = try condition(predicate, of: index, &columns),
            var chosen = try option(first, of: index, leadingTo: kind, &columns),
            let others = try options(second, of: index, leadingTo: kind, &columns)
        else { return nil }
        chosen.condition = condition
        return [chosen] + others
    }

    /// `$source.link == nil`, `$source.link != nil`.
    private func condition(
        _ predicate: Predicate, of index: Int, _ columns: inout SourceColumns
    ) throws(PlanError) -> Option.Condition? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct,
            comparison.operation == .equalTo || comparison.operation == .notEqualTo,
            comparison.right == .constant(.null), let name = Self.sourceKey(comparison.left),
            case .toOne(let link)? = place(
                name, of: planner.entities[index].mapping.mapping.sourceEntity, in: planner.source)
        else { return nil }
        return Option.Condition(
            cell: try columns.index(of: link.column), isNull: comparison.operation == .equalTo)
    }

    private func option(
        _ expression: Expression, of index: Int, leadingTo kind: String, _ columns: inout SourceColumns
    ) throws(PlanError) -> Option? {
        if expression == .constant(.null) {
            return Option(condition: nil, key: nil, entity: nil, declared: 0, targets: [:])
        }
        guard let reading = Self.reading(expression), isUnique(reading.mapping, for: index),
            case .toOne(let from)? = place(
                reading.relationship, of: planner.entities[index].mapping.mapping.sourceEntity, in: planner.source),
            let targets = targetsMade(
                before: index, reading, of: from.relationship.destination, leadingTo: kind)
        else { return nil }
        return Option(
            condition: nil, key: try columns.index(of: from.column),
            entity: try from.entityColumn.map { column throws(PlanError) in try columns.index(of: column) },
            declared: from.destination, targets: targets)
    }

    /// Whether a name means one mapping: the own model's first.
    func isUnique(_ name: String?, for index: Int) -> Bool {
        guard let name else { return true }
        let all = planner.entities.indices.filter { planner.entities[$0].mapping.mapping.name == name }
        let own = all.filter { planner.entities[$0].model == planner.entities[index].model }
        return (own.isEmpty ? all : own).count == 1
    }

    /// As `targets`, but of mappings whose rows follow from their source rows, with whatever keys, and come first.
    private func targetsMade(
        before index: Int, _ reading: Reading, of declared: String, leadingTo kind: String
    ) -> [Int32: Int]? {
        var result: [Int32: Int] = [:]
        // A named mapping whose rows are of another kind is an error, which stage 2 tells.
        if let name = reading.mapping {
            let named = planner.entities.map(\.mapping.mapping).filter { $0.name == name }
            let isFitting = named.compactMap(\.destinationEntity).allSatisfy {
                planner.destination.schema.model.isKind($0, of: kind)
            }
            guard isFitting else { return nil }
        }
        guard let all = candidates(reading, of: declared, leadingTo: kind, from: index) else { return nil }
        for (number, mappings) in all {
            guard mappings.count == 1, let target = mappings.first, planner.followsSource(target),
                planner.keeping[target] == .always || target < index
            else { return nil }
            result[number] = target
        }
        return result
    }
}
