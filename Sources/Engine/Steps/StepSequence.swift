import CausewayCheckpoint
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores

/// The steps of a plan, one after another: each hands a verified staging store to the next, and the previous one is
/// removed.
struct StepSequence {
    let request: MigrationRequest
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void
    let prepared: PreparedMigration
    let plan: PlanRecord
    /// The store beside which externally stored values are.
    let external: StoreLocation
    let isResumed: Bool
    /// What SQLite has checked of the source in this run.
    let checked: SourceStructure
    /// Bytes that are needed besides those of a step.
    var furtherBytes = 0

    /// Runs every step that isn't done; returns the last staging store, verified and closed.
    func build(
        from store: SourceStore, isWAL: Bool, in work: borrowing WorkDirectory, _ outcome: inout MigrationOutcome
    ) throws(EngineError) -> String {
        let files = try SideFiles(rejects: request.rejects, keyMap: request.keyMap, isResumed: isResumed)
        do throws(EngineError) {
            return try run(from: store, isWAL: isWAL, in: work, files, &outcome)
        } catch {
            var error = error
            // The source is open and the models are read: if something can't be opened now, descriptors or memory are
            // missing.
            if error.kind == .missing { error.kind = .inputOutput }
            // Unless the work is kept, they describe no store; and the next run would refuse them.
            if !error.state.isReplaced, !error.isPassing, error.kind != .undecided { files.discard() }
            throw error
        }
    }

    private func run(
        from store: SourceStore, isWAL: Bool, in work: borrowing WorkDirectory, _ files: SideFiles,
        _ outcome: inout MigrationOutcome
    ) throws(EngineError) -> String {
        var done = try verifiedSteps(in: work)
        let last = prepared.steps.count - 1
        var source = store
        var isFirst = true
        // Steps before this one run one by one.
        var apart = 0
        while done.count <= last {
            let index = done.count
            let group = try group(from: index, apart: apart, in: work)
            if index > 0 {
                let before = place(index - 1, in: work)
                try seal(before, isWAL: false, of: store)
                source = try SourceStore.staged(before.staging.path)
            }
            defer { if index > 0 { source.release() } }
            // Other programs may have used the space since the plan was checked.
            if index > 0 || isResumed {
                let step = group.map { prepared.diskBytes(ofStep: $0) }.max() ?? 0
                let (needed, overflow) = step.addingReportingOverflow(furtherBytes)
                try DiskRoom(prepared, request, events).require(overflow ? .max : needed, at: work.path)
            }
            try forget(group, in: work)
            do throws(EngineError) {
                done += try steps(group, source, done, work, files, isFirst: isFirst, &outcome)
            } catch {
                // Single steps say which of them fails, and which rows.
                guard group.count > 1, error.isMisfit else { throw error }
                events(.warning("\(error.message); the steps run one by one"))
                try place(group.upperBound - 1, in: work).removeFiles()
                apart = group.upperBound
                continue
            }
            isFirst = false
            if index > 0 {
                source.release()
                try place(index - 1, in: work).removeFiles()
                KillPoint.reach(.stepHandedOver)
            }
        }
        // If an earlier run did all steps, nothing has checked them yet.
        try files.require(done[last].sideFiles)
        let place = place(last, in: work)
        try seal(place, isWAL: isWAL, of: store)
        take(done, &outcome)
        return place.staging.path
    }

    /// Steps that run together from one on. What an earlier run has begun one by one goes on so.
    private func group(
        from index: Int, apart: Int, in work: borrowing WorkDirectory
    ) throws(EngineError) -> Range<Int> {
        let alone = index..<index + 1
        // The steps of a group whose first steps were made alone go on so, whatever has ended the run that did it.
        let isInGroup = index > 0 && prepared.fusion.barriers[index] == nil
        if index < apart || isInGroup { return alone }
        let group = prepared.fusion.group(from: index)
        for step in group.dropLast() where try place(step, in: work).hasFiles() { return alone }
        return group
    }

    private func place(_ index: Int, in work: borrowing WorkDirectory) -> StepPlace {
        StepPlace(work: work.path, index: index, identity: plan.identity)
    }

    private func seal(_ place: StepPlace, isWAL: Bool, of store: SourceStore) throws(EngineError) {
        do throws(EngineError) {
            try place.staging.seal(inWALMode: isWAL)
        } catch {
            if error.isFailedSync, !Mutant.isOn(.trustAfterSyncError) { try place.condemn() }
            // Pages that were copied are damaged as the source's are.
            if error.isDamage, place.index == 0, prepared.steps[0].methods.beginning == .copy {
                try cancellation.interrupting(store.connection.interruptHandle) { () throws(EngineError) in
                    _ = try store.checkIntegrity()
                }
            }
            throw error
        }
    }

