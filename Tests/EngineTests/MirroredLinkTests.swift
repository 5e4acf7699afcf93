import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Testing

/// Mandatory to-ones after a mapping model that sets their links from the other end too.
@Suite("Mandatory to-ones whose inverse is mapped", .timeLimit(.minutes(60)))
struct MirroredLinkTests {
    /// Each thing must have a pet in V3. In V1 robots have things too; in V2 the robots are animals.
    private static func mirrored(
        rows: String, @EntityMappingsBuilder _ mappings: () -> [EntityMappingStatement]
    ) throws -> (Scenario, MigrationRequest) {
        func version(_ pet: String, robot: Bool = false) -> String {
            model(
                entity("Animal", toMany("things", "Thing", inverse: "pet")), entity("Cat", parent: "Animal"),
                entity("Robot", robot ? toMany("things", "Thing", inverse: "owner") : ""),
                entity("Thing", pet, robot ? toOne("owner", "Robot", inverse: "things") : ""))
        }
        let pet = toOne("pet", "Animal", inverse: "things")
        let scenario = try Scenario(
            version(pet, robot: true), version(pet),
            version(pet.replacing("optional=\"YES\"", with: "optional=\"NO\"")),
            rows: """
                INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
                INSERT INTO ZROBOT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                """ + rows)
        var request = scenario.request(to: "V3")
        request.code.add(SwiftMappingModel(from: "V1", to: "V2", content: mappings))
        return (scenario, request)
    }

    @Test("a link to an object that only the inverse's mapping finds is kept")
    func byInverse() throws {
        let (scenario, request) = try Self.mirrored(
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) VALUES (1, 4, 1, 1, 1), (2, 4, 1, 2, 2);"
        ) {
            // First: a later setting wins.
            TransformEntity("Thing") { Link("pet", through: "AnimalToAnimal") }
            CopyEntity("Animal")
            CopyEntity("Cat")
            RemoveEntity("Robot")
        }
        #expect(try Migration(request).plan().notices.isEmpty)
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT Z_PK, ZPET, Z1_PET FROM ZTHING ORDER BY 1") == ["1|1|1", "2|2|2"])
    }

    @Test("a link that another relationship of the inverse's name sets isn't missing")
    func byNamesake() throws {
        let (scenario, request) = try Self.mirrored(
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET, ZOWNER) VALUES (1, 4, 1, 1, 1, NULL), "
                + "(2, 4, 1, NULL, NULL, 1);"
        ) {
            CopyEntity("Thing")
            CopyEntity("Animal")
            CopyEntity("Cat")
            TransformEntity("Robot", to: "Animal") { Link("things") }
        }
        #expect(
            try Migration(request).plan().notices == [
                """
                V3: Thing.pet is mandatory now: whether 2 rows of Thing (p1, p2) fulfil it depends on an expression; the \
                step V2 → V3 checks it when it begins
                """
            ])
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT count(ZPET) FROM ZTHING") == ["2"])
    }

    @Test("of merged entities, each is checked for its own links")
    func byMerged() throws {
        func pair(_ owner: String, _ toy: String, _ name: String, optional: Bool = true) -> String {
            let link = toOne(name, owner, inverse: "toys").replacing(
                "optional=\"YES\"", with: "optional=\"\(optional ? "YES" : "NO")\"")
            return entity(owner, toMany("toys", toy, inverse: name)) + entity(toy, link)
        }
        let scenario = try Scenario(
            model(pair("Cat", "CatToy", "owner"), pair("Dog", "DogToy", "owner")), model(pair("Pet", "Toy", "owner")),
            model(pair("Pet", "Toy", "keeper", optional: false)),
            rows: """
                INSERT INTO ZDOG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                INSERT INTO ZDOGTOY (Z_PK, Z_ENT, Z_OPT, ZOWNER) VALUES (1, 4, 1, 1);
                """)
        var request = scenario.request(to: "V3")
        request.code.add(
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Cat", to: "Pet") { Link("toys") }
                TransformEntity("Dog", to: "Pet") { Link("toys") }
                TransformEntity("CatToy", to: "Toy", fillsUnmentioned: false)
                TransformEntity("DogToy", to: "Toy", fillsUnmentioned: false)
            })
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT count(ZKEEPER) FROM ZTOY") == ["1"])
    }
}
