import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Begins a new store as a copy of the source, in which only trees that stay have rows. A copy that was killed goes on
/// with the chunks that no checkpoint speaks of.
struct StoreCopy {
    let step: StepPlan
    let source: SourceStore
    let file: StagingFile
    let options: EngineOptions
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Makes the file, durably, with the schema as far as it stays and with room for the progress; or goes on with it.
    ///
    /// - Parameters:
    ///   - ledger: saves how far the copy is, in checkpoint files: until it is whole the file is no database.
    ///   - state: is told what the copy is.
    ///   - rows: of the tables that stay, about.
    ///   - progress: rows and bytes of the steps before; raised as they are copied.
    /// - Throws: `EngineError` with `isMisfit` where the source's rows don't allow it: then the store is made anew.
    ///   `.foreignCheckpoint` where the file isn't the one that an earlier run left.
    func make(
        _ ledger: StepLedger, _ state: StepState, rows: Int, _ progress: inout Progress
    ) throws(EngineError) {
        let done = CopiedChunks()
        try ledger.keep(CopiedChunks.part, restore: done.restore, save: done.save)
        let schema = StagingSchema(
            file: file, edit: step.schemaEdit(of: source.schema), room: StepState.room(for: step))
        if done.isWhole {
            if try schema.isChanged() { return }
            _ = try opened(done, state)
        } else {
            events(.phaseBegan("copying pages"))
            try copy(done, ledger, state, rows, &progress)
            KillPoint.reach(.pagesCopied)
        }
        try schema.change()
    }

    // MARK: - Pages

    /// The new file, or the one that an earlier run left.
    private func opened(_ done: CopiedChunks, _ state: StepState) throws(EngineError) -> DatabaseCopy {
        let pages: PageFile
        do throws(SourceRefusal) {
            pages = try source.pageFile()
        } catch {
            throw EngineError(
                .inputOutput, "\(source.location.path): its pages can't be read any more: \(error)",
                remedy: "run again with --engine statements")
        }
        let path = file.path
        return try Self.doing(source) { () throws(PageCopyError) in
            let plan = try self.plan(of: pages)
            defer {
                state.kept?.isClone = done.isClone
                state.kept?.sharedBytes =
                    done.isClone ? (plan.stayingPageCount - plan.changedPageCount) * pages.layout.pageSize : 0
            }
            guard done.copied > 0 else {
                let copy = try DatabaseCopy.begin(
                    pages, plan, at: path, sharing: true, chunkLength: options.copyChunkBytes)
                (done.isClone, done.chunkLength) = (copy.isClone, options.copyChunkBytes)
                return copy
            }
            let copy = try DatabaseCopy.resume(
                pages, plan, at: path, isClone: done.isClone, chunkLength: done.chunkLength)
            guard try copy.hasOwnFirstPage(), done.copied <= copy.chunkCount, done.patched <= copy.chunkCount
            else { throw .otherCopy(path: path) }
            return copy
        }
    }

    /// Copies what is missing. No descriptor of the file is open once it has returned.
    private func copy(
        _ done: CopiedChunks, _ ledger: StepLedger, _ state: StepState, _ rows: Int, _ progress: inout Progress
    ) throws(EngineError) {
        let copy = try opened(done, state)
        let (source, total) = (source, progress.total)
        ledger.keep(inFilesAfter: { () throws(EngineError) in
            if Mutant.isOn(.noPageSync) { return }
            try Self.doing(source) { () throws(PageCopyError) in try copy.sync() }
        })
        // What stays in a clone isn't read.
        let bytes = copy.isClone ? 0 : Int(copy.length)
        func share(_ whole: Int) -> Int { Int(Double(whole) * Double(done.copied) / Double(max(1, copy.chunkCount))) }
        let begin = (rows: progress.rows - share(rows), bytes: progress.bytes - share(bytes))
        var now = (rows: progress.rows, bytes: progress.bytes)
        func advance() throws(EngineError) {
            now = (begin.rows + share(rows), begin.bytes + share(bytes))
            ledger.report(rows: now.rows, bytes: now.bytes, total: max(total, now.rows))
            KillPoint.reach(.batchWritten)
            try ledger.advance(to: StepLedger.Cursor())
            events(.progress(rows: now.rows, bytes: now.bytes, totalRows: max(total, now.rows)))
        }
        var counts = PatchCounts(copy.plan.patches)
        if !done.counts.isEmpty {
            guard done.counts.count == counts.numbers.count else {
                throw EngineError(.foreignCheckpoint, "\(file.path): the counts are those of another plan")
            }
            counts.numbers = done.counts
        }
        try chunks(done.copied..<copy.chunkCount) { chunk throws(PageCopyError) in
            try copy.copy(chunk)
        } take: { found throws(EngineError) in
            counts.add(found)
            done.counts = counts.numbers
            done.copied += 1
            try advance()
        }
        if copy.hasLongRecords(counts) {
            // Their overflow pages may lie in any chunk.
            try chunks(done.patched..<copy.chunkCount) { chunk throws(PageCopyError) in
                try copy.patchOverflow(chunk)
            } take: { _ throws(EngineError) in
                done.patched += 1
                try advance()
            }
        }
        state.kept?.rows = KeptRows(counts, copy.plan.patches, readTables(copy))
        done.isWhole = true
        try ledger.commit()
        // Lets go of the descriptor: SQLite gets the file now.
        ledger.keep(inFilesAfter: {})
        (progress.rows, progress.bytes) = now
    }

