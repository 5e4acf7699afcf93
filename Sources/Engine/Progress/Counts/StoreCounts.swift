package import CausewaySQLite
package import CausewayStoreFormat

/// How many rows a store has: the verification compares it if handlers made and deleted rows.
package struct StoreCounts: Hashable, Sendable {
    /// Entity and join tables by name.
    package private(set) var tables: [String: Int] = [:]
    /// By Z_ENT.
    package private(set) var entities: [Int: Int] = [:]
}

extension StoreCounts {
    /// Counts every entity table by entity, and every join table: one scan each.
    package init(_ layout: StoreLayout, prepare: (String) throws(SQLiteError) -> Statement) throws(SQLiteError) {
        self.init()
        for table in layout.tables {
            tables[table.name] = 0
            var statement = try prepare("SELECT Z_ENT, count(*) FROM \(try SQLIdentifier(table.name)) GROUP BY Z_ENT")
            while try statement.step() {
                let rows = Int(statement.int64(at: 1))
                entities[Int(statement.int64(at: 0)), default: 0] += rows
                tables[table.name, default: 0] += rows
            }
        }
        for table in layout.joinTables {
            var statement = try prepare("SELECT count(*) FROM \(try SQLIdentifier(table.name))")
            tables[table.name] = try statement.step() ? Int(statement.int64(at: 0)) : 0
        }
    }
}

/// What handlers have done to a store.
package struct StageOutcome: Hashable, Sendable {
    /// What the passes had written: compared with the source.
    package let before: StoreCounts
    /// What the handlers left: compared with the finished store.
    package let after: StoreCounts

    /// Rows of the finished store that differ from what the handlers left, for the verification's findings.
    package func findings(_ layout: StoreLayout, found: StoreCounts) -> [String] {
        var findings: [String] = []
        for (table, expected) in after.tables.sorted(by: { $0.key < $1.key }) where found.tables[table] != expected {
            findings.append("\(table): \(expected) rows after the handlers, \(found.tables[table] ?? 0) in the result")
        }
        for (number, name) in layout.entities.enumerated() {
            let (expected, rows) = (after.entities[number + 1] ?? 0, found.entities[number + 1] ?? 0)
            guard expected != rows else { continue }
            findings.append("\(name): \(expected) rows after the handlers, \(rows) in the result")
        }
        return findings
    }
}
