import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Checks the counts of to-manys, the ends of join rows, and uniqueness.
///
/// Runs before the indexes are made, so that everything is one scan and SQLite's external sort, which spills into
/// temporary files.
struct LinkCheck {
    let layout: StoreLayout
    let cancellation: Cancellation
    /// Rejected rows no longer count. Only set if rows can be rejected, as each check costs a look-up.
    let excludesRejected: Bool

    /// Minimum and maximum of one to-many. An optional one without objects is fine whatever its minimum.
    ///
    /// Cost: a scan of the members (or join rows) with a sort of their owners' keys, and one of the owners. If there is
    /// only a maximum, the owners that exceed it are looked up instead.
    func run(
        _ check: CountCheck, on connection: borrowing Connection, into ledger: inout ViolationLedger
    ) throws(EngineError) {
        try cancellation.check()
        try ValidationSQL.execute("DELETE FROM temp.causeway_count", on: connection)
        let hasMinimum = check.least > 0
        try ValidationSQL.execute(
            """
            INSERT INTO temp.causeway_count SELECT owner, count(*) FROM (\(try owners(check, round: ledger.round))) \
            GROUP BY owner \(hasMinimum ? "" : "HAVING count(*) > ?1 ")ORDER BY owner
            """, hasMinimum ? [] : [.integer(Int64(check.most))], on: connection)
        let table = try ValidationSQL.quoted(layout.tables[check.owner].name)
        let source =
            hasMinimum
            ? "\(table) AS o LEFT JOIN temp.causeway_count AS c ON c.key = o.Z_PK"
            : "temp.causeway_count AS c CROSS JOIN \(table) AS o ON o.Z_PK = c.key"
        let tooFew = hasMinimum ? "ifnull(c.members, 0) < ?1\(check.isOptional ? " AND c.members > 0" : "")" : "0"
        let tooMany = check.most > 0 ? "ifnull(c.members, 0) > ?2" : "0"
        var statement = try ValidationSQL.prepare(
            """
            SELECT o.Z_PK, o.Z_ENT, \(tooFew) FROM \(source) \
            WHERE o.Z_ENT BETWEEN \(check.numbers.lowerBound) AND \(check.numbers.upperBound) \
            AND ((\(tooFew)) OR (\(tooMany))) ORDER BY \(hasMinimum ? "o.Z_PK" : "c.key")
            """, bounds(check, hasMinimum: hasMinimum), on: connection)
        var rows = 0
        while try ValidationSQL.next(&statement) {
            try cancellation.check(afterRow: &rows)
            let rule = statement.int64(at: 2) != 0 ? check.tooFew : check.tooMany
            try ledger.record([.init(rule: rule)], number: Int(statement.int64(at: 1)), key: statement.int64(at: 0))
        }
    }

    /// As many as the statement has parameters.
    private func bounds(_ check: CountCheck, hasMinimum: Bool) -> [CellValue] {
        if check.most > 0 { return [.integer(Int64(check.least)), .integer(Int64(check.most))] }
        return hasMinimum ? [.integer(Int64(check.least))] : []
    }

    /// A SELECT of the owner's key for each member.
    private func owners(_ check: CountCheck, round: Int) throws(EngineError) -> String {
        func excluding(_ key: String) -> String {
            guard excludesRejected else { return "" }
            return " AND NOT " + RejectedRows.contain(key, ofTable: check.memberTable, before: round)
        }
        switch check.members {
        case .column(let name):
            let column = "t." + (try ValidationSQL.quoted(name))
            let table = try ValidationSQL.quoted(layout.tables[check.memberTable].name)
            return "SELECT \(column) AS owner FROM \(table) AS t WHERE \(column) IS NOT NULL" + excluding("t.Z_PK")
        case .join(let side):
            let table = try ValidationSQL.quoted(side.table)
            func links(_ mine: String, _ theirs: String) throws(EngineError) -> String {
                let (mine, theirs) = (try ValidationSQL.quoted(mine), try ValidationSQL.quoted(theirs))
                return "SELECT j.\(mine) AS owner, j.\(theirs) AS member FROM \(table) AS j WHERE j.\(mine) IS NOT NULL"
                    + excluding("j.\(theirs)")
            }
            guard side.isReflexive else { return try links(side.mine, side.theirs) }
            // UNION: a link that is stored in both directions counts once for each end.
            return try links(side.mine, side.theirs) + " UNION " + links(side.theirs, side.mine)
        }
    }

