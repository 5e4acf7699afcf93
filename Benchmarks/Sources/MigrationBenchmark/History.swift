import Causeway
import Foundation

/// A model history whose whole way is measured: a fixture with its code, or a real one beside the project.
struct History {
    /// What `--only` takes.
    let name: String
    /// Path below the project's folder, or of what lies beside it.
    let models: String
    /// Made of a store's own cache instead of `models`.
    var origin: String?
    /// nil: the oldest version, and the newest.
    var from: String?
    var to: String?
    /// SQL for what the generator can't make up.
    var fill: String?
    /// What is said of it: code that its app has and that is replaced, parts of the way that are left out.
    var note = ""
    var code: @Sendable () throws -> MigrationCode = { MigrationCode() }

    /// The project's folder.
    static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let stores = project.deletingLastPathComponent().appendingPathComponent("shared/stores")

    static let all: [History] = fixtures + real

    private static func fixture(
        _ name: String, fill: String? = nil, code: @escaping @Sendable () throws -> MigrationCode = { MigrationCode() }
    ) -> History {
        History(
            name: name, models: project.appendingPathComponent("Fixtures/\(name)/\(name).xcdatamodeld").path,
            fill: fill,
            code: code)
    }

    /// The executables' own code: the files are links to theirs.
    private static let fixtures = [
        fixture("ColourfulPosts") { registering(PostToSectionsPolicy.self) },
        fixture("BookStore") {
            var code = registering(AuthorNamePolicy.self)
            code.managerType = SynopsisManager.self
            return code
        },
        fixture(
            "Tracks",
            fill: #"""
                UPDATE ZTRACK SET ZARTISTSJSON = CASE WHEN Z_PK % 10 = 0 THEN NULL WHEN Z_PK % 10 = 5 THEN '[]'
                ELSE printf('[{"id":%d,"name":"A %d"},{"name":"B %d","id":%d}]',
                    Z_PK % 97 + 1, Z_PK % 97 + 1, Z_PK * 7 % 97 + 1, Z_PK * 7 % 97 + 1) END
                """#
        ) {
            var code = MigrationCode()
            code.stages = try tracksStages()
            return code
        },
        fixture("Staff") { registering(ContactPolicy.self) },
        fixture("Kennel"), fixture("Jumps"), fixture("Detour"), fixture("Orchard"),
    ]

    private static func real(
        _ name: String, _ models: String, origin: String? = nil, from: String? = nil, to: String? = nil,
        note: String = "", policies: [String] = []
    ) -> History {
        History(
            name: name, models: stores.appendingPathComponent(models).path,
            origin: origin.map { stores.appendingPathComponent($0).path }, from: from, to: to,
            note: policies.isEmpty
                ? note : note + (note.isEmpty ? "" : "; ") + "policies that do what the mapping model says",
            code: {
                var code = MigrationCode()
                for policy in policies { code.register(PlainPolicy.self, as: policy) }
                return code
            })
    }

    private static let real = [
        real("wire", "wire/zmessaging.xcdatamodeld"),
        real("wire-events", "wire/ZMEventModel.xcdatamodeld"),
        real(
            "moody", "moody/Moody.xcdatamodeld", from: "Moody", to: "Moody 6", policies: ["Country5ToCountry6Policy"]),
        real(
            "colourful-posts-real", "colourful-posts/CoreDataMigration_Example.xcdatamodeld",
            policies: ["Post2ToPost3MigrationPolicy"]),
        real(
            "posts-and-colors", "posts-and-colors/CoreDataMigration_Example.xcdatamodeld",
            policies: ["Post2ToPost3MigrationPolicy"]),
        real("students", "students/TestModel.xcdatamodeld", note: "inferred, without its stage"),
        real("carekit", "carekit/SampleStore2.1.sqlite", origin: "carekit/SampleStore2.0.sqlite", note: "inferred"),
        real(
            "coredataplus", "coredataplus/SampleModel.xcdatamodeld", from: "SampleModel", to: "SampleModel3",
            policies: ["V2to3MakerPolicy"]),
        real("coredataplus-3", "coredataplus/SampleModel3.xcdatamodeld", note: "inferred, without its stage"),
        real(
            "openemu", "openemu/OEDatabase.xcdatamodeld",
            policies: ["OEDBRomMigrationPolicy", "OEDBSaveStateMigrationPolicy", "OEDBImageMigrationPolicy"]),
        real(
            "ehpanda", "ehpanda/Model.xcdatamodeld",
            policies: [
                "GalleryDetailMO5toGalleryDetailMO6MigrationPolicy", "GalleryMO5toGalleryMO6MigrationPolicy",
                "GalleryStateMO5toGalleryStateMO6MigrationPolicy",
            ]),
        History(
            name: "loopkit", models: stores.appendingPathComponent("loopkit/Model.xcdatamodeld").path,
            note: "policies that set createdByCurrentApp",
            code: {
                var code = MigrationCode()
                code.register(CarbPolicy.self, as: "CachedCarbObjectv3EntityMigrationPolicy")
                code.register(CarbPolicy.self, as: "DeletedCarbObjectv3EntityMigrationPolicy")
                return code
            }),
        real("photos", "photos/Photos-10.16.0.sqlite", origin: "photos/Photos-10.15.4.sqlite"),
    ]

    private static func registering(_ policy: EntityMigrationPolicy.Type) -> MigrationCode {
        var code = MigrationCode()
        code.register(policy)
        return code
    }

    /// Does what the mapping model says: stands in for a policy whose code only its app has.
    private final class PlainPolicy: EntityMigrationPolicy {
        override class var isIndependent: Bool { true }
    }

    /// LoopKit's own policies give every entry what is mandatory in the new version.
    private final class CarbPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            for carb in made { try carb.setValue(.boolean(false), forKey: "createdByCurrentApp") }
        }
    }
}