    /// Runs what syncs the last staging store: if that fails, the file isn't trusted again.
    func condemning<Result>(
        in work: borrowing WorkDirectory, _ body: () throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        do throws(EngineError) {
            return try body()
        } catch {
            if error.isFailedSync, !Mutant.isOn(.trustAfterSyncError) {
                try forgetSwap(in: work)
                try place(prepared.steps.count - 1, in: work).condemn()
            }
            throw error
        }
    }

    /// Removes the record of a swap whose store is about to be removed: the file system may reuse that store's inode
    /// for another file, which would then look like the new store.
    private func forgetSwap(in work: borrowing WorkDirectory) throws(EngineError) {
        if try work.intent() != nil { try work.removeIntent() }
    }

    /// Before a step begins or resumes: no record may describe an incomplete store, and no files of later steps may
    /// exist. An earlier run may have verified them, or this step, before it had to restart here; if a run ended in the
    /// middle of this step, the next run would trust their records.
    private func forget(_ group: Range<Int>, in work: borrowing WorkDirectory) throws(EngineError) {
        try forgetSwap(in: work)
        let rest = prepared.steps.indices[group.lowerBound...].map { place($0, in: work) }
        var hasRecord = false
        for place in rest { hasRecord = try place.staging.removeRecord() || hasRecord }
        // Durably before the first page of a new store.
        if hasRecord { try rest[0].sync() }
        // The store of steps that run together is the last one's.
        for place in rest where place.index != group.upperBound - 1 {
            if try place.hasFiles() { try place.removeFiles() }
        }
    }

    /// Records of the steps whose stores needn't be made again: up to the last one whose store is there.
    private func verifiedSteps(in work: borrowing WorkDirectory) throws(EngineError) -> [VerifiedRecord] {
        var records: [VerifiedRecord] = []
        var found: [StepRecovery.Facts] = []
        for index in prepared.steps.indices {
            guard let record = try WorkDirectory.verified(index, of: plan, in: work.path) else { break }
            records.append(record)
            found.append(
                StepRecovery.Facts(
                    verification: record.verification, hasStore: try place(index, in: work).staging.exists()))
        }
        let recovery = StepRecovery(found, asked: request.verification)
        if let index = recovery.belowLevel {
            events(
                .warning(
                    """
                    \(prepared.steps[index].versions.joined(separator: " → ")): was verified with --verify \
                    \(records[index].verification.rawValue); it starts over, to be verified with --verify \
                    \(request.verification.rawValue)
                    """))
            try forgetSwap(in: work)
            // Of steps that ran together, the last one has the store.
            for later in index..<prepared.steps.count { try place(later, in: work).condemn() }
        }
        return Array(records.prefix(recovery.done))
    }

    /// Runs steps together.
    ///
    /// - Returns: a record of each.
    private func steps(
        _ group: Range<Int>, _ source: SourceStore, _ done: [VerifiedRecord], _ work: borrowing WorkDirectory,
        _ files: SideFiles, isFirst: Bool, _ outcome: inout MigrationOutcome
    ) throws(EngineError) -> [VerifiedRecord] {
        let (first, index) = (group.lowerBound, group.upperBound - 1)
        let together = group.count > 1 ? prepared.fusion.replacements[index] : nil
        let (step, before) = (together ?? prepared.steps[index], done.last)
        events(
            .stepBegan(
                versions: prepared.versions(of: group), index: first, count: prepared.steps.count,
                rows: first == 0 ? prepared.rowsToRead : 0))
        files.beginStep(at: before?.sideFiles ?? SideFileMarks())
        var options = request.options
        options.now = Double(bitPattern: plan.now)
        if !step.methods.identity.isEmpty { options.jobs = options.pageJobs(pageSize: Int(source.pageSize)) }
        let place = place(index, in: work)
        let run = StepRun(
            step: step, before: group.dropLast().map { prepared.fusion.replacements[$0] ?? prepared.steps[$0] },
            plannedRows: first == 0 ? prepared.rows : [], following: Array(prepared.steps[(index + 1)...]),
            source: source, place: place,
            frameworkVersion: prepared.frameworkVersion, metadata: prepared.metadata, options: options,
            external: ExternalValues(directory: external.externalData), copiesFiles: request.output != nil,
            handlers: prepared.handlers[index],
            code: request.code, validation: request.violations, sideFiles: files, verification: request.verification,
            checked: checked,
            badRows: request.badRows, endsLinks: request.endsLinks,
            told: first == 0
                ? nil
                : ToldNotices(
                    ofStep: first, in: prepared, violations: request.violations,
                    linksEnded: done.contains { $0.quarantinedLinks > 0 }),
            cancellation: cancellation, events: events)
        var progress = Progress(total: prepared.rowsToRead * prepared.fusion.groupCount)
        (progress.rows, progress.bytes) = (before?.progressRows ?? 0, before?.progressBytes ?? 0)
        let result = try run.run(&progress, isSourceTold: !isFirst)
        outcome.savingSeconds += progress.savingSeconds
        if let resumed = result.resumedRows {
            outcome.resumed = MigrationOutcome.Resumed(step: first, rows: resumed)
        } else if isFirst, isResumed, first > 0 {
            outcome.resumed = MigrationOutcome.Resumed(step: first, rows: before?.progressRows ?? 0)
        }
        outcome.warnings += result.notices
        try place.sync()
        let record = VerifiedRecord(
            result, plan, step: index + 1, stepsBefore: group.count - 1, progress, files.marks,
            verification: request.verification)
        // Durably before the last one's: without its store they say nothing.
        var records: [VerifiedRecord] = []
        for step in group.dropLast() { records.append(VerifiedRecord(ofStep: step + 1, before: record)) }
        records.append(record)
        for record in records { try work.write(record) }
        try place.removeCheckpoints()
        return records
    }

