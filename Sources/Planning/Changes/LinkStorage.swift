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
    /// Holds for the rows with a link: rows of other entities may hold what was left in the column of theirs.
    private let isLink: String

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
        switch resolved.access {
        case .ownColumn(let own):
            (table, near, far) = (try identifier(tables.table(of: resolved.thisEntity) ?? ""), key, own.column)
            isLink = Self.isLink(own.column, of: resolved.thisEntity, layout)
        case .otherColumn(let other, let column, _):
            (table, near, far) = (other, column, key)
            isLink = Self.isLink(column, of: resolved.otherEntity, layout)
        case .join(let join):
            (table, near, far) = (join.table, join.mine, join.theirs)
            isLink = "1"
        }
    }

    private static func isLink(_ column: SQLIdentifier, of entity: String, _ layout: StoreLayout) -> String {
        guard let numbers = layout.numbers(ofTree: entity) else { return "0" }
        return "t.\"Z_ENT\" BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound) AND t.\(column) IS NOT NULL"
    }

    var all: CountTerm { CountTerm(table: table, sql: "count(CASE WHEN \(isLink) THEN 1 END)") }

    /// Links beyond the first one of each object at an end.
    func further(of end: StoreContent.LinkEnd) -> CountTerm {
        let key = "CASE WHEN \(isLink) THEN t.\(end.isFar ? far : near) END"
        return CountTerm(table: table, sql: "count(\(key)) - count(DISTINCT \(key))")
    }

    /// Links that the inverse doesn't have.
    func lacked(by inverse: LinkStorage) -> CountTerm {
        let isConfirmed = """
            EXISTS (SELECT 1 FROM \(inverse.table) AS o WHERE o."Z_PK" = t.\(far) AND o.\(inverse.far) = t."Z_PK")
            """
        return CountTerm(table: table, sql: "count(CASE WHEN \(isLink) AND NOT \(isConfirmed) THEN 1 END)")
    }

    /// A query for the objects at an end that have several links: their keys and how many each has.
    package func crowded(_ end: StoreContent.LinkEnd) -> String {
        let key = end.isFar ? far : near
        return "SELECT t.\(key), count(*) FROM \(table) AS t NOT INDEXED WHERE \(isLink) GROUP BY 1 HAVING count(*) > 1"
    }
}
