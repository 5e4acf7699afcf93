import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Begins a new store as a copy of the source, in which only trees that stay have rows.
struct StoreCopy {
    let step: StepPlan
    let source: SourceStore
    let file: StagingFile
    let options: EngineOptions
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Makes the file, durably, with the schema as far as it stays.
    ///
    /// - Throws: `EngineError` with `isMisfit` where the source's rows don't allow it: then the store is made anew.
    func make() throws(EngineError) {
        events(.phaseBegan("copying pages"))
        try checkEntities()
        try copy()
        KillPoint.reach(.pagesCopied)
        try StagingSchema(file: file, edit: step.schemaEdit(of: source.schema)).change()
    }

    /// Rows of entities that the model doesn't have end the run, as where rows are read; patches find them themselves.
    private func checkEntities() throws(EngineError) {
        for pass in step.keptPasses
        where pass.kind == .entity && step.methods.tables[pass.destinationTable]?.method == .keep {
            let numbers = pass.projections.keys.sorted().map { String($0) }.joined(separator: ", ")
            let found = try EngineError.reading(source.location.path) { () -> (Int64, Int64?)? in
                var statement = try source.connection.prepare(
                    """
                    SELECT Z_PK, Z_ENT FROM \(try SQLIdentifier(pass.sourceTable)) \
                    WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers)) LIMIT 1
                    """)
                guard try statement.step() else { return nil }
                return (statement.int64(at: 0), statement.type(at: 1) == .integer ? statement.int64(at: 1) : nil)
            }
            if let (key, number) = found {
                throw EngineError(
                    BadRow(
                        code: .migration, property: nil,
                        reason: "its Z_ENT \(number.map { String($0) } ?? "NULL") names no entity of this table"),
                    table: pass.sourceTable, key: key)
            }
        }
    }

    /// One chunk in flight.
    private struct Chunk: Sendable {
        var number = 0
        var counts: PatchCounts
    }

    private func copy() throws(EngineError) {
        let pages: PageFile
        do throws(SourceRefusal) {
            pages = try source.pageFile()
        } catch {
            throw EngineError(
                .inputOutput, "\(source.location.path): its pages can't be read any more: \(error)",
                remedy: "run again with --engine statements")
        }
        let plan = try Self.doing(step, source) { () throws(PageCopyError) in try self.plan(of: pages) }
        let patches = plan.patches
        let copy = try Self.doing(step, source) { () throws(PageCopyError) in
            try DatabaseCopy.begin(pages, plan, at: file.path, sharing: true)
        }
        var counts = PatchCounts(patches)
        try chunks(of: copy, counts: &counts) { chunk throws(PageCopyError) in try copy.copy(chunk) }
        if counts.trees.contains(where: { $0.longRecords > 0 }) {
            // Their overflow pages may lie in any chunk.
            try chunks(of: copy, counts: &counts) { chunk throws(PageCopyError) in
                try copy.patchOverflow(chunk)
                return PatchCounts(patches)
            }
        }
        try Self.doing(step, source) { () throws(PageCopyError) in try copy.sync() }
    }

    /// Does something with every chunk, on all workers.
    private func chunks(
        of copy: DatabaseCopy, counts: inout PatchCounts,
        _ body: @escaping @Sendable (Int) throws(PageCopyError) -> PatchCounts
    ) throws(EngineError) {
        let jobs = max(1, options.jobs)
        let (step, source, count) = (step, source, copy.chunkCount)
        try OrderedPipeline(
            workers: jobs,
            batches: (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
                Chunk(counts: counts)
            }, cancellation: cancellation
        ).run(
            reading: { every throws(EngineError) in
                var next = 0
                try every { (chunk: inout Chunk) throws(EngineError) in
                    chunk.number = next
                    next += 1
                    return next < count
                }
            },
            working: { _, every throws(EngineError) in
                _ = try every { (chunk: inout Chunk) throws(EngineError) in
                    let number = chunk.number
                    chunk.counts = try Self.doing(step, source) { () throws(PageCopyError) in try body(number) }
                }
            },
            take: { chunk throws(EngineError) in
                counts.add(chunk.counts)
                KillPoint.reach(.batchWritten)
            })
    }

    /// What becomes of each tree of the source.
    private func plan(of pages: PageFile) throws(PageCopyError) -> CopyPlan {
        let schema = source.schema
        let edit = step.schemaEdit(of: schema)
        let kept = Dictionary(edit.kept.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var (stay, patches, freed): ([Int], [TreePatch], [TreeRoot]) = ([], [], [])
        for object in schema.objects where object.rootPage > 0 {
            let isTable = object.kind == .table && schema.table(object.name)?.isWithoutRowID == false
            let tree = TreeRoot(Int(object.rootPage), isTable ? .table : .index)
            guard let kept = kept[object.name.lowercased()] else {
                freed.append(tree)
                continue
            }
            let numbers =
                kept.kind == .table
                ? step.methods.kept[kept.newName]?.renumberings : step.methods.keptIndexes[kept.newName]?.renumberings
            guard let numbers, !numbers.isEmpty else {
                stay.append(tree.page)
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
        case .otherCopy: self.init(.verification, error.description)
        }
    }
}
