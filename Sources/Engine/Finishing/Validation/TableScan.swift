import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Runs all row checks of one table in one scan in the order of keys:
/// `SELECT Z_PK, Z_ENT, <check>, … WHERE <check> OR …`.
///
/// SQLite returns only rows that break a rule, and texts that Swift must check: those with a regular expression, and
/// those whose number of bytes doesn't tell their length.
///
/// Cost: the table is read once, whatever the number of checks up to `checksPerScan`; a to-one adds one look-up by key.
struct TableScan {
    /// Each check is a column of the result; SQLite takes 2,000.
    static let checksPerScan = 1_000

    let table: Int
    let layout: StoreLayout
    /// At most `checksPerScan`.
    let checks: [RowCheck]
    /// If not nil, checks of mandatory to-ones whether their target was rejected in these rounds.
    let rejectedIn: ClosedRange<Int>?

    private struct Column {
        let check: RowCheck
        /// Swift must still test the text or value in the column.
        let test: ValueTest?
        let isDecimal: Bool
    }

    func run(
        on connection: borrowing Connection, into ledger: inout ViolationLedger, _ cancellation: Cancellation
    ) throws(EngineError) {
        guard !checks.isEmpty else { return }
        try cancellation.check()
        var parameters = SQLParameters()
        var columns: [Column] = []
        var conditions: [String] = []
        var selected: [String] = []
        for check in checks {
            let (condition, column, test) = try sql(check, &parameters)
            conditions.append("(\(condition))")
            selected.append(test == nil ? "(\(condition))" : "CASE WHEN \(condition) THEN \(column) END")
            var isDecimal = false
            if case .fails(_, _, let decimal) = check.condition { isDecimal = decimal }
            columns.append(Column(check: check, test: test, isDecimal: isDecimal))
        }
        var statement = try ValidationSQL.prepare(
            """
            SELECT t.Z_PK, t.Z_ENT, \(selected.joined(separator: ", ")) \
            FROM \(try ValidationSQL.quoted(layout.tables[table].name)) AS t \
            WHERE \(BalancedSQL.joined(conditions, by: "OR")) ORDER BY t.Z_PK
            """, parameters.values, on: connection)
        let other: Int64 = rejectedIn == nil ? 0 : 1
        var rows = 0
        while try ValidationSQL.next(&statement) {
            // A scan that finds nothing is interrupted through the connection.
            try cancellation.check(afterRow: &rows)
            var findings: [ViolationLedger.Finding] = []
            for (offset, column) in columns.enumerated() where try Self.isBroken(column, offset + 2, statement) {
                findings.append(ViolationLedger.Finding(rule: column.check.rule, remedy: column.check.remedy))
            }
            try ledger.record(findings, number: Int(statement.int64(at: 1)), key: statement.int64(at: 0), other: other)
        }
    }

    // MARK: - SQL

    /// `test` is what Swift must still test.
    private func sql(
        _ check: RowCheck, _ parameters: inout SQLParameters
    ) throws(EngineError) -> (condition: String, column: String, test: ValueTest?) {
        var terms: [String] = []
        if check.numbers != layout.numbers(ofTree: layout.tables[table].rootEntity) {
            terms.append("t.Z_ENT BETWEEN \(check.numbers.lowerBound) AND \(check.numbers.upperBound)")
        }
        let column: String
        var remaining: ValueTest?
        switch check.condition {
        case .isNull(let name, let present):
            column = "t." + (try ValidationSQL.quoted(name))
            terms.append("\(column) IS NULL")
            if !present.isEmpty {
                var others: [String] = []
                for other in present { others.append("t.\(try ValidationSQL.quoted(other)) IS NOT NULL") }
                terms.append("(\(BalancedSQL.joined(others, by: "OR")))")
            }
        case .fails(let test, let name, let isDecimal):
            column = "t." + (try ValidationSQL.quoted(name))
            terms.append("\(column) IS NOT NULL")
            // `NaN` is the only text in a decimal column (InsideStoreFormat §4.1); NSDecimalNumber puts it below all.
            let value = isDecimal ? "CASE WHEN typeof(\(column)) = 'text' THEN -9e999 ELSE \(column) END" : column
            var tried = parameters
            if let sql = test.sql(value, &tried) {
                parameters = tried
                terms.append("NOT (\(sql))")
            } else {
                terms.append(test.mayFailSQL(column, &parameters))
                remaining = test
            }
        case .hasNoTarget(let name, let target):
            column = "t." + (try ValidationSQL.quoted(name))
            if let rejectedIn {
                terms.append(RejectedRows.contain(column, ofTable: target, in: rejectedIn))
            } else {
                terms.append("\(column) IS NULL")
            }
        case .isDangling(let name, let target, let numbers):
            column = "t." + (try ValidationSQL.quoted(name))
            terms.append("\(column) IS NOT NULL")
            terms.append(
                """
                NOT EXISTS (SELECT 1 FROM \(try ValidationSQL.quoted(layout.tables[target].name)) AS d WHERE d.Z_PK = \
                \(column) AND d.Z_ENT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound))
                """)
        }
        return (terms.joined(separator: " AND "), column, remaining)
    }

    // MARK: - Rows

    private static func isBroken(
        _ column: Column, _ index: Int, _ row: borrowing Statement
    ) throws(EngineError) -> Bool {
        guard let test = column.test else { return row.int64(at: index) != 0 }
        guard !row.isNull(at: index) else { return false }
        // Counted in place: a text is copied for a regular expression only.
        if test.isOfLength { return !test.holds(forLength: codeUnits(of: row, at: index)) }
        return try !test.holds(for: ValueTest.compared(value(of: row, at: index), isDecimal: column.isDecimal))
    }

    /// UTF-16 code units of a text: one for each first byte of a character, another for those of four bytes.
    private static func codeUnits(of row: borrowing Statement, at index: Int) -> Int {
        unsafe row.unsafeText(at: index).reduce(into: 0) { count, byte in
            if byte & 0xC0 != 0x80 { count += 1 }
            if byte >= 0xF0 { count += 1 }
        }
    }

    private static func value(of row: borrowing Statement, at index: Int) -> CellValue {
        switch row.type(at: index) {
        case .null: .null
        case .integer: .integer(row.int64(at: index))
        case .real: .real(row.double(at: index))
        // Damaged UTF-8 is repaired for the test only.
        case .text, .blob: .text(unsafe String(decoding: row.unsafeText(at: index), as: UTF8.self))
        }
    }
}

/// Conditions on the temporary table of rejected rows.
enum RejectedRows {
    /// A row of a table was rejected in one of these rounds.
    static func contain(_ key: String, ofTable table: Int, in rounds: ClosedRange<Int>) -> String {
        """
        EXISTS (SELECT 1 FROM temp.causeway_rejected AS r WHERE r.place = \(table) AND r.key = \(key) \
        AND r.round BETWEEN \(rounds.lowerBound) AND \(rounds.upperBound))
        """
    }

    /// … before a round; in any round if it is nil.
    static func contain(_ key: String, ofTable table: Int, before round: Int? = nil) -> String {
        let rounds = round.map { " AND r.round < \($0)" } ?? ""
        return "EXISTS (SELECT 1 FROM temp.causeway_rejected AS r WHERE r.place = \(table) AND r.key = \(key)\(rounds))"
    }
}
