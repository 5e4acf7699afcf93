import CausewaySQLiteFile
import CausewayStoreFormat

/// An index of the source whose entries stay as they are, but for numbers that change.
package struct KeptIndex: Hashable, Sendable {
    /// Its name in the source.
    package var source: String
    /// By the place of a column in its key.
    package var renumberings: [KeptTable.Renumbering]

    package var isPatched: Bool { !renumberings.isEmpty }
}

/// The source's indexes: found once for all tables, of which there may be thousands.
struct SourceIndexes {
    private let byTable: [String: [TableIndex]]
    /// Texts by name.
    let texts: [String: String]
    let names: Set<String>

    init(_ source: StepSource) {
        byTable = Dictionary(grouping: source.indexes) { $0.table.lowercased() }
        texts = Dictionary(
            (source.schema?.objects ?? []).compactMap { object in object.sql.map { (object.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        names = Set(source.indexes.map(\.name))
    }

    /// Those of a table.
    func indexes(of table: String) -> [TableIndex] { byTable[table.lowercased()] ?? [] }
}

/// Finds the indexes of a kept table that stay with it.
struct KeptIndexes {
    /// The source's indexes of the table, and the texts of all by name.
    private let indexes: [TableIndex]
    private let texts: [String: String]
    /// The column's name before, by its new name.
    private let names: [String: String]
    private let renumberings: [String: KeptTable.Renumbering]

    /// - Parameters:
    ///   - source: those of the store that is read.
    ///   - table: the table's name in it.
    ///   - columns: the table's columns before.
    ///   - kept: how it stays.
    ///   - derived: new columns that get their values after the rows.
    init(source: SourceIndexes, table: String, columns: [String], kept: KeptTable, derived: [String]) {
        indexes = source.indexes(of: table)
        texts = source.texts
        let pairs = zip(kept.columns, columns).map { ($0.lowercased(), $1.lowercased()) }
        names = Dictionary(pairs, uniquingKeysWith: { first, _ in first }).filter { pair in
            !derived.contains { $0.lowercased() == pair.key }
        }
        renumberings = Dictionary(
            kept.renumberings.map { (columns[$0.place].lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// How many of the source's indexes belong to constraints of the table.
    var constraintCount: Int { indexes.count { $0.origin == .constraint } }

    /// The index of the source that has the same entries; nil where none has.
    ///
    /// - Parameters:
    ///   - index: one of the new table's.
    ///   - sql: its statement; nil for the index of a constraint.
    ///   - taken: names of those that other indexes have got: several may have the same key.
    /// - Returns: its name, and what changes in its key.
    func counterpart(of index: TableIndex, sql: String?, besides taken: Set<String>) -> KeptIndex? {
        let indexes = indexes.filter { !taken.contains($0.name) }
        let isPlain = !index.isPartial && index.columns.allSatisfy { $0.name != nil }
        guard isPlain else {
            // Only SQLite understands its text: it must be the same, with the same names.
            guard renumberings.isEmpty, names.allSatisfy({ $0.key == $0.value }), let sql,
                let same = indexes.first(where: {
                    texts[$0.name] == sql && $0.columns == index.columns && $0.isUnique == index.isUnique
                })
            else { return nil }
            return KeptIndex(source: same.name, renumberings: [])
        }
        let key = index.columns.compactMap { column -> TableIndex.Column? in
            guard let name = column.name.flatMap({ names[$0.lowercased()] }) else { return nil }
            return TableIndex.Column(name, collation: column.collation.uppercased(), isDescending: column.isDescending)
        }
        guard key.count == index.columns.count else { return nil }
        let alike = indexes.filter { other in
            other.isUnique == index.isUnique && !other.isPartial
                && (other.origin == .constraint) == (index.origin == .constraint)
                && other.columns.map {
                    TableIndex.Column(
                        $0.name?.lowercased(), collation: $0.collation.uppercased(), isDescending: $0.isDescending)
                } == key
        }
        guard let found = alike.first(where: { $0.name == index.name }) ?? alike.first else { return nil }
        var changed: [KeptTable.Renumbering] = []
        for (place, column) in key.enumerated() {
            guard var renumbering = column.name.flatMap({ renumberings[$0] }) else { continue }
            renumbering.place = place
            guard (try? renumbering.check(in: .index)) != nil else { return nil }
            changed.append(renumbering)
        }
        return KeptIndex(source: found.name, renumberings: changed)
    }
}
