import Causeway
import Foundation

/// Colourful Posts 2 → 3, line by line as the app has it: a post's content becomes a section of its own.
final class Post2ToPost3MigrationPolicy: EntityMigrationPolicy {
    override class var isResumable: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard
            let dInstance = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { throw PolicyError.nothingMade(sInstance.uri) }
        let body = try sInstance.string("content") ?? ""
        let section = try dInstance.context.insert("Section")
        try section.set("title", to: body.prefix(4) + "...")
        try section.set("body", to: body)
        try section.set("index", to: .integer(0))
        try section.set("post", to: dInstance)
        try dInstance.set("sections", to: [section])
    }
}

/// The same written by hand, and on all workers: it reads only its own row.
final class IndependentPostPolicy: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let post = try manager.destinationContext.insert("Post")
        for name in ["postID", "hexColor", "date"] {
            try post.setValue(try sInstance.value(forKey: name), forKey: name)
        }
        let body = try sInstance.string("content") ?? ""
        let section = try manager.destinationContext.insert("Section")
        try section.set("title", to: body.prefix(4) + "...")
        try section.set("body", to: body)
        try section.set("index", to: .integer(0))
        try post.add(section, to: "sections")
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: post, for: mapping)
    }
}

/// Posts and Colors 2 → 3: one colour for each post.
final class PostToColorPolicy: EntityMigrationPolicy {
    override class var isResumable: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard
            let post = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { throw PolicyError.nothingMade(sInstance.uri) }
        let color = try manager.destinationContext.insert("Color")
        try color.set("colorID", to: UUID().uuidString)
        try color.set("hex", to: try sInstance.string("hexColor"))
        try post.set("color", to: color)
    }
}

enum PolicyError: Error {
    case nothingMade(String)
    case unknownEntity(String)
}
