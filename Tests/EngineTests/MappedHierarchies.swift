import CausewayObjects
import Testing

/// Versions whose entities share a table, and mapping models with one mapping for each.
extension MappedHierarchyTests {
    /// In order: Animal 1 (abstract), Bird 2, Cat 3, Dog 4, Puppy 5, Owner 6, Visit 7.
    static func version(
        _ animal: String = "", cat: String = "", visit: String = "", owner: String = "", _ more: String = ""
    ) -> String {
        model(
            entity(
                "Animal", extra: "isAbstract=\"YES\"", attribute("name"), attribute("age", "Integer 16"),
                attribute("weight", "Double"), toOne("owner", "Owner", inverse: "animals"),
                toOne("friend", "Animal", inverse: "friends"), toMany("friends", "Animal", inverse: "friend"), animal),
            entity("Bird", parent: "Animal", attribute("wings", "Integer 16")),
            entity("Cat", parent: "Animal", attribute("lives", "Integer 16"), toOne("last", "Visit"), cat),
            entity("Dog", parent: "Animal", attribute("tricks")),
            entity("Puppy", parent: "Dog", attribute("teeth", "Integer 32")), more,
            entity(
                "Owner", attribute("name"), attribute("rank", "Integer 16"),
                toMany("animals", "Animal", inverse: "owner", ordered: true), owner),
            entity("Visit", attribute("words"), toOne("animal", "Animal"), toOne("dog", "Dog"), visit))
    }

    /// Keys have gaps, and entities take turns; some friends aren't there.
    static func rows(_ count: Int) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 20))
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRANK)
        SELECT i * 3, 6, 1 + i % 4, iif(i % 7, 'owner ' || i, NULL), i % 50 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE, ZWEIGHT, ZOWNER, Z_FOK_OWNER, ZFRIEND, Z1_FRIEND, ZWINGS,
            ZLIVES, ZLAST, ZTRICKS, ZTEETH)
        SELECT i * 2, 2 + i * i % 4 + (i % 3 = 0), 1, printf('%06d-%030x', i, i * 7919), iif(i % 11, i % 20, NULL),
            i % 9 / 2.0, iif(i % 13, (i * 31 % \(count / 20) + 1) * 3, NULL), iif(i % 13, i * 100, NULL),
            iif(i % 5, i * 2 + 2 + i % 17 / 16, NULL), iif(i % 5, 2 + (i + 1) * (i + 1) % 4 + ((i + 1) % 3 = 0), NULL),
            iif(i % 2, 2, NULL), i % 9, iif(i % 3, i * 7 % \(count / 4) + 1, NULL), 'tricks ' || i % 30, i % 40
        FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 4))
        INSERT INTO ZVISIT (Z_PK, Z_ENT, Z_OPT, ZWORDS, ZANIMAL, Z1_ANIMAL, ZDOG, Z4_DOG)
        SELECT i, 7, 1, 'words ' || i, a.Z_PK, a.Z_ENT, iif(a.Z_ENT > 3, a.Z_PK, NULL), iif(a.Z_ENT > 3, a.Z_ENT, NULL)
        FROM n LEFT JOIN ZANIMAL AS a ON a.Z_PK = i * 6;
        """
    }

    /// Changes nothing but a number of visits.
    final class VisitPolicy: EntityMigrationPolicy {
        override class var isIndependent: Bool { true }
        override class var createsRelationships: Bool { false }
    }

    /// A step and its mapping model.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let target: String
        /// How many of its mappings become pages.
        let byPages: Int
        let mapping: @Sendable () -> SwiftMappingModel
    }

    static let larger = version(
        attribute("label") + attribute("ownerName") + attribute("note", default: "n/a") + attribute("half", "Double"))

    static func made(_ mapping: String, of source: String) -> String {
        """
        FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "\(mapping)", \(source))
        """
    }

    static let changes = [
        Change(testDescription: "filters, numbers, texts and key paths", target: larger, byPages: 6) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Puppy") { Compute("label", "'puppy'") }
                TransformEntity("Bird") { Compute("label", "uppercase:($source.name)") }
                TransformEntity("Cat") {
                    Filter("lives != 3")
                    Compute("ownerName", "$source.owner.name")
                }
                TransformEntity("Owner") { Filter("rank != 7") }
                TransformEntity("Dog") {
                    Filter("NOT (name CONTAINS '77')")
                    Compute("half", "$source.weight / 2")
                    Compute("ownerName", "$source.owner.name")
                }
                TransformEntity("Visit")
            }
        },
        Change(testDescription: "only copies", target: version(owner: attribute("more")), byPages: 6) {
            SwiftMappingModel(from: "V1", to: "V2") {
                for name in ["Bird", "Cat", "Dog", "Puppy", "Visit"] { TransformEntity(name) }
                TransformEntity("Owner")
            }
        },
        Change(testDescription: "an entity whose rows aren't migrated", target: larger, byPages: 5) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Owner")
                TransformEntity("Puppy")
                TransformEntity("Dog") { Compute("label", "TERNARY($source.age > 9, 'old', 'young')") }
                RemoveEntity("Cat")
                TransformEntity("Bird")
                TransformEntity("Visit")
            }
        },
        Change(testDescription: "a mapping between whose policy might append to them", target: larger, byPages: 3) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Owner")
                TransformEntity("Bird")
                TransformEntity("Cat")
                TransformEntity("Visit", policy: VisitPolicy.self)
                TransformEntity("Dog")
                TransformEntity("Puppy")
            }
        },
        Change(
            testDescription: "rows with new keys among them, and links to these and those",
            target: version(
                cat: toOne("stray", "Stray"), visit: toOne("subject", "Dog"),
                entity("Stray", parent: "Animal", attribute("words"))), byPages: 7
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Bird")
                TransformEntity("Visit", to: "Stray") { Filter("animal == nil OR words CONTAINS '3'") }
                TransformEntity("Visit") { Link("subject", made("DogToDog", of: "$source.dog")) }
                TransformEntity("Cat") { Link("stray", made("VisitToStray", of: "$source.last")) }
                TransformEntity("Dog")
                TransformEntity("Puppy")
                TransformEntity("Owner")
            }
        },
        Change(testDescription: "an entity that two mappings read", target: larger, byPages: 2) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Owner")
                TransformEntity("Visit")
                TransformEntity("Bird")
                TransformEntity("Cat")
                TransformEntity("Dog", name: "Young") { Filter("age < 9") }
                TransformEntity("Dog", name: "Old") { Filter("age > 5") }
                TransformEntity("Puppy")
            }
        },
    ]
}
