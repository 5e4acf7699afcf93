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
    ///   - state: is told what the copy is; nothing of it has been compared.
    ///   - rows: of the tables that stay.
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
            if done.copied == 0 {
                try EntityNumberCheck(step: step, source: source, cancellation: cancellation).check()
            }
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
        return try Self.doing(step, source) { () throws(PageCopyError) in
            let plan = try self.plan(of: pages)
            defer {
                state.kept?.isClone = done.isClone
                state.kept?.sharedBytes = done.isClone ? plan.stayingPageCount * pages.layout.pageSize : 0
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
        let (step, source, total) = (step, source, progress.total)
        ledger.keep(inFilesAfter: { () throws(EngineError) in
            if Mutant.isOn(.noPageSync) { return }
            try Self.doing(step, source) { () throws(PageCopyError) in try copy.sync() }
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
        try chunks(done.copied..<copy.chunkCount) { chunk throws(PageCopyError) in
            try copy.copy(chunk).trees.contains { $0.longRecords > 0 }
        } take: { hasLongRecords throws(EngineError) in
            if hasLongRecords { done.hasLongRecords = true }
            done.copied += 1
            try advance()
        }
        if done.hasLongRecords {
            // Their overflow pages may lie in any chunk.
            try chunks(done.patched..<copy.chunkCount) { chunk throws(PageCopyError) in
                try copy.patchOverflow(chunk)
                return true
            } take: { _ throws(EngineError) in
                done.patched += 1
                try advance()
            }
        }
        done.isWhole = true
        try ledger.commit()
        // Lets go of the descriptor: SQLite gets the file now.
        ledger.keep(inFilesAfter: {})
        (progress.rows, progress.bytes) = now
    }

    /// Does something with every chunk, on all workers, and takes the results in the order of the chunks.
    private func chunks(
        _ numbers: Range<Int>, _ body: @escaping @Sendable (Int) throws(PageCopyError) -> Bool,
        take: (Bool) throws(EngineError) -> Void
    ) throws(EngineError) {
        let (step, source) = (step, source)
        // More than one a worker: while the progress is synced, the others go on.
        let inFlight = EngineOptions.poolSize(jobs: max(1, options.jobs))
        try PlacePipeline(numbers, jobs: options.jobs, inFlight: inFlight, cancellation: cancellation).run {
            every throws(EngineError) in
            try every { chunk throws(EngineError) in
                try Self.doing(step, source) { () throws(PageCopyError) in try body(chunk) }
            }
        } take: { _, hasLongRecords throws(EngineError) in
            try take(hasLongRecords)
        }
    }

    /// What becomes of each tree of the source.
    private func plan(of pages: PageFile) throws(PageCopyError) -> CopyPlan {
        let schema = source.schema
        let edit = step.schemaEdit(of: schema)
        let kept = Dictionary(edit.kept.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var (stay, patches, freed): ([TreeRoot], [TreePatch], [TreeRoot]) = ([], [], [])
        for object in schema.objects where object.rootPage > 0 {
            let tree = TreeRoot(object, in: schema)
            // The root of an index that is filled again stays, empty.
            guard let kept = kept[object.name.lowercased()], !step.methods.empties(index: kept.newName) else {
                freed.append(tree)
                continue
            }
            let numbers = step.methods.renumberings(of: kept)
            guard !numbers.isEmpty else {
                stay.append(tree)
                continue
            }
            do throws(PatchRefusal) {
                patches.append(
                    try TreePatch(
                        tree,
                        numbers.map { (numbers) throws(PatchRefusal) in
                            ColumnPatch(column: numbers.place, map: try IntegerMap(numbers.numbers, others: .refuse))
                        }))
            } catch {
                preconditionFailure("\(object.name) was planned to be patched, and can't be: \(error)")
            }
        }
        do throws(PageReadError) {
            return try CopyPlan(of: pages, keeping: stay, patching: patches, freeing: freed)
        } catch {
            throw .source(error)
        }
    }

    private static func doing<Value>(
        _ step: StepPlan, _ source: SourceStore, _ body: () throws(PageCopyError) -> Value
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
        case .record(let cause):
            let table = source.schema.objects.first { $0.rootPage == Int64(cause.root) }?.name ?? "a tree"
            self.init(.sourceData, "\(source.location.path), \(table): \(cause.description)")
            isMisfit = true
        case .copy(let cause):
            self.init(.inputOutput, "\(cause.path): \(cause.message)", remedy: "make room, then run again")
            isFailedSync = cause.operation == "sync"
        case .otherCopy: self.init(.foreignCheckpoint, error.description)
        }
    }
}
