import CausewayExpressions
import CausewayModel

/// What a derived attribute is computed from, as far as real stores show it (store-format.md §7).
enum DerivedForm: Hashable {
    /// `now()`: when the row was last saved.
    case now
    /// `toMany.@count`
    case count(relationship: String)
    /// `toOne.attribute`
    case copy(relationship: String, attribute: String)
    /// `attribute` of the same row, and whatever else: no store shows the triggers.
    case other

    init(_ expression: Expression) {
        switch expression {
        case .function(nil, "now", let arguments) where arguments.isEmpty:
            self = .now
        case .function(nil, "count:", let arguments) where arguments.count == 1:
            guard case .keyPath(operand: .evaluatedObject, path: let path) = arguments[0], !path.contains(".") else {
                self = .other
                return
            }
            self = .count(relationship: path)
        case .keyPath(operand: .evaluatedObject, path: let path):
            let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            switch (parts.count, parts.last) {
            case (2, "@count"): self = .count(relationship: parts[0])
            case (2, let last?) where !last.hasPrefix("@"): self = .copy(relationship: parts[0], attribute: last)
            default: self = .other
            }
        default:
            self = .other
        }
    }
}

/// How to compute a derived attribute for rows that exist already.
package struct DerivedValue: Hashable, Sendable {
    package let table: String
    package let column: String
    /// Rows whose Z_ENT lies here have the attribute.
    package let entityNumbers: ClosedRange<Int>
    /// An SQL expression over the row of `table`; nil for `now()`, which is the time of the save in seconds since 2001.
    package let expression: String?
}

extension StoreLayout {
    /// How to compute the derived attribute that `entity` declares, for a column that is new. Holds for `@count` of any
    /// stored to-many, `toOne.attribute` and `now()`; nil for other derivations and for attributes that aren't derived.
    package func derivedValue(of attribute: String, declaredBy entity: String) -> DerivedValue? {
        guard let declared = model.entities[entity]?.attributes.first(where: { $0.name == attribute }),
            let derivation = declared.derivation, let table = table(of: entity),
            let column = column(.attribute(entity: entity, path: attribute)), let numbers = numbers(ofTree: entity)
        else { return nil }
        func value(_ expression: String?) -> DerivedValue {
            DerivedValue(table: table.name, column: column.name, entityNumbers: numbers, expression: expression)
        }
        switch DerivedForm(derivation.expression) {
        case .now:
            return value(nil)
        case .count(let relationship):
            return countExpression(relationship, of: entity, table: table.name).map(value)
        case .copy(let relationship, let target):
            guard let (_, toOne) = model.relationship(relationship, of: entity), !toOne.isToMany,
                let key = self.column(of: relationship, in: entity), let other = self.table(of: toOne.destination),
                let source = self.column(of: target, in: toOne.destination)
            else { return nil }
            return value(
                "(SELECT related.\(source.name) FROM \(other.name) AS related "
                    + "WHERE related.Z_PK = \(table.name).\(key.name))")
        case .other:
            return nil
        }
    }

    private func countExpression(_ name: String, of entity: String, table: String) -> String? {
        guard let (owner, relationship) = model.relationship(name, of: entity), relationship.isToMany else {
            return nil
        }
        func count(_ other: String, _ key: String) -> String {
            "(SELECT COUNT(*) FROM \(other) AS related WHERE related.\(key) = \(table).Z_PK)"
        }
        if let (join, isNaming) = joinTable(of: name, declaredBy: owner) {
            return count(join.name, isNaming ? join.ownerColumn : join.destinationColumn)
        }
        return countedColumn(of: relationship, declaredBy: owner).map { count($0.table, $0.column.name) }
    }

    /// The column in the destination's table that points back to the owner of a to-many.
    func countedColumn(of relationship: Relationship, declaredBy owner: String) -> TableColumn? {
        if let inverse = model.inverse(of: relationship) {
            return columnsByRole[.toOne(entity: inverse.owner, relationship: inverse.relationship.name)]
        }
        return columnsByRole[.virtualToOne(owner: owner, relationship: relationship.name)]
    }
}
