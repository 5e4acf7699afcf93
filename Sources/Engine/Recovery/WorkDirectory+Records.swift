import CausewayCheckpoint
import CausewayPlatform
import CausewayStores

/// The records of a work directory: plan, verified steps, swap.
extension WorkDirectory {
    private var planPath: String { path + "/" + WorkFile.plan }
    private var intentPath: String { path + "/" + WorkFile.swap }

    /// Bytes of a record: a plan of a hundred steps takes some ten thousand.
    static let maximumRecord = 16 << 20

    /// A record; nil if there is none or it can't be read: it gets its name when it is durable.
    private static func record<Record: Decodable>(_ path: String, as type: Record.Type) throws(EngineError) -> Record? {
        guard let bytes = try bytes(path) else { return nil }
        return try? JSONRecord.decode(bytes, as: type, limit: maximumRecord)
    }

    private static func bytes(_ path: String) throws(EngineError) -> [UInt8]? {
        try EngineError.at(path) { try Files.exists(path) ? try Files.readFile(path, limit: maximumRecord) : nil }
    }

    /// Refuses a plan of another release before it is decoded: one that lacks a member of ours would look missing, and
    /// its folder would be emptied.
    static func plan(in work: String) throws(EngineError) -> PlanRecord? {
        func foreign(_ place: String, _ format: String) -> EngineError {
            EngineError(
                .foreignCheckpoint, "\(place): the unfinished work has another format (\(format.prefix(40)))",
                remedy: "finish it with the release that began it, or discard it with --restart")
        }
        let path = work + "/" + WorkFile.plan
        // One that isn't JSON was never renamed into place.
        guard let bytes = try bytes(path), let format = try? JSONRecord.format(of: bytes, limit: maximumRecord) else {
            return nil
        }
        guard format == PlanRecord.format else { throw foreign(path, format) }
        guard let record = try? JSONRecord.decode(bytes, as: PlanRecord.self, limit: maximumRecord) else { return nil }
        guard record.identity.migration.count == CheckpointIdentity.migrationLength else {
            throw foreign(work, record.format)
        }
        return record
    }

    static func intent(in work: String) throws(EngineError) -> SwapIntent? {
        let record = try record(work + "/" + WorkFile.swap, as: SwapIntent.self)
        guard let record, record.format == SwapIntent.format else { return nil }
        // Names only: a record must not lead out of the two folders.
        guard ![record.store, record.backup, record.staging].contains(where: { $0.contains("/") || $0.isEmpty }) else {
            return nil
        }
        return record
    }

    func intent() throws(EngineError) -> SwapIntent? { try Self.intent(in: path) }

    /// The record of a step of this work; nil where it isn't verified.
    static func verified(_ step: Int, of plan: PlanRecord, in work: String) throws(EngineError) -> VerifiedRecord? {
        let record = try record(work + "/" + WorkFile.verified(step), as: VerifiedRecord.self)
        guard let record, record.format == VerifiedRecord.format, record.fingerprint == plan.fingerprint.text,
            record.migration == plan.migration, record.step == step + 1
        else { return nil }
        return record
    }

    private static func write(_ record: some Encodable & Sendable, to path: String, synced: Bool) throws(EngineError) {
        try EngineError.at(path, remedy: "make room, then run again") {
            let bytes = try JSONRecord.encode(record, limit: maximumRecord)
            try Files.writeFileDurably(path, bytes, syncs: synced)
        }
    }

    func write(_ plan: PlanRecord) throws(EngineError) {
        try Self.write(plan, to: planPath, synced: !Mutant.isOn(.noPlanSync))
        KillPoint.reach(.planWritten)
    }

    func write(_ intent: SwapIntent) throws(EngineError) {
        try Self.write(intent, to: intentPath, synced: true)
        KillPoint.reach(.intentWritten)
    }

    func write(_ record: VerifiedRecord) throws(EngineError) {
        try Self.write(record, to: path + "/" + WorkFile.verified(record.step - 1), synced: true)
        KillPoint.reach(.verifiedWritten)
    }

    func removeIntent() throws(EngineError) {
        try remove([WorkFile.swap])
        try sync()
    }
}
