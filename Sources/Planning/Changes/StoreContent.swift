import CausewayMapping
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
    package struct StoredLinks: Hashable, Sendable {
        /// The entity that declares it.
        package var entity: String
        package var relationship: String

        package init(entity: String, relationship: String) {
            self.entity = entity
            self.relationship = relationship
        }
    }

    /// What is counted.
    package var unit: String {
        switch self {
        case .rows: "rows"
        case .values: "values"
        case .links: "links"
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
            let tables = SourceTables(layout: layout)
            for links in links.sorted(by: { ($0.entity, $0.relationship) < ($1.entity, $1.relationship) }) {
                terms.append(try Self.term(links, in: tables))
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

    private static func term(_ links: StoredLinks, in tables: SourceTables) throws(PlanError) -> CountTerm {
        let resolved = try tables.resolve(
            LinkSource(
                entity: links.entity, relationship: links.relationship, isInverted: false, changesForm: false))
        switch resolved.access {
        case .ownColumn(let own):
            let table: SQLIdentifier = try identifier(tables.table(of: resolved.thisEntity) ?? "")
            return column(own.column, of: resolved.thisEntity, table, tables.layout)
        case .otherColumn(let table, let column, _):
            return self.column(column, of: resolved.otherEntity, table, tables.layout)
        case .join(let join): return CountTerm(table: join.table, sql: "count(*)")
        }
    }

    /// Rows of other entities may hold what was left in the column of theirs.
    private static func column(
        _ column: SQLIdentifier, of entity: String, _ table: SQLIdentifier, _ layout: StoreLayout
    ) -> CountTerm {
        guard let numbers = layout.numbers(ofTree: entity) else { return CountTerm(table: table, sql: "0") }
        let isOfEntity = "t.\"Z_ENT\" BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
        return .values(in: "t.\(column)", where: isOfEntity, of: table)
    }
}
