import Causeway

/// Splits a post into a post and a section: the policy of `Fixtures/ColourfulPosts` v2 → v3, as an app would write it.
final class PostToSectionsPolicy: EntityMigrationPolicy {
    /// Every post is split without regard to any other.
    override class var isIndependent: Bool { true }

    private var content: PropertyKey = "content"
    private var title: PropertyKey = "title"
    private var body: PropertyKey = "body"
    private var post: PropertyKey = "post"

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        content = try manager.sourceContext.key("content")
        title = try manager.destinationContext.key("title")
        body = try manager.destinationContext.key("body")
        post = try manager.destinationContext.key("post")
    }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let text = try sInstance.string(content),
            let dInstance = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        let section = try manager.destinationContext.insert("Section")
        try section.set(title, to: .string(text.prefix(4) + "..."))
        try section.set(body, to: .string(text))
        try section.set(post, to: dInstance)
    }
}
