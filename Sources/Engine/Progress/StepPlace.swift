import CausewayCheckpoint
import CausewayPlatform
import CausewayStores

/// Where the files of one step are, in the work directory (InsideCrashSafety §4.1).
struct StepPlace {
    let work: String
    /// Counted from 0.
    let index: Int
    /// What the step's checkpoints must say of plan, source and migration.
    let identity: CheckpointIdentity

    /// The store that the step makes.
    var staging: StagingFile { StagingFile(work: work, step: index) }
    /// What it looks up while it runs.
    var scratch: String { work + "/" + WorkFile.scratch(index) }

    /// Makes the names in the folder durable.
    func sync() throws(EngineError) {
        try EngineError.at(work) { try Files.syncDirectory(work) }
    }

    /// What the disk holds of a staging store whose fsync failed can't be known: it is made anew, with all that speaks of
    /// it.
    func condemn() throws(EngineError) {
        try staging.remove()
        try removeFiles()
    }

    /// Whether there is anything of the step but the record.
    func hasFiles() throws(EngineError) -> Bool {
        try !names().isEmpty
    }

    /// Removes everything of the step but the record: the step begins anew, or the next one is verified.
    func removeFiles() throws(EngineError) {
        try remove(try names())
        try sync()
    }

    /// Removes what only a resumed run of this step would need.
    func removeCheckpoints() throws(EngineError) {
        let store = WorkFile.staging(index)
        try remove(try names().filter { !$0.hasPrefix(store) })
    }

    private func names() throws(EngineError) -> [String] {
        try EngineError.at(work) { try Files.list(work).filter { WorkFile.isWork($0, of: index) } }
    }

    private func remove(_ names: [String]) throws(EngineError) {
        try EngineError.at(work) { try WorkFile.remove(names, in: work) }
    }
}
