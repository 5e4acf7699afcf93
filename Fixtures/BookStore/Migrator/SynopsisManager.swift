import Causeway

/// v4 → v5: gives every publication its first synopsis, the title and who wrote it.
///
/// Done where a source object and what was made of it are associated, so no entity mapping needs a policy for it.
final class SynopsisManager: MigrationManager {
    /// Each synopsis comes from its publication alone: a run that was killed goes on between any two rows.
    override class var isResumable: Bool { true }

    override func associate(
        sourceInstance sInstance: ManagedObject, withDestinationInstance dInstance: ManagedObject,
        for mapping: EntityMapping
    ) throws {
        try super.associate(sourceInstance: sInstance, withDestinationInstance: dInstance, for: mapping)

        // The manager is that of every step: only the mappings of this one have a synopsis, and those of genres don't.
        guard mapping.attributeMappings.contains(where: { $0.name == "synopsis" }) else { return }
        try dInstance.set("synopsis", to: try synopsis(of: sInstance))
    }

    private func synopsis(of publication: ManagedObject) throws -> String {
        let title = try publication.string("title") ?? ""
        let names = [try publication.string("firstName"), try publication.string("lastName")].compactMap { $0 }
        return names.isEmpty ? title : "\(title) by \(names.joined(separator: " "))"
    }
}