    /// Does something with every chunk, on all workers, and takes the results in the order of the chunks.
    private func chunks<Value: Sendable>(
        _ numbers: Range<Int>, _ body: @escaping @Sendable (Int) throws(PageCopyError) -> Value,
        take: (Value) throws(EngineError) -> Void
    ) throws(EngineError) {
        let source = source
        // More than one a worker: while the progress is synced, the others go on.
        let inFlight = EngineOptions.poolSize(jobs: max(1, options.jobs))
        try PlacePipeline(numbers, jobs: options.jobs, inFlight: inFlight, cancellation: cancellation).run {
            every throws(EngineError) in
            try every { chunk throws(EngineError) in
                try Self.doing(source) { () throws(PageCopyError) in try body(chunk) }
            }
        } take: { _, value throws(EngineError) in
            try take(value)
        }
    }

    /// What becomes of each tree of the source.
    private func plan(of pages: PageFile) throws(PageCopyError) -> CopyPlan {
        let schema = source.schema
        let edit = step.schemaEdit(of: schema)
        let kept = Dictionary(edit.kept.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        let records = KeptRecords(step: step, schema: schema)
        var (stay, patches, read, freed): ([TreeRoot], [TreePatch], [TreePatch], [TreeRoot]) = ([], [], [], [])
        for object in schema.objects where object.rootPage > 0 {
            let tree = TreeRoot(object, in: schema)
            guard let kept = kept[object.name.lowercased()] else {
                freed.append(tree)
                continue
            }
            if !step.methods.renumberings(of: kept).isEmpty {
                patches.append(records.patch(of: kept, tree))
            } else if kept.kind == .table {
                read.append(records.patch(of: kept, tree))
            } else {
                stay.append(tree)
            }
        }
        do throws(PageReadError) {
            return try CopyPlan(of: pages, keeping: stay, patching: patches, reading: read, freeing: freed)
        } catch {
            throw .source(error)
        }
    }

    /// The new name of the table that each patch of a copy is of; nil for indexes, and for tables that weren't read.
    private func readTables(_ copy: DatabaseCopy) -> [String?] {
        let tables = step.schemaEdit(of: source.schema).kept.filter { $0.kind == .table }
        let names = Dictionary(
            tables.compactMap { kept in source.schema.table(kept.name).map { (Int($0.rootPage), kept.newName) } },
            uniquingKeysWith: { first, _ in first })
        return copy.plan.patches.enumerated().map { place, patch in
            copy.reads(patch: place) ? names[patch.tree.page] : nil
        }
    }

    private static func doing<Value>(
        _ source: SourceStore, _ body: () throws(PageCopyError) -> Value
    ) throws(EngineError) -> Value {
        do throws(PageCopyError) {
            return try body()
        } catch {
            throw EngineError(copying: error, source)
        }
    }
}

extension EngineError {
    /// Pages of the source that can't be copied.
    fileprivate init(copying error: PageCopyError, _ source: SourceStore) {
        switch error {
        case .source(let cause): self.init(reading: cause, during: source.location.path)
        case .record(let cause): self.init(in: source, cause)
        case .copy(let cause):
            self.init(.inputOutput, "\(cause.path): \(cause.message)", remedy: "make room, then run again")
            isFailedSync = cause.operation == "sync"
        case .otherCopy: self.init(.foreignCheckpoint, error.description)
        }
    }
    /// A record of a tree that stays. A row of an entity that the model doesn't have ends the run as where rows are
    /// read; links end there, and so the store is made anew.
    private init(in source: SourceStore, _ error: PatchError) {
        let name = source.schema.objects.first { $0.rootPage == Int64(error.root) }?.name ?? "a tree"
        let column = source.schema.table(name).flatMap { table in
            table.columns.indices.contains(error.column) ? table.columns[error.column].name : nil
        }
        if error.code == .unknownValue, column?.uppercased() == KeptRecords.entityColumn, let key = error.rowid {
            self.init(
                BadRow(
                    code: .migration, property: nil,
                    reason: "its Z_ENT \(error.value.map { String($0) } ?? "NULL") names no entity of this table"),
                table: name, key: key)
            return
        }
        self.init(.sourceData, "\(source.location.path), \(name): \(error.description)")
        isMisfit = true
    }
}
