import CausewayMapping
import CausewayModel
package import CausewaySQLite
package import CausewayStoreFormat

/// Where a store has a relationship's links, for counting them in one scan of the table, whose rows are `t`.
package struct LinkStorage {
    package let table: SQLIdentifier
    /// Key of the object that has the relationship, and of the one that it leads to.
    private let near: SQLIdentifier
    private let far: SQLIdentifier
    /// The far object's place in the near one's ordered relationship, and the near one's in the far one's.
    private let placeOfFar: SQLIdentifier?
    private let placeOfNear: SQLIdentifier?
    /// Holds for the rows with a link: rows of other entities may hold what was left in the column of theirs.
    private let isLink: String
    private let narrowings: [LinkNarrowing]
    /// Holds for the links `a`, `b` that count; nil where all do.
    private let condition: String?

    /// - Parameters:
    ///   - links: of the store's version.
    ///   - layout: the store's, with the names that it has.
    /// - Throws: where the store lacks a table or column that its version has.
    package init(_ links: StoreContent.StoredLinks, in layout: StoreLayout) throws(PlanError) {
        let tables = SourceTables(layout: layout)
        let resolved = try tables.resolve(
            LinkSource(
                entity: links.entity, relationship: links.relationship, isInverted: false, changesForm: false))
        let key: SQLIdentifier = try identifier("Z_PK")
        narrowings = links.narrowings
        condition = try links.rows.map { rows throws(PlanError) in
            let table = try identifier(tables.table(of: rows.areFar ? resolved.otherEntity : resolved.thisEntity) ?? "")
            let numbers = rows.entities.compactMap { layout.entityNumbers[$0] }.sorted().map(String.init)
            return """
                \(rows.areFar ? "b" : "a") IN (SELECT \(key) FROM \(table) WHERE "Z_ENT" IN \
                (\(numbers.joined(separator: ", "))))
                """
        }
        switch resolved.access {
        case .ownColumn(let own):
            (table, near, far) = (try identifier(tables.table(of: resolved.thisEntity) ?? ""), key, own.column)
            (placeOfFar, placeOfNear) = (nil, own.place)
            isLink = Self.isLink(own.column, of: resolved.thisEntity, layout)
        case .otherColumn(let other, let column, let place):
            (table, near, far) = (other, column, key)
            (placeOfFar, placeOfNear) = (place, nil)
            isLink = Self.isLink(column, of: resolved.otherEntity, layout)
        case .join(let join):
            (table, near, far) = (join.table, join.mine, join.theirs)
            (placeOfFar, placeOfNear) = (join.placeOfTheirs, join.placeOfMine)
            isLink = "1"
        }
    }

    private static func isLink(_ column: SQLIdentifier, of entity: String, _ layout: StoreLayout) -> String {
        guard let numbers = layout.numbers(ofTree: entity) else { return "0" }
        return "t.\"Z_ENT\" BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound) AND t.\(column) IS NOT NULL"
    }

    /// The links that earlier steps have left, as `a` (near key) and `b` (far key).
    private var left: String {
        let places = "\(placeOfFar.map { "t.\($0)" } ?? "0") AS x, \(placeOfNear.map { "t.\($0)" } ?? "0") AS y"
        var sql = "SELECT t.\(near) AS a, t.\(far) AS b, \(places) FROM \(table) AS t NOT INDEXED WHERE \(isLink)"
        for narrowing in narrowings {
            let (key, place, other) = narrowing.isFar ? ("b", "y", "a") : ("a", "x", "b")
            sql = """
                SELECT a, b, x, y FROM (SELECT *, row_number() OVER (PARTITION BY \(key) ORDER BY \
                \(narrowing.isByPlace ? "\(place), " : "")\(other)) AS n FROM (\(sql))) WHERE n = 1
                """
        }
        return condition.map { "SELECT a, b, x, y FROM (\(sql)) WHERE \($0)" } ?? sql
    }

    var all: CountTerm {
        CountTerm(
            table: table,
            sql: narrowings.isEmpty && condition == nil
                ? "count(CASE WHEN \(isLink) THEN 1 END)" : "(SELECT count(*) FROM (\(left)))")
    }

    /// Links beyond the first one of each object at an end.
    func further(of end: StoreContent.LinkEnd) -> CountTerm {
        guard narrowings.isEmpty, condition == nil else {
            let key = end.isFar ? "b" : "a"
            return CountTerm(table: table, sql: "(SELECT count(*) - count(DISTINCT \(key)) FROM (\(left)))")
        }
        let key = "CASE WHEN \(isLink) THEN t.\(end.isFar ? far : near) END"
        return CountTerm(table: table, sql: "count(\(key)) - count(DISTINCT \(key))")
    }

    /// Links that the inverse doesn't have.
    func lacked(by inverse: LinkStorage) -> CountTerm {
        CountTerm(
            table: table,
            sql: "(SELECT count(*) FROM (SELECT a, b FROM (\(left)) EXCEPT SELECT b, a FROM (\(inverse.left))))")
    }

    /// A query for the objects at an end that have several links: their keys and how many each has.
    package func crowded(_ end: StoreContent.LinkEnd) -> String {
        "SELECT \(end.isFar ? "b" : "a"), count(*) FROM (\(left)) GROUP BY 1 HAVING count(*) > 1"
    }
}
