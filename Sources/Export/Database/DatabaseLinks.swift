import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// A table of links: of a many-to-many relationship, whose ends are rows of two tables.
struct DatabaseLinks {
    let name: String
    let join: JoinTable
    /// The tables at both ends; nil where none of its rows is exported.
    let owners: DatabaseTable?
    let members: DatabaseTable?
    /// Columns of the exported table after `owner` and `member`, with those of the store.
    private var places: [(name: String, column: String)] {
        var places: [(name: String, column: String)] = []
        if let column = join.destinationOrderColumn { places.append((name: "position", column: column)) }
        if let column = join.ownerOrderColumn { places.append((name: "ownerPosition", column: column)) }
        return places
    }

    /// Makes the table; `refers` tells whether all rows of a table are exported, so that its keys can be foreign ones.
    func create(_ connection: borrowing Connection, refers: (DatabaseTable?) -> Bool) throws(SQLiteError) {
        func end(_ column: String, _ table: DatabaseTable?) throws(SQLiteError) -> String {
            guard let table, refers(table) else { return "\(column) INTEGER NOT NULL" }
            return """
                \(column) INTEGER NOT NULL REFERENCES \(try SQLIdentifier(table.name)) \
                (\(try SQLIdentifier(table.idName))) DEFERRABLE INITIALLY DEFERRED
                """
        }
        let columns =
            [try end("owner", owners), try end("member", members)] + places.map { "\($0.name) INTEGER" }
            + ["PRIMARY KEY (owner, member)"]
        try connection.execute(
            "CREATE TABLE \(try SQLIdentifier(name)) (\(columns.joined(separator: ", "))) WITHOUT ROWID")
    }

    /// Copies the links.
    func fill(_ connection: borrowing Connection, from store: SourceStore) throws {
        let names = [join.ownerColumn, join.destinationColumn] + places.map(\.column)
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        let insert = StatementBox(
            try connection.prepare(
                "INSERT OR IGNORE INTO \(try SQLIdentifier(name)) VALUES (\(marks))", persistent: true))
        // What can't be read is the store's failure, not the new file's.
        try EngineError.reading("\(store.location.path): \(join.owner).\(join.relationship)") {
            let columns = try names.map { name throws(SQLiteError) in try SQLIdentifier(name).quoted }
            var select = try store.connection.prepare(
                "SELECT \(columns.joined(separator: ", ")) FROM \(try SQLIdentifier(join.name))")
            while try select.step() {
                if select.isNull(at: 0) || select.isNull(at: 1) { continue }
                try EngineError.writing(name) { try copy(select, names.count, to: insert) }
            }
        }
    }

    private func copy(_ link: borrowing Statement, _ count: Int, to insert: StatementBox) throws(SQLiteError) {
        for index in 0..<count {
            if link.isNull(at: index) {
                try insert.statement.bindNull(at: index + 1)
            } else {
                try insert.statement.bind(link.int64(at: index), at: index + 1)
            }
        }
        try insert.statement.run()
        guard join.isReflexive else { return }
        // A link of a relationship that is its own inverse leads both ways, and is stored once.
        try insert.statement.bind(link.int64(at: 1), at: 1)
        try insert.statement.bind(link.int64(at: 0), at: 2)
        try insert.statement.run()
    }

    /// Removes links without their rows, and tells how many. In a partial export only the owners' rows are looked for:
    /// members may have been left out.
    func removeDangling(_ connection: borrowing Connection, isPartial: Bool) throws(SQLiteError) -> Int {
        var conditions: [String] = []
        for (column, table) in [("owner", owners), ("member", members)] {
            guard let table, !isPartial || conditions.isEmpty else { continue }
            conditions.append(
                """
                NOT EXISTS (SELECT 1 FROM \(try SQLIdentifier(table.name)) t \
                WHERE t.\(try SQLIdentifier(table.idName)) = \(column))
                """)
        }
        guard !conditions.isEmpty else { return 0 }
        try connection.execute(
            "DELETE FROM \(try SQLIdentifier(name)) WHERE \(conditions.joined(separator: " OR "))")
        return Int(connection.changes)
    }
}
