import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// The first phase: tables, then all rows.
extension StepRun {
    /// - Parameters:
    ///   - opened: the store's connection; nil where an earlier run stopped in the middle of its pages.
    ///   - ledger: how far the step is.
    ///   - state: what it has written.
    ///   - progress: rows and bytes of the steps before; raised.
    /// - Returns: the connection for all that comes after.
    /// - Throws: the first failure.
    func load(
        into opened: StagingConnection?, _ ledger: StepLedger, _ state: StepState, _ progress: inout Progress
    ) throws(EngineError) -> StagingConnection {
        try ledger.keep("written", restore: state.restore, save: state.save)
        return try loadRows(into: opened, ledger, state, &progress)
    }

    private func loadRows(
        into opened: StagingConnection?, _ ledger: StepLedger, _ state: StepState, _ progress: inout Progress
    ) throws(EngineError) -> StagingConnection {
        try sideFiles.keep(in: ledger)
        var isNew = false
        try ledger.once("tables") { () throws(EngineError) in
            isNew = true
            guard let opened else { throw EngineError(unfinishedPagesOf: place) }
            try opened.setHeader(userVersion: source.userVersion, applicationID: source.applicationID)
            try createTables(in: opened)
        }
        if isNew {
            try ledger.commit()
            try place.sync()
            KillPoint.reach(.stagingCreated)
        }
        let works = step.works
        let objects = try preparedObjects(ledger, state)
        let staging = try loadPages(works, objects, opened, ledger, state, &progress)
        if let objects { try make(objects, staging, ledger, state, &progress) }
        let mover = mover(ledger, state)
        try StatementLoader(mover: mover, staging: staging).load(
            works.filter { $0.method == .statements }, &progress)
        return staging
    }

    /// Entity and join tables, the house tables, history's, the app's own: in Core Data's order for a fresh store.
    private func createTables(in staging: StagingConnection) throws(EngineError) {
        var statements = step.statements.tableStatements + step.statements.houseStatements
        if step.hasHistory { statements += step.statements.historyStatements.filter { $0.kind == .historyTable } }
        for statement in statements where !step.keeps(table: statement.name) { try staging.execute(statement.sql) }
        for object in step.appObjects where object.kind == .table && !step.keeps(table: object.name) {
            if let sql = object.sql { try staging.makeAppTable(sql) }
        }
        // Empty: pages fill them.
        for statement in step.indexStatements
        where step.methods.indexes[statement.name]?.method.writesPages == true {
            try staging.execute(statement.sql)
        }
    }

    // MARK: - Loading

    func mover(_ ledger: StepLedger, _ state: StepState) -> PassMover {
        PassMover(
            source: source, ledger: ledger, state: state, external: external, options: options,
            rejects: sideFiles.rejects, quarantines: badRows == .quarantine, screening: screening(of:),
            cancellation: cancellation, events: events)
    }

    /// What a pass needs to leave bad rows out; nil if they stop the run.
    private func screening(of pass: RowPass) throws(EngineError) -> RowScreening? {
        guard badRows == .quarantine, step.objects == nil else { return nil }
        guard sideFiles.rejects != nil else {
            throw EngineError(
                .usage, "bad rows can't be quarantined without a rejects file",
                remedy: "name one with --rejects, or stop at a bad row with --bad-rows fail")
        }
        // Later steps carry the references that the first has checked.
        return try RowScreening(
            pass, of: step, storeUUID: source.metadata.uuid, fates: ReferenceFates(steps: [step] + following),
            checksReferences: place.index == 0)
    }
}
