import Causeway

/// v2 → v3: a post's content moves into a section of its own.
///
/// Every post is split without regard to any other, so the policy is independent: it runs on all workers at once.
final class PostToSectionsPolicy: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    /// Characters of the content that make a section's title.
    private static let titleLength = 4

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        // The post without its content, by the mapping's expressions.
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)

        guard let body = try sInstance.string("content"),
            let dInstance = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }

        let section = try manager.destinationContext.insert("Section")
        try section.set("title", to: body.prefix(Self.titleLength) + "...")
        try section.set("body", to: body)
        try section.set("index", to: 0)
        try section.set("post", to: dInstance)
    }
}
