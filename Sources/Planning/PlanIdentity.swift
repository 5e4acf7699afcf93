import CausewayMapping
import CausewaySQLite
package import CausewayStoreFormat

// Identifies unfinished work: the values of a plan as text, the same in every process. It contains no SQL, so that a
// reworded statement can resume what an earlier one began.

/// Joins parts unambiguously.
private func joined(_ parts: [String]) -> String {
    parts.map { "\($0.utf8.count):\($0)" }.joined(separator: " ")
}

extension TableWork {
    /// How the rows get there is no part of it: any method makes the same rows.
    package var identity: String {
        joined([table] + passes.map(\.identity) + indexes.map(\.index.identity))
    }
}

extension RowPass {
    fileprivate var identity: String {
        let projections = projections.sorted { $0.key < $1.key }.map { number, projection in
            joined(["\(number)", projection.entity] + projection.cells.map(\.identity))
        }
        return joined(
            [id, kind.rawValue, sourceTable, shape.identity, joined(destinationColumns)]
                + [key, discriminator].map { $0.map(String.init) ?? "" } + projections
                + ["\(dropped.sorted()) \(elsewhere.sorted()) \(dropsUnknown)"])
    }
}

extension RowShape {
    package var identity: String {
        joined(
            [
                table.name, joined(cells.map(\.identity)), joined(conditions.map(\.identity)), "\(order)",
                rowOrder.identity,
            ])
    }
}

extension RowShape.Cell {
    fileprivate var identity: String {
        switch self {
        case .column(let name): joined(["column", name.name])
        case .related(let key): joined(["related", key.identity])
        case .relatedEntity(let key, let table): joined(["entity of", key.identity, table.name])
        case .position(let owner, let by, let besides):
            joined(["position", owner.identity, by.name] + besides.map(String.init))
        }
    }
}

extension RowShape.RelatedKey {
    fileprivate var identity: String {
        let others = besides.map { [$0.column.name, $0.table.name] + $0.entities.map(String.init) } ?? []
        return joined([table.name, key.name, value.name, order?.name ?? ""] + others)
    }
}

extension RowShape.Condition {
    fileprivate var identity: String {
        switch self {
        case .notNull(let cell): joined(["not null", cell.identity])
        case .oneOf(let column, let numbers): joined(["one of", column.name, "\(numbers)"])
        case .targetIsNot(let column, let table, let entities):
            joined(["target is not", column.name, table.name, "\(entities)"])
        case .isNone(let first, let second, let pairs):
            joined(["none of", first.name, second.name] + pairs.map { joined([$0.first, $0.second]) })
        case .targetMeets(let column, let table, let conditions):
            joined(["target meets", column.name, table.name] + conditions.map(\.identity))
        }
    }
}

extension RowShape.RowOrder {
    fileprivate var identity: String {
        switch self {
        case .rowID(let name): joined(["rowid", name?.name ?? ""])
        case .key(let terms):
            joined(["key"] + terms.map { "\($0.column.name) \($0.collation.name) \($0.isDescending)" })
        }
    }
}

extension TableIndex {
    package var identity: String {
        joined(
            [name, table, "\(isUnique)", "\(isPartial)", condition ?? "", origin.rawValue]
                + columns.map { "\($0.name ?? "") \($0.collation) \($0.isDescending)" })
    }
}

extension DerivedValue {
    package var identity: String {
        let what =
            switch source {
            case .now: ["now"]
            case .count(let table, let key): ["count", table, key]
            case .copy(let table, let column, let key): ["copy", table, column, key]
            }
        return joined([table, column, "\(entityNumbers)"] + what)
    }
}

extension CellRecipe {
    /// Sets and dictionaries have another order in each process.
    fileprivate var identity: String {
        switch self {
        case .carry(let cell): "carry \(cell)"
        case .carryOr(let cell, let literal): "carry \(cell) or \(literal)"
        case .converted(let cell, let conversion, let literal):
            "converted \(cell) \(conversion.types) or \(literal.map { "\($0)" } ?? "NULL")"
        case .literal(let literal): "literal \(literal)"
        case .key(let cell, let entity, let dropped): "key \(cell) \(entity) \(dropped.sorted())"
        case .entityNumber(let cell, let numbers):
            "number \(cell) \(numbers.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" })"
        case .literalIfPresent(let cell, let literal): "literal \(literal) if \(cell)"
        case .first(let recipe, let position): "first of \(position): \(recipe.identity)"
        case .inlined(let cell, _): "inlined \(cell)"
        case .prefixed(let cell, _): "prefixed \(cell)"
        // Follows from the models, whose hashes are parts of their own.
        case .historyBitmap(let cell, _): "bitmap \(cell)"
        }
    }
}
