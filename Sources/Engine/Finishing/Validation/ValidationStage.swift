package import CausewayPreparation
package import CausewaySQLite
import CausewaySQLiteFile
package import CausewayStoreFormat
package import CausewayStores

/// The third stage of a heavyweight migration: every row of the new store against the destination model
/// (InsideCoreDataMigration §3). It runs when all rows and links are written, before the indexes are made.
///
/// Memory depends on the model, not on the rows: everything is scans, SQLite's external sort, and temporary tables on
/// disk for the rows that are changed or left out. Cost: one scan of every table for all its attributes and to-ones
/// together, with a look-up by key for each to-one; a scan and a sort for each to-many with a minimum or maximum, and
/// for each uniqueness constraint; a scan with two look-ups a link for each join table. Rejecting adds one scan of each
/// table with a mandatory to-one for every round of rows that lose it, and one for each relationship into a table that
/// lost rows.
///
/// Not checked: derived attributes (they are computed afterwards), transient ones, the app's own `validateForInsert`.
package struct ValidationStage {
    /// Most rounds of rows that are rejected because other rows are; each costs scans. Chains of mandatory objects are
    /// as long as the model is deep; only a linked list of rows has more.
    private static let maximumRounds = 1_000

    private let layout: StoreLayout
    private let storeUUID: String
    private let policy: OnViolation
    private let rejects: LineFile?
    let rules: ValidationRules

    /// Compiles the rules. Made before a run begins, so that a model that can't be checked is refused at once.
    ///
    /// - Parameters:
    ///   - layout: the new store's.
    ///   - storeUUID: the new store's, for the rows' URIs.
    ///   - policy: what happens to violations.
    ///   - rejects: where rejected rows go; needed for `.reject` alone.
    /// - Throws: `.usage` for `.reject` without a file, `.plan` where a regular expression of the model can't be
    ///   compiled.
    package init(
        layout: StoreLayout, storeUUID: String, policy: OnViolation, rejects: LineFile? = nil
    ) throws(EngineError) {
        guard policy != .reject || rejects != nil else {
            throw EngineError(.usage, "--on-violation reject needs a rejects file", remedy: "name one with --rejects")
        }
        self.layout = layout
        self.storeUUID = storeUUID
        self.policy = policy
        self.rejects = rejects
        rules = try ValidationRules(layout)
    }

    /// Validation predicates of unknown forms, which aren't checked: one sentence each, for the plan's warnings.
    package var unchecked: [String] { rules.unchecked }

    /// Checks every row, and changes or removes rows as the policy says, inside the transaction that the connection
    /// has.
    ///
    /// - Parameters:
    ///   - connection: the store's writer.
    ///   - doubts: places of the row checks that any row may break; nil for all.
    ///   - cancellation: checked between statements, and between violations; the run interrupts the connection.
    /// - Returns: what was found and done.
    /// - Throws: `.sourceData` naming the first violations that no default fixes; `.interrupted` and `.terminated`;
    ///   `.inputOutput`.
    package func run(
        on connection: borrowing Connection, only doubts: Set<Int>? = nil, cancellation: Cancellation
    ) throws(EngineError) -> ValidationOutcome {
        try prepare(connection)
        let outcome = try check(connection, doubts, cancellation)
        for table in ViolationLedger.tables {
            try ValidationSQL.execute("DROP TABLE temp.\(table)", on: connection)
        }
        return outcome
    }

    private func prepare(_ connection: borrowing Connection) throws(EngineError) {
        try EngineError.writing("temporary files of the validation") {
            // 2 is memory, which would grow with the number of violations.
            if try connection.pragmaInteger("temp_store") == 2 { try connection.setPragma("temp_store", to: 1) }
        }
        // Left by a run that failed on this connection.
        for table in ViolationLedger.tables {
            try ValidationSQL.execute("DROP TABLE IF EXISTS temp.\(table)", on: connection)
        }
        for statement in ViolationLedger.schema { try ValidationSQL.execute(statement, on: connection) }
    }

    /// A scope of its own: the ledger's statements end with it, before its tables are dropped.
    private func check(
        _ connection: borrowing Connection, _ doubts: Set<Int>?, _ cancellation: Cancellation
    ) throws(EngineError) -> ValidationOutcome {
        var ledger = try ViolationLedger(
            rules, entities: layout.entities, storeUUID: storeUUID, policy: policy, on: connection)
        let links = LinkCheck(layout: layout, cancellation: cancellation, excludesRejected: policy == .reject)
        for table in layout.tables.indices {
            for part in rules.rowChecks(ofTable: table, inPartsOf: TableScan.checksPerScan, only: doubts) {
                try scan(part, of: table, nil, connection, &ledger, cancellation)
            }
        }
        let defaulted = policy == .useDefault ? try applyDefaults(connection, cancellation) : 0
        // Links are counted in a round of their own: removed members don't count.
        let first = ledger.endRound()
        for check in rules.joinChecks { try links.run(check, on: connection, into: &ledger) }
        for check in rules.countChecks { try links.run(check, on: connection, into: &ledger) }
        let second = ledger.endRound()
        var affected = first.union(second)
        affected.formUnion(try settle(affected, counting: second, since: 1, links, connection, &ledger))
        for check in rules.uniquenessChecks {
            // After the rows that other rules reject, and one constraint after another.
            let round = ledger.round
            try links.run(check, on: connection, into: &ledger)
            let lost = ledger.endRound()
            affected.formUnion(lost)
            affected.formUnion(try settle(lost, counting: lost, since: round, links, connection, &ledger))
        }
        try refuse(ledger)
        if let rejects, policy == .reject {
            try Rejection(
                layout: layout, storeUUID: storeUUID, rules: rules, file: rejects, cancellation: cancellation
            ).run(ledger, affected: affected, on: connection)
        }
        return ledger.outcome(defaulted: defaulted)
    }

    private func scan(
        _ checks: [RowCheck], of table: Int, _ rounds: ClosedRange<Int>?, _ connection: borrowing Connection,
        _ ledger: inout ViolationLedger, _ cancellation: Cancellation
    ) throws(EngineError) {
        for first in stride(from: 0, to: checks.count, by: TableScan.checksPerScan) {
            let part = Array(checks[first..<min(first + TableScan.checksPerScan, checks.count)])
            try TableScan(table: table, layout: layout, checks: part, rejectedIn: rounds)
                .run(on: connection, into: &ledger, cancellation)
        }
    }

    /// Rejects the rows that depend on rejected ones: those that lose a mandatory object, or an object of a minimum
    /// count.
    ///
    /// `lost` are the places of tables that lost rows in the rounds from `since` on, `counting` those of them that no
    /// count has seen yet. Returns the tables that lose rows here.
    private func settle(
        _ lost: Set<Int>, counting: Set<Int>, since: Int, _ links: LinkCheck, _ connection: borrowing Connection,
        _ ledger: inout ViolationLedger
    ) throws(EngineError) -> Set<Int> {
        var (lost, counting, since) = (lost, counting, since)
        var all: Set<Int> = []
        while !lost.isEmpty {
            guard ledger.round <= Self.maximumRounds else {
                throw EngineError(
                    .sourceData,
                    "rejected rows take others with them through more than \(Self.maximumRounds) mandatory relationships",
                    details: ledger.first.map(\.description),
                    remedy: "fix the rows, or make the relationships optional")
            }
            let rounds = since...(ledger.round - 1)
            since = ledger.round
            for table in layout.tables.indices {
                let checks = rules.rowChecks(ofTable: table).filter { check in
                    if case .hasNoTarget(_, let target) = check.condition { lost.contains(target) } else { false }
                }
                try scan(checks, of: table, rounds, connection, &ledger, links.cancellation)
            }
            for check in rules.countChecks where check.least > 0 && counting.contains(check.memberTable) {
                try links.run(check, on: connection, into: &ledger)
            }
            lost = ledger.endRound()
            counting = lost
            all.formUnion(lost)
        }
        return all
    }

    /// - Returns: how many values became the default.
    private func applyDefaults(
        _ connection: borrowing Connection, _ cancellation: Cancellation
    ) throws(EngineError) -> Int {
        var count = 0
        for (place, remedy) in rules.remedies.enumerated() {
            try cancellation.check()
            count += try ValidationSQL.execute(
                """
                UPDATE \(try ValidationSQL.quoted(layout.tables[remedy.table].name)) \
                SET \(try ValidationSQL.quoted(remedy.column)) = ?1 \
                WHERE Z_PK IN (SELECT key FROM temp.causeway_defaulted WHERE remedy = ?2)
                """, [remedy.value, .integer(Int64(place))], on: connection)
        }
        return count
    }

    private func refuse(_ ledger: borrowing ViolationLedger) throws(EngineError) {
        guard ledger.fatalCount > 0 else { return }
        var details = ledger.firstFatal.map(\.description)
        if ledger.fatalCount > details.count { details.append("… and \(ledger.fatalCount - details.count) more") }
        let count = "\(ledger.fatalCount) violation\(ledger.fatalCount == 1 ? "" : "s") of the new version's rules"
        throw EngineError(
            .sourceData, policy == .useDefault ? "\(count) that no default value can fix" : count, details: details,
            remedy: policy == .useDefault
                ? "fix the rows or the model, or leave the rows out with --on-violation reject"
                : "fix the rows or the mapping, or choose --on-violation default or --on-violation reject")
    }
}
