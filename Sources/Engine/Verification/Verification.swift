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
///   made the unique indexes from the rows, or `KeptIndexCheck` or `CarriedIndex` has compared them. Tables of which no
///   byte was changed were read there, as their pages are now; those whose pages are the source's own aren't read.
/// - `full`: also every carried cell read again from both stores, kept tables' among them, every link's other end, and
///   the indexes against the rows.
struct Verification {
    let step: StepPlan
    let source: SourceStore
    let written: WrittenRows
    let frameworkVersion: Int
    /// Entries of the app's own that the metadata must have.
    let metadata: [String: MetadataValue]
    var level = VerificationLevel.quick
    /// Whether the validation has put defaults into rows: columns of mapping models can't be compared then.
    var changesValues = false
    /// Of a copy of the source.
    var kept: KeptTrees?
    /// Connections that read at once.
    var jobs = 1
    let cancellation: Cancellation
    /// Told the part of the work that is done, as far as it shows.
    var advanced: (Double) -> Void = { _ in }

    /// What was found, and the tables to search for differing rows.
    package struct Outcome {
        var findings: [String] = []
        var suspects: Set<String> = []
        /// What is wrong in the source too.
        var notices: [String] = []
        /// Rows by entity of tables that were counted while the structure was checked.
        var counts: [String: [Int: Int]] = [:]

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
            throw EngineError(unverified: path, outcome.findings)
        }
        return outcome.notices
    }

    /// The part of `full` in which every row is compared.
    static let recheckPart = (begin: 0.3, end: 0.97)

    /// Tells the part of what both levels do.
    private func advance(_ part: Double) {
        advanced(part * (level == .full ? Self.recheckPart.begin : 1))
    }

    /// The cheap checks first: if one fails, the store is only read further to name the rows.
    private func compare(_ result: borrowing Connection, _ path: String, _ outcome: inout Outcome) throws {
        let structure = try structure(of: result, path)
        outcome.findings += structure.findings
        outcome.counts = structure.counts
        // A damaged file's answers mean nothing.
        guard outcome.findings.isEmpty || !outcome.suspects.isEmpty else { return }
        try cancellation.check()
        try sourceCounts(&outcome)
        advance(0.7)
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
            advance(0.8)
            try entityCounts(result, &outcome)
            advance(0.9)
            try linkCounts(result, &outcome)
        }
        try cancellation.check()
        outcome.findings += try StoreIdentityCheck(
            step: step, uuid: source.metadata.uuid, sourceKeys: source.schema.primaryKeys, entries: metadata
        ).findings(result)
        var recheck = DigestRecheck(verification: self, result: try StoreSchema(reading: result))
        if level == .full {
            let reader = try source.companions(1)[0]
            try cancellation.interrupting(reader.connection.interruptHandle) {
                try compare(reader.connection, result, &recheck, &outcome)
            }
        }
        outcome.findings += try recheck.rows(in: outcome.suspects, source: source.connection, result: result)
    }

    private func structure(of result: borrowing Connection, _ path: String) throws -> StagingStructure.Found {
        // What is patched is a change, and changes are SQLite's to judge.
        let others = tablesLeftToPages.filter { step.methods.tables[$0]?.method == .keep }
        let found = try StagingStructure(
            path: path, withIndexes: level == .full, others: Set(others.map { $0.lowercased() }),
            reading: kept?.reading, sharesPages: kept?.isClone == true && level != .full,
            counted: written.stage == nil ? countedTables : [], layout: step.layout, jobs: jobs,
            cancellation: cancellation
        ).found(result) { advance($0 * 0.6) }
        // Damage that was copied is the source's.
        if !found.findings.isEmpty, kept != nil { try source.checkIntegrity() }
        return found
    }

    /// Kept and patched tables whose rows needn't be counted by SQLite: their pages are the source's own, or were read
    /// by our own reader when they had been copied, and nothing has changed them or their indexes since.
    var tablesLeftToPages: Set<String> {
        guard let kept, level != .full, written.stage == nil, source.autoVacuum != StagingConnection.fullAutoVacuum
        else { return [] }
        // Of the app's own tables SQLite also checks what their texts demand, as NOT NULL.
        var result = Set(step.keptPasses.filter { $0.kind != .appTable }.map(\.destinationTable))
        result.subtract(step.derivedValues.map(\.table))
        let made = step.indexes.filter { ![.keep, .patch].contains(step.methods.indexes[$0.name]?.method) }
        let changed = Set(made.map { $0.table.lowercased() })
        return result.filter { table in
            let isUnread = kept.isClone && step.methods.tables[table]?.method == .keep
            let isRead = kept.reading?.rows.tables[table] != nil && kept.rows?.tables[table] != nil
            return (isUnread || isRead) && !changed.contains(table.lowercased())
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

extension EngineError {
    /// A new store that isn't what it should be.
    init(unverified path: String, _ findings: [String]) {
        self.init(
            .verification, "\(path): the new store doesn't verify; nothing was swapped", details: findings,
            remedy: "please report this with the plan (causeway plan --json); it holds no row content")
    }
}
