import CausewayCheckpoint
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The part of the first phase in which no connection is open on the new store.
extension StepRun {
    /// Loads the tables that pages make; without any, or where an earlier run has done it, nothing happens.
    ///
    /// - Returns: the connection for what comes after; `opened` is closed unless it is this one.
    func loadPages(
        _ works: [TableWork], _ objects: PreparedObjects?, _ opened: StagingConnection?, _ ledger: StepLedger,
        _ state: StepState, _ progress: inout Progress
    ) throws(EngineError) -> StagingConnection {
        let tables = works.filter { $0.method == .rebuild }
        let indexes = works.flatMap(\.indexes).filter(\.method.writesPages)
        // A station for each pass and each index, two for each mapping and one for all of them, and one for the
        // finished file.
        let mappings = step.methods.mappingsByPages.count
        let parts = tables.reduce(indexes.count + (mappings == 0 ? 0 : 2 * mappings + 1)) { $0 + $1.passes.count }
        let stations = parts == 0 ? 0 : parts + 1
        if let opened, ledger.hasDone(next: stations) {
            ledger.skip(to: ledger.stations + stations)
            ledger.forget(StagingPages.part)
            ledger.forget(RowPages.part)
            return opened
        }
        let made = step.methods.mappingsByPages.isEmpty ? [] : works.filter { $0.method == .objects }
        let schema = if let opened { try begun(tables + made, ledger, opened) } else { try place.staging.schema() }
        let pages = try StagingPages(place.staging)
        try ledger.keep(StagingPages.part, restore: pages.restore, save: pages.save)
        ledger.beforeCommit(of: StagingPages.part, pages.prepare)
        ledger.keep(inFilesAfter: pages.sync)
        try pages.open()
        // What is saved from here on says that no connection may write to the file.
        if opened != nil { try ledger.commit() }
        KillPoint.reach(.pagesBegun)
        let loader = PageLoader(mover: mover(ledger, state), pages: pages, schema: schema)
        try loader.load(tables, &progress)
        if let model = objects?.model { try makeRows(model, pages, schema, ledger, &progress) }
        var sums: [String: EntrySum] = [:]
        if !indexes.isEmpty {
            events(.phaseBegan("indexes"))
            sums = try IndexLoader(
                pages: pages, schema: schema, carried: try carriedIndexes(of: tables, loader, state), ledger: ledger,
                place: place, options: options, takesSums: state.takesSums && !tables.isEmpty,
                cancellation: cancellation, events: events
            ).load(indexes)
        }
        try ledger.once(StagingPages.part) { () throws(EngineError) in
            if state.takesSums {
                state.reread = try RecordRecheck(
                    schema: schema, passes: state.passes, jobs: max(1, options.jobs), cancellation: cancellation
                ).run(try pages.reading(), summed: sums)
            }
            if Mutant.isOn(.wholeTooEarly) { try pages.pretendFinished() } else { try pages.finish() }
            KillPoint.reach(.pagesWhole)
        }
        try ledger.commit()
        KillPoint.reach(.pagesDone)
        if Mutant.isOn(.wholeTooEarly) { try pages.finish() }
        let staging = try reopened(ledger, without: StagingPages.part)
        try ledger.commit()
        return staging
    }

    /// The rows of mappings that become pages.
    private func makeRows(
        _ model: StageRun, _ pages: StagingPages, _ schema: StoreSchema, _ ledger: StepLedger,
        _ progress: inout Progress
    ) throws(EngineError) {
        guard !step.methods.mappingsByPages.isEmpty else { return }
        let rows = try RowPages(
            model.run.objects.destination, pages, schema, following: model.largestKeptKeys(), model.run.rules,
            ledger.checkpoints)
        try ledger.keep(RowPages.part, restore: rows.restore, save: rows.save)
        try model.makeByPages(rows, &progress)
        ledger.forget(RowPages.part)
    }

