import CausewaySQLite

/// A text that is written into the rows of test stores. No command may print it: messages name rows, and never show
/// their values.
enum Canary {
    static let text = "CANARY-7f3a"

    static func isSung(in output: String) -> Bool { output.contains(text) }

    /// Writes it into every cell of an entity's table that holds a text, and into every blob; made unique where a
    /// constraint demands it.
    ///
    /// - Returns: how many cells have it.
    static func plant(in store: String) throws -> Int {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.registerNoOpFunction("NSCoreDataTriggerUpdateAffectedObjectValue")
        var columns: [(table: String, column: String)] = []
        do {
            var statement = try connection.prepare(
                """
                SELECT m.name, x.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) x \
                WHERE m.type = 'table' AND m.rootpage > 0 AND m.name GLOB 'Z[A-Z]*' AND x.name GLOB 'Z[A-Z0-9]*' \
                AND x.hidden = 0
                """)
            while try statement.step() {
                guard let table = try statement.string(at: 0), let column = try statement.string(at: 1) else {
                    continue
                }
                columns.append((table, column))
            }
        }
        var cells = 0
        for (table, column) in columns {
            let (table, column) = (try SQLIdentifier(table), try SQLIdentifier(column))
            var statement = try connection.prepare(
                """
                UPDATE \(table) SET \(column) = CASE typeof(\(column)) WHEN 'text' THEN '\(text)-' || Z_PK \
                ELSE CAST('\(text)-' || Z_PK AS BLOB) END WHERE typeof(\(column)) IN ('text', 'blob') \
                AND NOT (typeof(\(column)) = 'blob' AND length(\(column)) = 16) RETURNING 1
                """)
            while try statement.step() { cells += 1 }
        }
        try connection.close()
        return cells
    }
}
