import Causeway

/// v3 → v4: an author becomes a first and a last name, of publications and of magazines.
///
/// The last word is the last name, all others are the first name. A single word is a last name.
final class AuthorNamePolicy: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)

        guard let author = try sInstance.string("author"),
            let dInstance = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }

        var words = author.split(whereSeparator: \.isWhitespace)
        guard let lastName = words.popLast() else { return }
        try dInstance.set("lastName", to: String(lastName))
        guard !words.isEmpty else { return }
        try dInstance.set("firstName", to: words.joined(separator: " "))
    }
}
