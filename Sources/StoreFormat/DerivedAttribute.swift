import CausewayExpressions
import CausewayModel

/// What a derived attribute is computed from, as far as real stores show it (InsideStoreFormat §7).
enum DerivedForm: Hashable {
    /// `now()`: when the row was last saved.
    case now
    /// `toMany.@count`
    case count(relationship: String)
    /// `toOne.attribute`
    case copy(relationship: String, attribute: String)
    /// `attribute` of the same row, and all others: no store shows their triggers.
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

/// How to compute a derived attribute for existing rows.
///
/// In time that is linear in the rows of both tables, whatever indexes there are: counts come from one grouped scan,
/// and copies are looked up by Z_PK.
package struct DerivedValue: Hashable, Sendable {
    package let table: String
    package let column: String
    /// Rows with a Z_ENT in this range have the attribute.
    package let entityNumbers: ClosedRange<Int>
    package let source: Source

    package init(table: String, column: String, entityNumbers: ClosedRange<Int>, source: Source) {
        self.table = table
        self.column = column
        self.entityNumbers = entityNumbers
        self.source = source
    }

    /// The source of the value.
    package enum Source: Hashable, Sendable {
        /// `now()`: the time of the save in seconds since 2001.
        case now
        /// How many rows of `table` hold the row's Z_PK in the column `key`.
        case count(table: String, key: String)
        /// The column of the row of `table` whose Z_PK the row has in its column `key`.
        case copy(table: String, column: String, key: String)

        /// The table that it is read from; nil for the clock.
        package var table: String? {
            switch self {
            case .now: nil
            case .count(let table, _), .copy(let table, _, _): table
            }
        }
    }

    /// The counted keys, and how often each occurs.
    private static let counts = "temp.causeway_counts"

    /// Statements that compute the value for every row that has it, one after the other; none for `now()`, which only a
    /// save knows. With `onlyChanges` rows with the right value aren't written.
    package func statements(onlyChanges: Bool = false) -> [String] {
        switch source {
        case .now: return []
        case .count(let other, let key):
            // A correlated count would scan the other table once per row if no index leads with the key: there is none
            // before the indexes are made, and never one on a join table's second column up to framework version 519.
            // Keys of another storage class are dangling, and don't fit into an INTEGER PRIMARY KEY.
            return [
                "CREATE TEMP TABLE causeway_counts (key INTEGER PRIMARY KEY, number INTEGER NOT NULL)",
                "INSERT INTO \(Self.counts) SELECT \(key), count(*) FROM \(other) WHERE typeof(\(key)) = 'integer' "
                    + "GROUP BY \(key)",
                update(
                    "ifnull((SELECT c.number FROM \(Self.counts) AS c WHERE c.key = \(table).Z_PK), 0)", onlyChanges),
                "DROP TABLE \(Self.counts)",
            ]
        case .copy(let other, let copied, let key):
            let value = "(SELECT o.\(copied) FROM \(other) AS o WHERE o.Z_PK = \(table).\(key))"
            return [update(value, onlyChanges)]
        }
    }

    private func update(_ value: String, _ onlyChanges: Bool) -> String {
        "UPDATE \(table) SET \(column) = \(value) "
            + "WHERE Z_ENT BETWEEN \(entityNumbers.lowerBound) AND \(entityNumbers.upperBound)"
            + (onlyChanges ? " AND \(column) IS NOT \(value)" : "")
    }

    /// The order in which values can be computed: a copy of a derived column comes after that column.
    package static func inOrder(_ values: [DerivedValue]) -> [DerivedValue] {
        // By table and column.
        var waiting = Dictionary(grouping: values) { [$0.table, $0.column] }
        var result: [DerivedValue] = []
        for value in values {
            // A value copies from one column, so its prerequisites are one chain; a circular chain ends where it
            // repeats.
            var chain: [DerivedValue] = []
            var next: [String]? = [value.table, value.column]
            while let cell = next, let found = waiting.removeValue(forKey: cell) {
                chain += found.reversed()
                next =
                    found.lazy.compactMap {
                        guard case .copy(let table, let column, _) = $0.source else { return nil }
                        return [table, column]
                    }.first
            }
            result += chain.reversed()
        }
        return result
    }
}

extension StoreLayout {
    /// How to compute the derived attribute that `entity` declares, for a column that is new. Holds for `@count` of any
    /// stored to-many, `toOne.attribute` and `now()`; nil for other derivations and for attributes that aren't derived.
    package func derivedValue(of attribute: String, declaredBy entity: String) -> DerivedValue? {
        guard let declared = model.entities[entity]?.attributes.first(where: { $0.name == attribute }),
            let derivation = declared.derivation, let table = table(of: entity),
            let column = column(.attribute(entity: entity, path: attribute)), let numbers = numbers(ofTree: entity)
        else { return nil }
        func value(_ source: DerivedValue.Source) -> DerivedValue {
            DerivedValue(table: table.name, column: column.name, entityNumbers: numbers, source: source)
        }
        switch DerivedForm(derivation.expression) {
        case .now: return value(.now)
        case .count(let relationship): return countedKeys(relationship, of: entity).map(value)
        case .copy(let relationship, let target):
            guard let (_, toOne) = model.relationship(relationship, of: entity), !toOne.isToMany,
                let key = self.column(of: relationship, in: entity), let other = self.table(of: toOne.destination),
                let source = self.column(of: target, in: toOne.destination)
            else { return nil }
            return value(.copy(table: other.name, column: source.name, key: key.name))
        case .other: return nil
        }
    }

    /// Every derived attribute that can be computed, in a valid order.
    package var derivedValues: [DerivedValue] { derivedValues { _, _ in true } }

    /// The same, but only those of which `isWanted` is true, by the entity that declares them.
    package func derivedValues(_ isWanted: (_ entity: String, _ attribute: String) -> Bool) -> [DerivedValue] {
        DerivedValue.inOrder(
            entities.flatMap { name in
                (model.entities[name]?.attributes ?? []).filter { $0.derivation != nil && isWanted(name, $0.name) }
                    .compactMap { derivedValue(of: $0.name, declaredBy: name) }
            })
    }

    private func countedKeys(_ name: String, of entity: String) -> DerivedValue.Source? {
        guard let (owner, relationship) = model.relationship(name, of: entity), relationship.isToMany else {
            return nil
        }
        if let (join, isNaming) = joinTable(of: name, declaredBy: owner) {
            return .count(table: join.name, key: isNaming ? join.ownerColumn : join.destinationColumn)
        }
        return countedColumn(of: relationship, declaredBy: owner).map { .count(table: $0.table, key: $0.column.name) }
    }

    /// The column in the destination's table that points back to the owner of a to-many.
    func countedColumn(of relationship: Relationship, declaredBy owner: String) -> TableColumn? {
        if let inverse = model.inverse(of: relationship) {
            return columnsByRole[.toOne(entity: inverse.owner, relationship: inverse.relationship.name)]
        }
        return columnsByRole[.virtualToOne(owner: owner, relationship: relationship.name)]
    }
}
