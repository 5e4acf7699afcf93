import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewaySQLiteFile
import CausewayStoreFormat

/// Finds what each column of a mapping's rows gets, where no code and no look-up in the new store decides it.
struct ColumnFilling {
    let plan: EntityMappingPlan
    let destination: StorageMap

    /// - Returns: nil where there is no such list.
    func columns() -> [EntityMappingPlan.ColumnFill]? {
        guard let entity = plan.destinationEntity, let template = destination.template(of: entity) else { return nil }
        var columns = template.map { EntityMappingPlan.ColumnFill.constant($0) }
        for (index, fill) in plan.attributes.enumerated() {
            switch fill.origin {
            case .carry(let cell): columns[fill.column] = .carry(cell)
            case .compute: columns[fill.column] = .compute(index)
            }
        }
        for (index, key) in plan.keys.enumerated() {
            columns[key.column] = .key(index)
            if let column = key.entityColumn { columns[column] = .keyEntity(index) }
            guard let column = key.placeColumn else { continue }
            // A place that the source hasn't is counted when the row is written.
            guard key.place != nil else { return nil }
            columns[column] = .keyPlace(index)
        }
        for (index, choice) in plan.choices.enumerated() {
            columns[choice.column] = .choice(index)
            if let column = choice.entityColumn { columns[column] = .choiceEntity(index) }
        }
        return columns
    }

    /// Whether the attributes of a mapping's rows, and which rows it reads, follow from the source rows alone.
    static func followsSource(_ mapping: EntityMappingDescription, _ filter: Predicate?) -> Bool {
        mapping.policyClassName == nil && filter?.readsSourceAlone ?? true
            && mapping.attributeMappings.allSatisfy { $0.expression?.readsSourceAlone ?? true }
    }

    /// What stands for a policy's code in expressions.
    private static let code: Set<String> = ["entityPolicy", "manager", "entityMapping", "propertyMapping"]

    /// Whether filter and expressions read stored attributes of the row itself, and nothing that only a store could
    /// tell. What a policy reads shows when it does.
    static func readsOwnCells(
        _ mapping: EntityMappingDescription, _ filter: Predicate?, of entity: Int32, in source: StorageMap
    ) -> Bool {
        func areOwn(_ keys: Set<String>?) -> Bool {
            keys?.allSatisfy { key in
                switch source.schema.handle(of: key).flatMap({ source.place(of: $0, entity: entity) }) {
                case .attribute(_, let attribute): attribute.derivation == nil
                case .composite: true
                case .toOne, .toMany, .join, .none?, nil: false
                }
            } ?? false
        }
        let code = mapping.policyClassName == nil ? [] : code
        return (filter.map { areOwn($0.keysOfSourceRow(besides: code)) } ?? true)
            && mapping.attributeMappings.allSatisfy { property in
                property.expression.map { areOwn($0.keysOfSourceRow(besides: code)) } ?? true
            }
    }
}
