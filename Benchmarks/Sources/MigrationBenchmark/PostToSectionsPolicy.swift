import ArgumentParser
import Causeway

/// How the policy that splits posts is written.
enum PolicyForm: String, CaseIterable, ExpressibleByArgument {
    /// As most apps would: names of properties, and strings.
    case strings
    /// For speed: keys of properties, and texts where they lie.
    case spans

    var policy: EntityMigrationPolicy.Type {
        switch self {
        case .strings: PostToSectionsPolicy.self
        case .spans: FastPostToSectionsPolicy.self
        }
    }
}

/// Splits a post into a post and a section: the policy of `Fixtures/ColourfulPosts` v2 → v3, as an app would write it.
final class PostToSectionsPolicy: EntityMigrationPolicy {
    /// Every post is split without regard to any other.
    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let body = try sInstance.string("content"),
            let dInstance = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        let section = try manager.destinationContext.insert("Section")
        try section.set("title", to: body.prefix(4) + "...")
        try section.set("body", to: body)
        try section.set("index", to: 0)
        try section.set("post", to: dInstance)
    }
}

/// The same, without a `String` or a look-up of a name for a row.
final class FastPostToSectionsPolicy: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    private var content: PropertyKey = "content"
    private var title: PropertyKey = "title"
    private var body: PropertyKey = "body"
    private var index: PropertyKey = "index"
    private var post: PropertyKey = "post"

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        content = try manager.sourceContext.key("content")
        title = try manager.destinationContext.key("title")
        body = try manager.destinationContext.key("body")
        index = try manager.destinationContext.key("index")
        post = try manager.destinationContext.key("post")
    }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let dInstance = try manager.destinationInstance(forSource: sInstance, in: mapping) else { return }
        try sInstance.withUTF8(content) { text in
            let section = try manager.destinationContext.insert("Section")
            try section.set(title) { made in
                made.append(text.prefix(4))
                made.append("...")
            }
            try section.set(body, to: text)
            try section.set(index, to: 0)
            try section.set(post, to: dInstance)
        }
    }
}
