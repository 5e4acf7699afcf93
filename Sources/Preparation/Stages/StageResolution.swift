import CausewayModel
import CausewayObjects

/// Which versions of a history the stages mean.
struct StageResolution {
    let stages: StagedMigration
    let history: ModelHistory
    /// If several versions share a checksum, this one comes first.
    let target: String

    /// The versions of all stages as one line, compared by what their models are.
    func line() throws(StagedMigrationError) -> [StagedMigration.Stop<ModelHistory.Version>] {
        try StagedMigration.line(
            of: stages.stages,
            as: { reference throws(StagedMigrationError) in try version(reference) },
            isSame: { $0.hashes.checksum == $1.hashes.checksum })
    }

    /// The version that a reference means. Checksums are computed from the models, never read from a
    /// `VersionInfo.plist` that may be older than the model beside it.
    func version(_ reference: ManagedObjectModelReference) throws(StagedMigrationError) -> ModelHistory.Version {
        guard let name = reference.name else { return try version(checksum: reference.versionChecksum ?? "") }
        guard let version = history.versions.first(where: { $0.name == name }) else {
            if let failure = history.failures[name] {
                throw StagedMigrationError(
                    .modelReferenceNotFound, "the model “\(name)” that a stage names can't be read: \(failure)",
                    remedy: "fix the model")
            }
            throw StagedMigrationError(
                .modelReferenceNotFound,
                "a stage names the version “\(name)”, which \(history.path) doesn't have; it has \(known)",
                remedy: "correct the name, or add the model")
        }
        if let checksum = reference.versionChecksum, checksum != version.hashes.checksum {
            throw StagedMigrationError(
                .checksumMismatch,
                """
                the model “\(name)” in \(history.path) has the checksum \(version.hashes.checksum), but the stages refer \
                to it with \(checksum)
                """,
                remedy: "restore the released model and make the edited one a new version, or correct the checksum")
        }
        return version
    }

    private func version(checksum: String) throws(StagedMigrationError) -> ModelHistory.Version {
        let found = history.versions.filter { $0.hashes.checksum == checksum }
        guard let version = found.first(where: { $0.name == target }) ?? found.last else {
            let unreadable = history.failures.keys.sorted().map { "“\($0)”" }.joined(separator: ", ")
            throw StagedMigrationError(
                .modelReferenceNotFound,
                """
                no model in \(history.path) has the checksum \(checksum) that a stage names\
                \(unreadable.isEmpty ? "" : "; not readable: \(unreadable)")
                """,
                remedy: "add the model, or correct the checksum (causeway models prints every version's)")
        }
        return version
    }

    private var known: String { history.versions.map { "“\($0.name)”" }.joined(separator: ", ") }
}