    private func take(_ records: [VerifiedRecord], _ outcome: inout MigrationOutcome) {
        for (index, record) in records.enumerated() {
            outcome.rows = record.rows
            outcome.bytes += record.bytes
            outcome.dropped += record.dropped
            outcome.createdRows += record.made
            outcome.violations += record.violations
            outcome.defaultedValues += record.defaulted
            outcome.rejectedRows += record.rejected
            outcome.quarantinedRows += record.quarantined
            outcome.unreadBytes += record.unreadBytes ?? 0
            // What steps did that ran together is in the last one's record.
            let together = max(0, index - (record.stepsBefore ?? 0))..<index + 1
            let versions = prepared.versions(of: together).joined(separator: " → ")
            if record.quarantined > 0 { outcome.warnings.append("\(versions): \(Self.quarantined(record))") }
            if record.endedLinks > 0 {
                outcome.warnings.append(
                    "\(versions): \(record.endedLinks) links ended, because their rows were not made")
            }
        }
    }

    private static func quarantined(_ record: VerifiedRecord) -> String {
        var text = "quarantined rows: \(record.quarantined)"
        if record.quarantinedLinks > 0 { text += "; links to them that ended: \(record.quarantinedLinks)" }
        if record.bereftRows > 0 { text += "; rows that lack a mandatory object now: \(record.bereftRows)" }
        return text
    }
}

extension VerifiedRecord {
    /// Of a step that ran together with a later one, whose record has what both have done.
    init(ofStep step: Int, before later: VerifiedRecord) {
        self = later
        self.step = step
        (rows, bytes, dropped, made, endedLinks) = (0, 0, 0, 0, 0)
        stepsBefore = nil
        (violations, defaulted, rejected) = (0, 0, 0)
        (quarantined, quarantinedLinks, bereftRows, unreadBytes) = (0, 0, 0, nil)
        passes = []
    }

    init(
        _ result: StepResult, _ plan: PlanRecord, step: Int, stepsBefore: Int, _ progress: Progress,
        _ marks: SideFileMarks, verification: VerificationLevel
    ) {
        (self.verification, self.stepsBefore) = (verification, stepsBefore)
        fingerprint = plan.fingerprint.text
        migration = plan.migration
        self.step = step
        (rows, bytes, dropped, made) = (result.rows, result.bytes, result.dropped, result.made)
        endedLinks = result.endedLinks
        violations = result.validation.violations
        defaulted = result.validation.defaulted
        rejected = result.validation.rejected
        quarantined = result.quarantined
        (quarantinedLinks, bereftRows) = (result.quarantinedLinks, result.bereftRows)
        unreadBytes = result.unreadBytes
        (progressRows, progressBytes) = (progress.rows, progress.bytes)
        sideFiles = marks
        passes = result.written.passes.map { count in
            var writer = FieldWriter()
            count.digest.write(to: &writer)
            return Pass(
                station: count.pass.id, title: count.pass.title, rows: count.written,
                digest: Hexadecimal.text(Digest256.of(writer.bytes)))
        }
    }
}
