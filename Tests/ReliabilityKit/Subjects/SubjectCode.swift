internal import Causeway
internal import Foundation

/// The Swift code of the chains, as the fixtures' executables register it. An executable can't be imported here, so the
/// code is repeated; the harness's own tests check that both make the same store.
enum SubjectCode {
    static func code(for chain: Subject.Chain) throws -> MigrationCode {
        var code = MigrationCode()
        switch chain {
        case .inferred, .merged, .fused: break
        case .split: code.register(PostToSectionsPolicy.self)
        case .staged: code.stages = try tracksStages()
        }
        return code
    }

    private static func tracksStages() throws -> StagedMigration {
        try StagedMigration {
            CustomMigrationStage(
                migratingFrom: .init(name: "v1", versionChecksum: "RdSKlUen/SYESj0q/7mJ84qszGqBrgIJGzEHQz2EeB8="),
                to: .init(name: "v2", versionChecksum: "iiQos4AwugArTVffv6O2fojwOdSlpFaeB96pq1PXVi8="),
                label: "Artists get rows of their own",
                didMigrate: { manager, _ in try makeArtists(in: manager.context) })
            LightweightMigrationStage(
                [.init(name: "v3", versionChecksum: "JaVcTdWrhFaZGyOkQFydLcVcRoPlnedI0ukgkQEJ4wY=")],
                label: "No more JSON")
        }
    }

    private struct ArtistEntry: Decodable {
        let id: Int64
        let name: String
    }

    private static func makeArtists(in context: ObjectContext) throws {
        let decoder = JSONDecoder()
        var artists: [Int64: ManagedObject] = [:]
        var request = FetchRequest("Track", where: "artistsJSON != nil")
        request.fetchBatchSize = 500
        try context.forEach(request) { track in
            guard let json = try track.string("artistsJSON") else { return }
            let members = try decoder.decode([ArtistEntry].self, from: Data(json.utf8)).map { entry in
                if let known = artists[entry.id] { return known }
                let artist = try context.insert("Artist")
                try artist.set("id", to: .integer(entry.id))
                try artist.set("name", to: entry.name)
                artists[entry.id] = artist
                return artist
            }
            try track.set("artists", to: members)
        }
    }
}

/// As Fixtures/ColourfulPosts/Migrator.
private final class PostToSectionsPolicy: EntityMigrationPolicy {
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
