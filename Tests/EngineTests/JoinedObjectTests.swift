import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Testing

/// The policy that Policies shows for a many-to-many that becomes an entity.
final class TaggingPolicy: EntityMigrationPolicy {
    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        let notes = try manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let tags = try notes.flatMap { try $0.objects("tags") }
        for tag in try manager.destinationInstances(forEntityMappingName: "TagToTag", sourceInstances: tags) {
            let tagging = try manager.destinationContext.insert("Tagging")
            try tagging.set("note", to: dInstance)
            try tagging.set("tag", to: tag)
        }
    }
}

@Suite("A many-to-many that becomes an entity", .timeLimit(.minutes(60)))
struct JoinedObjectTests {
    private static func scenario() throws -> Scenario {
        try Scenario(
            model(
                entity("Note", attribute("text"), toMany("tags", "Tag", inverse: "notes")),
                entity("Tag", attribute("name"), toMany("notes", "Note", inverse: "tags"))),
            model(
                entity("Note", attribute("text"), toMany("taggings", "Tagging", inverse: "note", was: "tags")),
                entity("Tag", attribute("name"), toMany("taggings", "Tagging", inverse: "tag", was: "notes")),
                entity(
                    "Tagging", toOne("note", "Note", inverse: "taggings"), toOne("tag", "Tag", inverse: "taggings"))),
            rows: """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
                INSERT INTO Z_1TAGS (Z_1NOTES, Z_2TAGS) VALUES (1, 1), (1, 2), (2, 2);
                """)
    }

    @Test("is refused with both relationships named, and with what can carry the links")
    func refused() throws {
        let scenario = try Self.scenario()
        let error = try failure { _ = try Migration(scenario.request()).plan() }
        #expect(
            error.details.contains {
                $0.hasPrefix(
                    "V1 → V2: would end 3 links of Note.taggings and its inverse Tag.notes: it leads to Tagging now")
            }, "\(error)")
        #expect(error.remedy.contains("have a policy make a Tagging object of each link (Policies shows how"))
        #expect(!error.remedy.contains("carry them with a mapping model"))
    }

    @Test("the policy in Policies makes an object of each link", arguments: [EngineChoice.auto, .statements])
    func policy(engine: EngineChoice) throws {
        let scenario = try Self.scenario()
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("Note", policy: TaggingPolicy.self)
            TransformEntity("Tag")
        }
        _ = try Migration(scenario.request(by: mapping, engine, output: "New.sqlite")).run()
        #expect(
            try Database.rows(
                "SELECT ZNOTE, ZTAG FROM ZTAGGING ORDER BY 1, 2", in: scenario.folder + "/New.sqlite")
                == ["1|1", "1|2", "2|2"])
    }
}
