public import CausewayPreparation
import CausewayStores

extension MigrationOptions {
    /// What a run does with the unfinished work of an earlier run on the same store.
    public typealias UnfinishedWork = UnfinishedWorkPolicy
    /// How much of the new store is checked before it takes the old one's place.
    public typealias Verification = VerificationLevel
    /// What becomes of a source row that no pass can make anything of.
    public typealias BadRows = BadRowPolicy

    /// What is done with a store that CloudKit mirrors.
    public typealias CloudKit = CloudKitPolicy

    /// Rows: more don't make batches faster, and one batch is held in memory whole.
    public static let batchRowCounts = 1...1_000_000
    /// Bytes: from a page to what a machine of today has to spare for each thread.
    public static let batchByteCounts = 4_096...(1 << 30)
    /// Threads: more than any machine has cores.
    public static let jobCounts = 1...1_024
    /// Levels that zstd has without modes of their own.
    public static let compressionLevels = 1...19
    /// Seconds. A day is as good as never; more is a mistake.
    public static let intervals = 0.0...86_400.0

    /// Refuses values that make no sense.
    func check() throws(EngineError) {
        if onViolation == .reject || badRows == .quarantine, rejects == nil {
            throw EngineError(
                .usage, "rows can't be rejected without a rejects file",
                remedy: "name one with --rejects")
        }
        for key in metadata.keys.sorted() {
            guard let refusal = MetadataValue.refusal(ofKey: key) else { continue }
            throw EngineError(.usage, "the metadata key \"\(key)\" \(refusal)")
        }
        guard Self.batchRowCounts.contains(batchRows), Self.batchByteCounts.contains(batchBytes),
            Self.jobCounts.contains(jobs ?? 1)
        else {
            throw EngineError(
                .usage, "a batch must have 1 to 1,000,000 rows and 4 KiB to 1 GiB; jobs must be 1 to 1,024")
        }
        guard Self.compressionLevels.contains(checkpointCompression) else {
            throw EngineError(.usage, "the compression level of checkpoints must be 1 to 19")
        }
        // NaN is in no range.
        guard Self.intervals.contains(checkpointInterval), Self.intervals.contains(swapTimeout),
            Self.intervals.contains(busyTimeout)
        else {
            throw EngineError(.usage, "intervals and waiting times must be 0 to 86,400 seconds")
        }
    }
}
