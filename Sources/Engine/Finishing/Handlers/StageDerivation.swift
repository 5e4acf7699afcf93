import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// Derived attributes of rows that handlers make and change. Core Data keeps them with triggers, which call functions
/// that exist only inside it; so `now()` gets temporary triggers of our own, and counts and copies are computed after
/// the handler, if it wrote a table that they depend on.
struct StageDerivation {
    /// `now()` as Core Data stores dates: seconds since 2001-01-01 UTC, to the millisecond. 2,451,910.5 is that
    /// instant's Julian day, 86,400 a day's seconds.
    private static let now = "((julianday('now') - 2451910.5) * 86400.0)"

    private let values: [DerivedValue]

    init(_ layout: StoreLayout) {
        values = layout.derivedValues
    }

    /// Statements that make the temporary triggers, and those that remove them.
    func triggers() throws(SQLiteError) -> (create: [String], drop: [String]) {
        var (create, drop): ([String], [String]) = ([], [])
        for (index, value) in values.enumerated() where value.source == .now {
            let (table, column) = (try SQLIdentifier(value.table), try SQLIdentifier(value.column))
            let body = """
                WHEN NEW.Z_ENT BETWEEN \(value.entityNumbers.lowerBound) AND \(value.entityNumbers.upperBound) \
                BEGIN UPDATE \(table) SET \(column) = \(Self.now) WHERE Z_PK = NEW.Z_PK; END
                """
            for (suffix, event) in [("insert", "INSERT"), ("update", "UPDATE OF Z_OPT")] {
                let name = "causeway_now_\(index)_\(suffix)"
                create.append("CREATE TEMP TRIGGER \(name) AFTER \(event) ON \(table) FOR EACH ROW \(body)")
                drop.append("DROP TRIGGER temp.\(name)")
            }
        }
        return (create, drop)
    }

    /// Statements that recompute the values that depend on any of `tables`. Rows that have the right value already
    /// aren't written.
    func updates(after written: Set<String>) -> [String] {
        var (tables, result) = (written, [String]())
        for value in values {
            guard let source = value.source.table, tables.contains(value.table) || tables.contains(source) else {
                continue
            }
            result += value.statements(onlyChanges: true)
            // Copies of it come later.
            tables.insert(value.table)
        }
        return result
    }
}

/// The tables that a context has written, according to the statements that it compiled.
final class WrittenTables {
    private let names: [(name: String, quoted: String)]
    private(set) var tables: Set<String> = []

    init(_ layout: StoreLayout) throws(SQLiteError) {
        names = try (layout.tables.map(\.name) + layout.joinTables.map(\.name)).map { name throws(SQLiteError) in
            (name, try SQLIdentifier(name).quoted)
        }
    }

    func note(_ sql: String) {
        for verb in ["INSERT INTO ", "UPDATE ", "DELETE FROM "] where sql.hasPrefix(verb) {
            let rest = sql.dropFirst(verb.count)
            for (name, quoted) in names where rest.hasPrefix(quoted) { tables.insert(name) }
        }
    }
}
