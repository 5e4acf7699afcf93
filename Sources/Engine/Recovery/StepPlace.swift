import CausewayCheckpoint
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStores

/// Where the files of one step are, in the work directory (InsideCrashSafety §4.1).
struct StepPlace {
    let work: String
    /// Counted from 0.
    let index: Int
    /// What the step's checkpoints must say of plan, source and migration.
    let identity: CheckpointIdentity

    /// The store that the step makes.
    var staging: String { "\(work)/\(WorkDirectory.stepPrefix)\(index + 1).sqlite" }
    /// What it looks up while it runs.
    var scratch: String { "\(work)/\(WorkDirectory.stepPrefix)\(index + 1)-objects.sqlite" }
    /// The record that the store was verified.
    var verified: String { "\(work)/\(WorkDirectory.stepPrefix)\(index + 1).verified.json" }

    /// Whether there is a store that may hold something.
    ///
    /// A file without a second page has no table: the run that made it ended before its first commit, and nothing of it is
    /// lost. The first page is written on its own, when `auto_vacuum` is set.
    func hasStaging() throws(EngineError) -> Bool {
        do {
            guard let status = try Files.statusIfExists(staging), status.size > 0 else { return false }
            let head = try Files.readPrefix(of: staging, length: DatabaseHeader.length)
            return DatabaseHeader(head).map { status.size > $0.pageSize } ?? true
        } catch {
            throw EngineError(.inputOutput, "\(staging): \(error.message)")
        }
    }

    /// Makes the names in the folder durable.
    func sync() throws(EngineError) {
        do {
            try Files.syncDirectory(work)
        } catch {
            throw EngineError(.inputOutput, "\(work): \(error.message)")
        }
    }

    /// Removes the record that the store was verified. The sync of the folder is the caller's.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func removeRecord() throws(EngineError) -> Bool {
        do {
            return try Files.unlink(verified)
        } catch {
            throw EngineError(.inputOutput, "\(verified): \(error.message)")
        }
    }

    /// What the disk holds of a staging store whose fsync failed can't be known: it is made anew, and its record goes with
    /// it. All of it is tried before a failure is told: where one name can't be removed or made durable, the other is gone.
    func condemn() throws(EngineError) {
        var failures: [FileError] = []
        do throws(FileError) {
            try Files.unlink(staging)
            // After the store alone: without its journal it would be one that was never rolled back.
            try Files.unlink(staging + "-journal")
        } catch {
            failures.append(error)
        }
        do throws(FileError) {
            try Files.unlink(verified)
        } catch {
            failures.append(error)
        }
        do throws(FileError) {
            try Files.syncDirectory(work)
        } catch {
            failures.append(error)
        }
        if let failure = failures.first { throw EngineError(.inputOutput, "\(failure.path): \(failure.message)") }
        try removeFiles()
    }

    /// Whether there is anything of the step but the record.
    func hasFiles() throws(EngineError) -> Bool {
        try !names().isEmpty
    }

    /// Removes everything of the step but the record: the step begins anew, or the next one is verified.
    func removeFiles() throws(EngineError) {
        let names = try names()
        do {
            // Without its journal a store would be one that was never rolled back.
            for name in names where name.hasSuffix(".sqlite") { try Files.unlink(work + "/" + name) }
            if names.contains(where: { $0.hasSuffix("-journal") }) { try Files.syncDirectory(work) }
            for name in names where !name.hasSuffix(".sqlite") { try Files.unlink(work + "/" + name) }
            try Files.syncDirectory(work)
        } catch {
            throw EngineError(.inputOutput, "\(work): \(error.message)")
        }
    }

    private func names() throws(EngineError) -> [String] {
        let step = "\(index + 1)"
        do {
            return try Files.list(work).filter { name in
                name.hasPrefix("step-\(step).sqlite") || name.hasPrefix("step-\(step)-")
                    || name.hasPrefix("ckpt-\(step)-") || name.hasPrefix("seg-\(step)-")
            }
        } catch {
            throw EngineError(.inputOutput, "\(work): \(error.message)")
        }
    }

    /// Removes what only a resumed run of this step would need.
    func removeCheckpoints() throws(EngineError) {
        let store = Paths.name(of: staging)
        let names = try names().filter { !$0.hasPrefix(store) }
        do {
            for name in names { try Files.unlink(work + "/" + name) }
        } catch {
            throw EngineError(.inputOutput, "\(work): \(error.message)")
        }
    }
}
