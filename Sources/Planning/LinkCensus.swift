package import CausewayMapping
import CausewayModel
import CausewaySQLite
package import CausewayStoreFormat

/// Statements that count the links of one source relationship by the entities at their ends. They read the same as the
/// passes: the column with the target's Z_ENT if there is one, else the row at the other end.
package struct LinkCensus: Sendable {
    /// The same for a relationship and its inverse, whose links are one set.
    package let relationship: [String]
    /// Whether the result's ends are swapped compared with the requested `LinkSource`.
    package let isSwapped: Bool
    /// Returns Z_ENT of this end, Z_ENT of the other end, and the number of links; NULL for a missing end.
    package let sql: String
    /// Where this end's rows hold the links; nil if they are stored elsewhere.
    private let holder: Holder?

    private struct Holder {
        var table: SQLIdentifier
        var column: SQLIdentifier
        /// The other end's Z_ENT as a term over a row `t`.
        var other: String
    }

    /// `links` is the relationship, seen from either end; `layout` is the store's, with the names that it has. Throws
    /// where the store doesn't hold the relationship.
    package init(_ links: LinkSource, in layout: StoreLayout) throws(PlanError) {
        let source = SourceTables(layout: layout)
        guard let (owner, relationship) = layout.model.relationship(links.relationship, of: links.entity) else {
            throw .missingInSource(entity: links.entity, property: links.relationship)
        }
        let inverse = layout.model.inverse(of: relationship).flatMap { $0.relationship.isTransient ? nil : $0 }
        // From the end whose rows have the column, else from the one whose name comes first.
        var seen = [owner, relationship.name]
        var isTurned = false
        if let inverse {
            let turned = [inverse.owner, inverse.relationship.name]
            isTurned =
                relationship.isToMany == inverse.relationship.isToMany
                ? turned.lexicographicallyPrecedes(seen) : !inverse.relationship.isToMany
            if isTurned { seen = turned }
        }
        let resolved = try source.resolve(
            LinkSource(entity: seen[0], relationship: seen[1], isInverted: false, changesForm: false))
        self.relationship = seen
        isSwapped = links.isInverted != isTurned
        let this = try Self.rows(of: resolved.thisEntity, source)
        let other = try Self.rows(of: resolved.otherEntity, source)
        switch resolved.access {
        case .ownColumn(let own):
            let term = own.entity.map { "t.\($0)" } ?? other.number(of: "t.\(own.column)")
            holder = Holder(table: this.table, column: own.column, other: term)
            sql = Self.statement(this: "t.\"Z_ENT\"", other: term, from: this.table, where: "t.\(own.column)")
        case .otherColumn(let table, let column, _):
            holder = nil
            sql = Self.statement(
                this: this.number(of: "t.\(column)"), other: "t.\"Z_ENT\"", from: table, where: "t.\(column)")
        case .join(let join):
            holder = nil
            sql = Self.statement(
                this: this.number(of: "t.\(join.mine)"), other: other.number(of: "t.\(join.theirs)"), from: join.table,
                where: "t.\(join.mine)")
        }
    }

    /// Where the rows of an entity are.
    private struct Rows {
        var table: SQLIdentifier
        /// The only Z_ENT that they have; nil where subentities share the table.
        var number: Int?

        /// The Z_ENT of the row with a key.
        func number(of key: String) -> String {
            number.map(String.init) ?? "(SELECT d.\"Z_ENT\" FROM \(table) AS d WHERE d.\"Z_PK\" = \(key))"
        }
    }

    private static func rows(of entity: String, _ source: SourceTables) throws(PlanError) -> Rows {
        let isAlone = !source.layout.entities.contains { $0 != entity && source.model.isKind($0, of: entity) }
        return Rows(
            table: try identifier(source.table(of: entity) ?? ""),
            number: isAlone ? source.layout.entityNumbers[entity] : nil)
    }

    private static func statement(
        this: String, other: String, from table: SQLIdentifier, where key: String
    ) -> String {
        "SELECT \(this), \(other), count(*) FROM \(table) AS t WHERE \(key) IS NOT NULL GROUP BY 1, 2"
    }

    /// A condition on the rows of this end (as `sql` has it) that have a link between certain entities, for
    /// `SELECT … FROM table`; nil if these rows don't hold the links.
    package func rows(of entity: Int, linkedTo others: [Int]) -> (table: String, condition: String)? {
        guard let holder else { return nil }
        let list = others.map(String.init).joined(separator: ", ")
        let isLinked = "t.\(holder.column) IS NOT NULL AND t.\"Z_ENT\" = \(entity) AND \(holder.other) IN (\(list))"
        return (holder.table.name, isLinked)
    }
}
