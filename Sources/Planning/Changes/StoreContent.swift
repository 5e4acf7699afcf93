package import CausewayMapping
import CausewayModel
package import CausewaySQLite
package import CausewayStoreFormat

/// A part of what a store holds, in the words of its own version: a plan counts it there.
package enum StoreContent: Hashable, Sendable {
    /// Rows of these entities themselves, without subentities'.
    case rows(Set<String>)
    /// Values that aren't NULL.
    case values(Set<StoredValue>)
    /// Links, each set once: those that rows of some entities hold in a column, or all of a join table.
    case links(Set<StoredLinks>)
    /// Links beyond the first one of each object at an end.
    case furtherLinks(Set<LinkEnd>)
    /// Links of relationships that their inverses don't have.
    case unconfirmed(Set<Unconfirmed>)

    /// An attribute's values in the rows of one entity; the path of a composite's leaf is `composite.leaf`.
    package struct StoredValue: Hashable, Sendable {
        package var entity: String
        package var path: String

        package init(entity: String, path: String) {
            self.entity = entity
            self.path = path
        }
    }

    /// A relationship's links.
    package struct StoredLinks: Hashable, Comparable, Sendable {
        /// The entity that declares it.
        package var entity: String
        package var relationship: String
        /// What earlier steps have taken of them.
        package var narrowings: [LinkNarrowing] = []
        /// An earlier step has made one set of links of a one-to-one's two columns: this one's.
        package var isAlone = false
        /// Only links of rows of these entities themselves, at one of the ends.
        package var rows: Rows?

        package struct Rows: Hashable, Sendable {
            package var entities: Set<String>
            /// The rows that the relationship leads to, instead of those that have it.
            package var areFar: Bool
        }

        package init(entity: String, relationship: String) {
            self.entity = entity
            self.relationship = relationship
        }

        package static func < (a: StoredLinks, b: StoredLinks) -> Bool {
            (a.entity, a.relationship) < (b.entity, b.relationship)
        }

        /// The other side of a one-to-one whose ends are two relationships: each has a column.
        func inverseToOne(in model: ManagedObjectModel) -> StoredLinks? {
            guard let found = model.relationship(relationship, of: entity)?.relationship, !found.isToMany,
                let inverse = model.inverse(of: found), !inverse.relationship.isToMany,
                !inverse.relationship.isTransient
            else { return nil }
            guard inverse.owner != entity || inverse.relationship.name != relationship else { return nil }
            var other = StoredLinks(entity: inverse.owner, relationship: inverse.relationship.name)
            other.rows = rows.map { Rows(entities: $0.entities, areFar: !$0.areFar) }
            return other
        }
    }

    /// The objects at one end of a relationship's links.
    package struct LinkEnd: Hashable, Comparable, Sendable {
        package var links: StoredLinks
        /// The objects that the relationship leads to, instead of those that have it.
        package var isFar: Bool

        package static func < (a: LinkEnd, b: LinkEnd) -> Bool {
            a.links == b.links ? !a.isFar && b.isFar : a.links < b.links
        }
    }

    /// A relationship and its inverse, each with links of its own.
    package struct Unconfirmed: Hashable, Comparable, Sendable {
        package var links: StoredLinks
        package var inverse: StoredLinks

        package static func < (a: Unconfirmed, b: Unconfirmed) -> Bool {
            (a.links, a.inverse) < (b.links, b.inverse)
        }
    }

    /// What is counted.
    package var unit: String {
        switch self {
        case .rows: "rows"
        case .values: "values"
        case .links, .furtherLinks, .unconfirmed: "links"
        }
    }
}

/// A number that one scan of a table gives: an aggregate over its rows `t`.
package struct CountTerm: Hashable, Sendable {
    package var table: SQLIdentifier
    package var sql: String

    /// Asks whether a value is there, and so doesn't read it: large ones stay on their overflow pages.
    fileprivate static func values(in column: String, where condition: String, of table: SQLIdentifier) -> CountTerm {
        CountTerm(table: table, sql: "count(CASE WHEN \(condition) AND \(column) IS NOT NULL THEN 1 END)")
    }
}

extension StoreContent {
    /// The numbers whose sum is the size of this content.
    ///
    /// - Parameter layout: the store's, with the names that it has.
    /// - Returns: at most one for each column or join table.
    /// - Throws: where the store lacks a table or column that its version has.
    package func terms(in layout: StoreLayout) throws(PlanError) -> [CountTerm] {
        var terms: [CountTerm] = []
        switch self {
        case .rows(let entities):
            for entity in entities.sorted() {
                guard let table = layout.table(of: entity), let number = layout.entityNumbers[entity] else { continue }
                terms.append(
                    CountTerm(
                        table: try identifier(table.name), sql: "count(CASE WHEN t.\"Z_ENT\" = \(number) THEN 1 END)"))
            }
        case .values(let values):
            for (path, values) in Dictionary(grouping: values, by: \.path).sorted(by: { $0.key < $1.key }) {
                terms += try Self.terms(path, values.map(\.entity), in: layout)
            }
        case .links(let links):
            for links in links.sorted() {
                terms.append(try LinkStorage(links, in: layout).all)
                // Both ends of a one-to-one have a column, and may disagree.
                if !links.isAlone, let inverse = links.inverseToOne(in: layout.model) {
                    terms.append(try LinkStorage(inverse, in: layout).lacked(by: LinkStorage(links, in: layout)))
                }
            }
        case .furtherLinks(let ends):
            for end in ends.sorted() { terms.append(try LinkStorage(end.links, in: layout).further(of: end)) }
        case .unconfirmed(let links):
            for pair in links.sorted() {
                terms.append(try LinkStorage(pair.links, in: layout).lacked(by: LinkStorage(pair.inverse, in: layout)))
            }
        }
        return terms
    }

    /// Entities that share a column are counted together.
    private static func terms(
        _ path: String, _ entities: [String], in layout: StoreLayout
    ) throws(PlanError) -> [CountTerm] {
        var numbers: [CountTerm: [Int]] = [:]
        for entity in entities {
            guard let table = layout.table(of: entity), let column = layout.column(of: path, in: entity),
                let number = layout.entityNumbers[entity]
            else { continue }
            let name: SQLIdentifier = try identifier(column.name)
            let place = CountTerm(table: try identifier(table.name), sql: "t.\(name)")
            numbers[place, default: []].append(number)
        }
        return numbers.map { place, numbers in
            let list = numbers.sorted().map(String.init).joined(separator: ", ")
            return CountTerm.values(in: place.sql, where: "t.\"Z_ENT\" IN (\(list))", of: place.table)
        }
        .sorted { ($0.table.name, $0.sql) < ($1.table.name, $1.sql) }
    }
}
