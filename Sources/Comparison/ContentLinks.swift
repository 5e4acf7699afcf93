import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// The links of one relationship, as a statement of the store reads them.
struct ContentLinks {
    /// `Entity.relationship` of the side that the first key belongs to.
    let label: String
    /// The other side's; nil where the model has none.
    let inverse: String?
    /// Places of the two ends' tables in the layout.
    let first: Int
    let second: Int
    /// Gives both keys, the place of the first among the second's links and the place of the second among the first's;
    /// 0 where not ordered.
    let sql: String

    /// A place is a rank: the numbers that Core Data writes leave gaps.
    private static func rank(of column: String?, among key: String) throws(SQLiteError) -> String {
        guard let column else { return "0" }
        return "rank() OVER (PARTITION BY \(key) ORDER BY \(try SQLIdentifier(column)))"
    }

    /// Every relationship that the store keeps.
    static func all(_ store: ComparedStore) throws -> [ContentLinks] {
        guard let layout = store.binding?.layout else { return [] }
        var result: [ContentLinks] = []
        for table in layout.tables {
            for column in table.columns {
                if let links = try toOne(column, in: table, layout) { result.append(links) }
            }
        }
        for join in store.joins {
            guard let inverse = join.inverse, let first = place(ofTableOf: join.label, layout),
                let second = place(ofTableOf: inverse, layout)
            else { continue }
            let (key, other) = (try SQLIdentifier(join.first).quoted, try SQLIdentifier(join.second).quoted)
            result.append(
                ContentLinks(
                    label: join.label, inverse: inverse, first: first, second: second,
                    sql: """
                        SELECT \(key), \(other), \(try rank(of: join.firstPlace, among: other)), \
                        \(try rank(of: join.secondPlace, among: key)) FROM \(try SQLIdentifier(join.table))
                        """))
        }
        return result
    }

    private static func toOne(
        _ column: Column, in table: EntityTable, _ layout: StoreLayout
    ) throws -> ContentLinks? {
        let (model, label, inverse): (ManagedObjectModel, String, String?)
        let (holder, target, place): (String, String, ColumnRole)
        model = layout.model
        switch column.role {
        case .toOne(let entity, let name):
            guard let relationship = model.relationship(name, of: entity)?.relationship else { return nil }
            (holder, target) = (entity, relationship.destination)
            (label, place) = ("\(entity).\(name)", .orderKey(entity: entity, relationship: name))
            inverse = model.inverse(of: relationship).map { "\($0.owner).\($0.relationship.name)" }
        case .virtualToOne(let owner, let name):
            guard let relationship = model.relationship(name, of: owner)?.relationship else { return nil }
            (holder, target) = (relationship.destination, owner)
            (label, place) = ("\(owner).\(name)", .virtualOrderKey(owner: owner, relationship: name))
            inverse = nil
        case .primaryKey, .entityNumber, .optimisticLock, .attribute, .toOneEntity, .orderKey, .virtualOrderKey:
            return nil
        }
        guard let numbers = layout.numbers(ofTree: holder), let first = placeOfTable(of: holder, layout),
            let second = placeOfTable(of: target, layout)
        else { return nil }
        let key = try SQLIdentifier(column.name).quoted
        return ContentLinks(
            label: label, inverse: inverse, first: first, second: second,
            sql: """
                SELECT "Z_PK", \(key), \(try rank(of: layout.column(place)?.name, among: key)), 0 \
                FROM \(try SQLIdentifier(table.name)) WHERE \(key) IS NOT NULL \
                AND "Z_ENT" BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)
                """)
    }

    /// `Entity.relationship`
    private static func place(ofTableOf label: String, _ layout: StoreLayout) -> Int? {
        placeOfTable(of: String(label.prefix { $0 != "." }), layout)
    }

    private static func placeOfTable(of entity: String, _ layout: StoreLayout) -> Int? {
        layout.table(of: entity).flatMap { table in layout.tables.firstIndex { $0.name == table.name } }
    }
}
