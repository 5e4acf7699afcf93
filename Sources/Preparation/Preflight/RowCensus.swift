import CausewaySQLite

/// Counts the rows of tables under any number of conditions, with one scan per table.
struct RowCensus {
    /// Conditions of one statement: half of what SQLite takes as result columns. More of them scan the table again.
    private static let conditionsPerScan = 1_000

    private var conditions: [(table: String, sql: String)] = []

    /// Adds a condition on a row `t` of the table; NULL counts as false.
    ///
    /// - Returns: the place of its count.
    mutating func add(_ sql: String, in table: String) -> Int {
        conditions.append((table, sql))
        return conditions.count - 1
    }

    /// The rows under each condition.
    func counts(in connection: borrowing Connection) throws(SQLiteError) -> [Int] {
        var counts = Array(repeating: 0, count: conditions.count)
        var places: [String: [Int]] = [:]
        for (place, condition) in conditions.enumerated() { places[condition.table, default: []].append(place) }
        for (table, all) in places.sorted(by: { $0.key < $1.key }) {
            var rest = all[...]
            while !rest.isEmpty {
                let some = rest.prefix(Self.conditionsPerScan)
                rest = rest.dropFirst(Self.conditionsPerScan)
                // One condition alone may be answered by keys, but not by an index, which may be stale.
                let sql =
                    if some.count == 1, let only = some.first {
                        "SELECT count(*) FROM \(try SQLIdentifier(table)) AS t NOT INDEXED WHERE \(conditions[only].sql)"
                    } else {
                        """
                        SELECT \(some.map { "count(*) FILTER (WHERE \(conditions[$0].sql))" }.joined(separator: ", ")) \
                        FROM \(try SQLIdentifier(table)) AS t
                        """
                    }
                var statement = try connection.prepare(sql)
                guard try statement.step() else { continue }
                for (column, place) in some.enumerated() {
                    counts[place] = Int(clamping: statement.int64(at: column))
                }
            }
        }
        return counts
    }
}
