import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Compares a finished staging store with its source and with what the passes have counted, before it may take the
/// source's place. It reads through stock SQLite, not through the code that wrote the store.
///
/// - `none`: the number of rows that the passes read against the number that they wrote.
/// - `quick`: also every row count, the structure of every page and row, the schema, the metadata, the model cache,
///   Z_PRIMARYKEY, and the links that an index counts. Uniqueness needs no check of its own: SQLite or `IndexSorter`
///   made the unique indexes from the rows, or `KeptIndexCheck` has compared them. Kept tables are compared by their row
///   counts; those whose pages are the source's own aren't read.
/// - `full`: also every carried cell read again from both stores, kept tables' among them, every link's other end, and
///   the indexes against the rows.
struct Verification {
    let step: StepPlan
    let source: SourceStore
    let written: WrittenRows
    let frameworkVersion: Int
    var level = VerificationLevel.quick
    /// Whether the validation has put defaults into rows: columns of mapping models can't be compared then.
    var changesValues = false
    /// Of a copy of the source.
    var kept: KeptTrees?
    /// Connections that read at once.
    var jobs = 1
    let cancellation: Cancellation

    /// What was found, and the tables to search for differing rows.
    package struct Outcome {
        var findings: [String] = []
        var suspects: Set<String> = []
        /// What is wrong in the source too.
        var notices: [String] = []

        /// `table`: where the rows may be found; nil if it isn't about rows.
        mutating func add(_ finding: String, table: String? = nil) {
            findings.append(finding)
            if let table { suspects.insert(table) }
        }
    }

    /// Throws `.verification` with every difference; differing rows are named by entity and key.
    ///
    /// - Returns: with `full`, the links that are wrong in the source too.
    @discardableResult
    func check(_ path: String) throws(EngineError) -> [String] {
        var outcome = Outcome()
        for count in written.passes {
            for difference in count.digest.differenceOfSides() {
                outcome.add(difference, table: count.pass.destinationTable)
            }
        }
        do {
            if level != .none {
                let result = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
                try cancellation.interrupting(result.interruptHandle) { try compare(result, path, &outcome) }
            }
        } catch let error as SQLiteError {
            try cancellation.check()
            if error.path == path, error.code == .corrupt || error.code == .notADatabase {
                // Not the user's store: disk or memory damaged what was written.
                throw EngineError(
                    .verification, "\(path): the new store can't be read: \(error.message)",
                    remedy: "check the disk and the memory, then run again")
            }
            throw EngineError(reading: error, during: "verification of \(path)")
        } catch let error as EngineError {
            throw error
        } catch let error as StoreFormatError where error.cause?.isOfSystem == true {
            throw EngineError(error, path: "verification of \(path)")
        } catch {
            throw EngineError(.verification, "verification of \(path): \(error)")
        }
        guard outcome.findings.isEmpty else {
            throw EngineError(
                .verification, "\(path): the new store doesn't verify; nothing was swapped", details: outcome.findings,
                remedy: "please report this with the plan (causeway plan --json); it holds no row content")
        }
        return outcome.notices
    }

    /// The cheap checks first: if one fails, the store is only read further to name the rows.
    private func compare(_ result: borrowing Connection, _ path: String, _ outcome: inout Outcome) throws {
        outcome.findings += try structure(of: result, path)
        // A damaged file's answers mean nothing.
        guard outcome.findings.isEmpty || !outcome.suspects.isEmpty else { return }
        try cancellation.check()
        try sourceCounts(&outcome)
        if let stage = written.stage {
            try expectedBeforeHandlers(stage.before, &outcome)
            // Handlers change rows of entities, and nothing else.
            for pass in step.keptPasses where pass.kind != .entity && pass.kind != .links {
                try keptCount(of: pass, result, &outcome)
            }
            outcome.findings += stage.findings(
                step.layout, found: try StoreCounts(step.layout) { sql throws(SQLiteError) in try result.prepare(sql) })
        } else {
            try tableCounts(result, &outcome)
            try entityCounts(result, &outcome)
            try linkCounts(result, &outcome)
        }
        try cancellation.check()
        outcome.findings += try StoreIdentityCheck(step: step, uuid: source.metadata.uuid).findings(result)
        var recheck = DigestRecheck(verification: self, result: try StoreSchema(reading: result))
        if level == .full {
            let reader = try source.companions(1)[0]
            try cancellation.interrupting(reader.connection.interruptHandle) {
                try compare(reader.connection, result, &recheck, &outcome)
            }
        }
        outcome.findings += try recheck.rows(in: outcome.suspects, source: source.connection, result: result)
    }

    private func structure(of result: borrowing Connection, _ path: String) throws -> [String] {
        let unread = step.keptPasses.map(\.destinationTable).filter(isUnread).map { $0.lowercased() }
        let findings = try StagingStructure(
            path: path, withIndexes: level == .full, unread: Set(unread), jobs: jobs, cancellation: cancellation
        ).findings(result)
        // Damage that was copied is the source's.
        if !findings.isEmpty, kept != nil { try source.checkIntegrity() }
        return findings
    }

    /// Whether nothing reads a kept table: the new store has the source's own pages of it, and of its indexes.
    func isUnread(_ table: String) -> Bool {
        guard let kept, kept.isClone, level != .full, step.methods.tables[table]?.method == .keep,
            written.stage == nil, !step.derivedValues.contains(where: { $0.table == table })
        else { return false }
        return step.indexes.filter { $0.table.lowercased() == table.lowercased() }.allSatisfy {
            step.methods.indexes[$0.name]?.method == .keep && kept.stale[$0.name] == nil
        }
    }

    /// With `full`: values and links, each against the source's.
    private func compare(
        _ source: borrowing Connection, _ result: borrowing Connection, _ recheck: inout DigestRecheck,
        _ outcome: inout Outcome
    ) throws {
        try recheck.run(source: source, result: result, &outcome)
        if let objects = step.objects, written.stage == nil, !changesValues {
            outcome.findings += try MappedColumns(
                objects: objects, written: written.entities, isUTF8: self.source.isUTF8, cancellation: cancellation
            ).findings(source: source, result: result)
        }
        let links = try LinkComparison(step: step, cancellation: cancellation).compare(source: source, result: result)
        outcome.findings += links.findings
        outcome.notices += links.notices
    }
}
