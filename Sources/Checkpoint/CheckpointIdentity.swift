/// What a checkpoint belongs to; a checkpoint of anything else is refused.
package struct CheckpointIdentity: Hashable, Sendable {
    /// Bytes of `plan` and of `source`: SHA-256.
    package static let digestLength = 32
    /// Bytes of `migration`: a UUID.
    package static let migrationLength = 16

    /// Fingerprint of the plan: everything that decides the resulting rows.
    package var plan: [UInt8]
    /// Identity of the source store.
    package var source: [UInt8]
    /// UUID of the run that wrote plan.json; resumed runs keep it, a restarted one has its own.
    package var migration: [UInt8]

    package init(plan: [UInt8], source: [UInt8], migration: [UInt8]) {
        self.plan = plan
        self.source = source
        self.migration = migration
    }

    /// Whether each part has its length; the container has room for exactly these.
    var isWellFormed: Bool {
        plan.count == Self.digestLength && source.count == Self.digestLength
            && migration.count == Self.migrationLength
    }

    /// Refuses a checkpoint of another plan, source or run, in this order.
    func require(_ expected: CheckpointIdentity) throws(CheckpointError) {
        guard plan == expected.plan else {
            throw CheckpointError(
                .foreignPlan,
                "The checkpoint belongs to another plan (\(Self.short(plan)), not \(Self.short(expected.plan))): "
                    + "models, mapping models, policies or options that change rows differ. Run again with the "
                    + "original ones, or discard the unfinished work with --restart.")
        }
        guard source == expected.source else {
            throw CheckpointError(
                .foreignSource,
                "The checkpoint belongs to another source store (\(Self.short(source)), not "
                    + "\(Self.short(expected.source))). If the store was changed or replaced on purpose, discard "
                    + "the unfinished work with --restart.")
        }
        guard migration == expected.migration else {
            throw CheckpointError(
                .foreignPlan,
                "The checkpoint belongs to another run of the same plan (\(Self.short(migration)), not "
                    + "\(Self.short(expected.migration))); it isn't part of this work.")
        }
    }

    /// The first four bytes in hexadecimal: enough to tell two apart in a message.
    private static func short(_ bytes: [UInt8]) -> String {
        bytes.prefix(4).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