    /// Both ends of every link of a join table. The row at the end that exists is the one that breaks the rule.
    ///
    /// Cost: a scan of the join table in the order of its primary key, with two look-ups by key for each link.
    func run(
        _ check: JoinCheck, on connection: borrowing Connection, into ledger: inout ViolationLedger
    ) throws(EngineError) {
        try cancellation.check()
        let owner = "j." + (try ValidationSQL.quoted(check.owner.column))
        let destination = "j." + (try ValidationSQL.quoted(check.destination.column))
        var statement = try ValidationSQL.prepare(
            """
            SELECT \(owner), \(destination), a.Z_ENT, b.Z_ENT FROM \(try ValidationSQL.quoted(check.table)) AS j \
            LEFT JOIN \(try end(check.owner, "a", owner)) LEFT JOIN \(try end(check.destination, "b", destination)) \
            WHERE a.Z_PK IS NULL OR b.Z_PK IS NULL ORDER BY \(owner), \(destination)
            """, on: connection)
        var rows = 0
        while try ValidationSQL.next(&statement) {
            try cancellation.check(afterRow: &rows)
            let (ownerKey, destinationKey) = (statement.int64(at: 0), statement.int64(at: 1))
            if !statement.isNull(at: 2) {
                try ledger.record([.init(rule: check.owner.rule)], number: Int(statement.int64(at: 2)), key: ownerKey)
            } else if !statement.isNull(at: 3) {
                try ledger.record(
                    [.init(rule: check.destination.rule)], number: Int(statement.int64(at: 3)), key: destinationKey)
            } else {
                try ledger.recordStray(rule: check.owner.rule, number: check.owner.numbers.lowerBound, key: ownerKey)
            }
        }
    }

    private func end(_ end: JoinCheck.End, _ alias: String, _ key: String) throws(EngineError) -> String {
        """
        \(try ValidationSQL.quoted(layout.tables[end.table].name)) AS \(alias) ON \(alias).Z_PK = \(key) \
        AND \(alias).Z_ENT BETWEEN \(end.numbers.lowerBound) AND \(end.numbers.upperBound)
        """
    }

    /// Rows whose values another row of the table has, except the one with the smallest key. NULL clashes with nothing;
    /// every row of the table counts, as the unique index that follows spans the table (InsideStoreFormat §7).
    ///
    /// Cost: a scan of the table with a sort of the constrained columns.
    func run(
        _ check: UniquenessCheck, on connection: borrowing Connection, into ledger: inout ViolationLedger
    ) throws(EngineError) {
        try cancellation.check()
        let columns = try check.columns.map { column throws(EngineError) in "t." + (try ValidationSQL.quoted(column)) }
        var conditions = columns.map { "\($0) IS NOT NULL" }
        if excludesRejected {
            conditions.append("NOT " + RejectedRows.contain("t.Z_PK", ofTable: check.table, before: ledger.round))
        }
        var statement = try ValidationSQL.prepare(
            """
            SELECT key, number, kept FROM (SELECT t.Z_PK AS key, t.Z_ENT AS number, first_value(t.Z_PK) OVER \
            (PARTITION BY \(columns.joined(separator: ", ")) ORDER BY t.Z_PK) AS kept \
            FROM \(try ValidationSQL.quoted(layout.tables[check.table].name)) AS t \
            WHERE \(BalancedSQL.joined(conditions, by: "AND"))) WHERE key <> kept ORDER BY key
            """, on: connection)
        var rows = 0
        while try ValidationSQL.next(&statement) {
            try cancellation.check(afterRow: &rows)
            try ledger.record(
                [.init(rule: check.rule)], number: Int(statement.int64(at: 1)), key: statement.int64(at: 0),
                other: statement.int64(at: 2))
        }
    }
}
