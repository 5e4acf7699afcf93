import CausewayModel
import CausewayStoreFormat
import Testing

/// What must hold for every link of a store, as SQL that counts the rows that break it.
struct LinkChecks {
    let store: GeneratedStore
    var layout: StoreLayout { store.layout }

    /// The failed checks: what is wrong, and in how many rows.
    func failures() throws -> [String] {
        var found: [String] = []
        for check in toOnes() + pairs() + joins() {
            let count = try store.number(check.sql)
            if count != 0 { found.append("\(check.what): \(count)") }
        }
        return found
    }

    private typealias Check = (what: String, sql: String)

    private func toOnes() -> [Check] {
        layout.tables.flatMap { table in
            table.columns.flatMap { column -> [Check] in
                switch column.role {
                case .toOne(let entity, let name):
                    guard let destination = layout.model.relationship(name, of: entity)?.relationship.destination
                    else { return [] }
                    return reference(
                        table.name, column.name, destination,
                        number: layout.column(.toOneEntity(entity: entity, relationship: name))?.name,
                        order: layout.column(.orderKey(entity: entity, relationship: name))?.name)
                case .virtualToOne(let owner, let name):
                    return reference(
                        table.name, column.name, owner, number: nil,
                        order: layout.column(.virtualOrderKey(owner: owner, relationship: name))?.name)
                default:
                    return []
                }
            }
        }
    }

    private func reference(
        _ table: String, _ column: String, _ destination: String, number: String?, order: String?
    ) -> [Check] {
        guard let target = layout.table(of: destination), let range = layout.numbers(ofTree: destination) else {
            return []
        }
        var checks: [Check] = [
            (
                "\(table).\(column) dangles",
                "SELECT COUNT(*) FROM \(table) a LEFT JOIN \(target.name) b ON b.Z_PK = a.\(column) "
                    + "WHERE a.\(column) NOT NULL AND (b.Z_PK IS NULL OR b.Z_ENT NOT BETWEEN "
                    + "\(range.lowerBound) AND \(range.upperBound))"
            )
        ]
        if let number {
            checks.append(
                (
                    "\(table).\(number) is not the target's",
                    "SELECT COUNT(*) FROM \(table) a LEFT JOIN \(target.name) b ON b.Z_PK = a.\(column) "
                        + "WHERE a.\(number) IS NOT b.Z_ENT"
                ))
        }
        if let order { checks += ordered(table, by: column, order) }
        return checks
    }

    private func ordered(_ table: String, by owner: String, _ order: String) -> [Check] {
        [
            (
                "\(table).\(order) is not set with its owner",
                "SELECT COUNT(*) FROM \(table) WHERE (\(owner) IS NULL) <> (\(order) IS NULL)"
            ),
            (
                "\(table).\(order) repeats",
                "SELECT COUNT(*) FROM (SELECT 1 FROM \(table) WHERE \(order) NOT NULL "
                    + "GROUP BY \(owner), \(order) HAVING COUNT(*) > 1)"
            ),
            ("\(table).\(order) is too small", "SELECT COUNT(*) FROM \(table) WHERE \(order) < 2048"),
        ]
    }

    /// Both sides of a one-to-one.
    private func pairs() -> [Check] {
        layout.tables.flatMap { table in
            table.columns.compactMap { column -> Check? in
                guard case .toOne(let entity, let name) = column.role,
                    let relationship = layout.model.relationship(name, of: entity)?.relationship,
                    let inverse = layout.model.inverse(of: relationship), !inverse.relationship.isToMany,
                    let other = layout.table(of: inverse.owner),
                    let back = layout.column(.toOne(entity: inverse.owner, relationship: inverse.relationship.name))
                else { return nil }
                return (
                    "\(table.name).\(column.name) and \(other.name).\(back.name) differ",
                    "SELECT COUNT(*) FROM \(table.name) a JOIN \(other.name) b ON b.Z_PK = a.\(column.name) "
                        + "WHERE b.\(back.name) IS NOT a.Z_PK"
                )
            }
        }
    }

    private func joins() -> [Check] {
        layout.joinTables.flatMap { join -> [Check] in
            guard let named = layout.model.relationship(join.relationship, of: join.owner)?.relationship,
                let inverse = layout.model.inverse(of: named)?.relationship
            else { return [] }
            var checks = [(join.ownerColumn, inverse.destination), (join.destinationColumn, named.destination)]
                .flatMap { reference(join.name, $0.0, $0.1, number: nil, order: nil) }
            checks.append(
                (
                    "\(join.name) has NULL",
                    "SELECT COUNT(*) FROM \(join.name) WHERE \(join.ownerColumn) IS NULL OR \(join.destinationColumn) IS NULL"
                ))
            if join.isReflexive {
                checks.append(
                    (
                        "\(join.name) is not symmetric",
                        "SELECT COUNT(*) FROM \(join.name) a WHERE NOT EXISTS (SELECT 1 FROM \(join.name) b WHERE "
                            + "b.\(join.ownerColumn) = a.REFLEXIVE AND b.REFLEXIVE = a.\(join.ownerColumn))"
                    ))
            }
            if let order = join.destinationOrderColumn { checks += ordered(join.name, by: join.ownerColumn, order) }
            if let order = join.ownerOrderColumn { checks += ordered(join.name, by: join.destinationColumn, order) }
            return checks
        }
    }
}