    /// The source's indexes whose entries are carried, by the names of the new ones.
    private func carriedIndexes(
        of works: [TableWork], _ loader: PageLoader, _ state: StepState
    ) throws(EngineError) -> [String: CarriedIndex] {
        var result: [String: CarriedIndex] = [:]
        for work in works where !work.carriedIndexes.isEmpty {
            let sums = work.passes.first.flatMap { state.count($0.id) }?.digest.entries ?? []
            guard let pass = work.passes.first, let table = source.schema.table(pass.sourceTable),
                sums.count == work.carriedIndexes.count
            else { continue }
            let file = try loader.file()
            for (index, sum) in zip(work.carriedIndexes, sums) {
                guard let origin = index.origin, let key = IndexKey(origin.index, of: table),
                    let root = source.schema.objects.first(where: {
                        $0.kind == .index && $0.name == origin.index.name
                    })?.rootPage
                else { continue }
                result[index.index.name] = CarriedIndex(
                    title: origin.index.title, file: file, changes: origin.patch(ofTreeAt: Int(root)), key: key,
                    expected: sum, cancellation: cancellation)
            }
        }
        return result
    }

    /// Closes the store whose trees pages will fill.
    ///
    /// - Returns: its schema.
    private func begun(
        _ works: [TableWork], _ ledger: StepLedger, _ staging: StagingConnection
    ) throws(EngineError) -> StoreSchema {
        // The progress in the store knows nothing of pages: they are those of checkpoints that are lost.
        if ledger.hasBegunNext { throw EngineError(unfinishedPagesOf: place) }
        for work in works {
            // A root that leads to pages that don't count looks damaged.
            guard try staging.isEmpty(work.table) == true else { throw EngineError(unfinishedPagesOf: place) }
        }
        try ledger.commit()
        let schema = try EngineError.reading(place.staging.path) { try StoreSchema(reading: staging.connection) }
        try staging.release()
        return schema
    }

    /// Which tables and indexes pages make: work that was begun with others isn't resumed.
    func keepMethods(in ledger: StepLedger) throws(EngineError) {
        // A store that is begun with rows of another step's store isn't this one.
        let names = step.methods.identity + (before.isEmpty ? [] : ["after \(before.count) steps"])
        var wasKept = false
        try ledger.keep(Self.methodsPart) { reader throws(CheckpointError) in
            wasKept = true
            guard try Self.methods(from: &reader) == names else {
                throw CheckpointError(
                    .foreignPlan, "the step was begun with another --engine or --memory-limit")
            }
        } save: { writer in
            writer.write(count: names.count)
            for name in names { writer.write(name) }
        }
        // Work of a version that knew only statements.
        if ledger.isResumed, !wasKept, !names.isEmpty { throw EngineError(unfinishedPagesOf: place) }
    }

    private static let methodsPart = "methods"

    /// With which methods an earlier run has begun the step; nil where it hasn't, or where that can't be read.
    func savedMethods(in ledger: StepLedger) -> [String]? {
        guard let bytes = ledger.saved(Self.methodsPart) else { return nil }
        var reader = FieldReader(bytes)
        return try? Self.methods(from: &reader)
    }

    private static func methods(from reader: inout FieldReader) throws(CheckpointError) -> [String] {
        var names: [String] = []
        for _ in 0..<(try reader.count(limit: StoreSchema.maximumObjects)) { names.append(try reader.string()) }
        return names
    }

    /// The connection on a file that was made without SQLite; from here on the progress is in it, without the part
    /// about what was made, which nobody needs any more.
    func reopened(_ ledger: StepLedger, without part: String) throws(EngineError) -> StagingConnection {
        guard
            let staging = try StagingConnection(resuming: place.staging, cancellation: cancellation, events: events)
        else {
            throw EngineError(
                .verification, "\(place.staging.path): the pages of the new store can't be read",
                remedy: "check the disk and the memory, then run again with --restart")
        }
        ledger.forget(part)
        ledger.keep(in: staging)
        return staging
    }
}

extension EngineError {
    /// The step starts over.
    init(unfinishedPagesOf place: StepPlace) {
        self.init(
            .foreignCheckpoint, "\(place.staging.path): pages of an earlier run can't be resumed",
            remedy: "run again with --restart to discard the unfinished work")
    }
}

extension CarriedEntries {
    /// What is overwritten in the entries.
    fileprivate func patch(ofTreeAt root: Int) -> TreePatch {
        do throws(PatchRefusal) {
            return try TreePatch(
                TreeRoot(root, .index),
                renumberings.map { (change) throws(PatchRefusal) in
                    ColumnPatch(column: change.place, map: try IntegerMap(change.numbers, others: .refuse))
                })
        } catch {
            preconditionFailure("\(index.name) was planned to be carried, and can't: \(error)")
        }
    }
}
