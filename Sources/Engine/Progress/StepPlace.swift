import CausewayCheckpoint
import CausewayPlatform
import CausewayStores

/// Where the files of one step are, in the work directory (InsideCrashSafety §4.1).
struct StepPlace {
    let work: String
    /// Counted from 0.
    let index: Int
    /// The identity of plan, source and migration that the step's checkpoints must have.
    let identity: CheckpointIdentity

    /// The store that the step makes.
    var staging: StagingFile { StagingFile(work: work, step: index) }
    /// The database of its look-ups.
    var scratch: String { work + "/" + WorkFile.scratch(index) }

    /// Makes the names in the folder durable.
    func sync() throws(EngineError) {
        try EngineError.at(work) { try Files.syncDirectory(work) }
    }

    /// After a failed fsync the disk's content is unknown: the staging store is removed, with everything that describes
    /// it.
    func condemn() throws(EngineError) {
        try staging.remove()
        try removeFiles()
    }

    /// Whether there is any file of the step except the record.
    func hasFiles() throws(EngineError) -> Bool {
        try !names().isEmpty
    }

    /// Removes every file of the step except the record: the step starts over, or the next one is verified.
    func removeFiles() throws(EngineError) {
        try remove(try names())
        try sync()
    }

    /// Removes the files that only a resumed run of this step would need.
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
