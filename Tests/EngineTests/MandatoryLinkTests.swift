import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Testing

/// Mandatory to-ones that lose their object.
@Suite("Mandatory to-ones that would be emptied", .timeLimit(.minutes(60)))
struct MandatoryLinkTests {
    /// Versions, one of which drops `Cat`, with the expected message.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var versions: [String]
        var rows: String
        var text: String
        /// Keys of the things that the new store has with `--bad-rows quarantine`.
        var kept: [String]
    }

    private static func strict(_ text: String) -> String {
        text.replacing("optional=\"YES\"", with: "optional=\"NO\"")
    }

    private static func version(_ pet: String, cat: Bool = true, _ extra: String = "", back: String = "") -> String {
        model(
            entity("Animal", attribute("name"), back), cat ? entity("Cat", parent: "Animal") : "",
            entity("Dog", parent: "Animal"), entity("Thing", pet), extra)
    }

    private static let pet = toOne("pet", "Animal")
    private static let renamed = toOne("friend", "Animal", was: "pet")

    /// Animal 1, Cat 2, Dog 3, Thing 4.
    private static let animals = """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1), (3, 1, 1);
        """
    private static let rows =
        animals + """
            INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) VALUES
            (1, 4, 1, 1, 2), (2, 4, 1, 2, 3), (3, 4, 1, 3, 1), (4, 4, 1, 1, 2);
            """
    private static let cut = "but its link to Cat objects can't stay in 2 rows of Thing (p1, p4)"

    private static let shared =
        "is mandatory, and no two rows can have the same object now, but it is missing, or another row keeps its object,"

    static let changes = [
        Change(
            testDescription: "the object's entity is dropped",
            versions: [version(strict(pet)), version(strict(pet), cat: false)], rows: rows,
            text: "V2: Thing.pet is mandatory, \(cut)", kept: ["2", "3"]),
        Change(
            testDescription: "in the last of three, by another name",
            versions: [version(strict(pet)), version(strict(renamed)), version(strict(renamed), cat: false)],
            rows: rows,
            text: "V3: Thing.friend is mandatory, \(cut)", kept: ["2", "3"]),
        Change(
            testDescription: "in a version in between, after which the relationship goes",
            versions: [version(strict(pet)), version(strict(pet), cat: false), version("", cat: false)], rows: rows,
            text: "V2: Thing.pet is mandatory, \(cut)", kept: ["2", "3"]),
        Change(
            testDescription: "the relationship becomes mandatory in the same step",
            versions: [version(pet), version(strict(pet), cat: false)], rows: rows,
            text:
                "V2: Thing.pet is mandatory now, but it is missing, or its object can't stay, in 2 rows of Thing (p1, p4)",
            kept: ["2", "3"]),
        Change(
            testDescription: "the relationship becomes mandatory later",
            versions: [version(pet), version(pet, cat: false), version(strict(pet), cat: false)], rows: rows,
            text:
                "V3: Thing.pet is mandatory now, but it is missing, or its object can't stay, in 2 rows of Thing (p1, p4)",
            kept: ["2", "3"]),
        Change(
            testDescription: "all objects go, a new entity comes",
            versions: [
                model(entity("Cat"), entity("Thing", strict(toOne("pet", "Cat")))),
                model(entity("Dog"), entity("Thing", strict(toOne("pet", "Dog")))),
            ],
            rows: """
                INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZPET) VALUES (1, 2, 1, 1), (2, 2, 1, NULL), (3, 2, 1, 1);
                """,
            text: "V2: Thing.pet is mandatory, but its link to Cat objects can't stay in 2 rows of Thing (p1, p3)",
            // The value was NULL before.
            kept: ["2"]),
        Change(
            testDescription: "the links were a to-many's",
            versions: [
                version(toMany("pet", "Animal", inverse: "owner"), back: toOne("owner", "Thing", inverse: "pet")),
                version(
                    strict(toOne("pet", "Animal", inverse: "owner")), cat: false,
                    back: toOne("owner", "Thing", inverse: "pet")),
            ],
            rows: animals + """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1), (2, 4, 1), (3, 4, 1), (4, 4, 1);
                UPDATE ZANIMAL SET ZOWNER = Z_PK;
                """,
            text:
                "V2: Thing.pet is mandatory now, but it is missing, or its object can't stay, in 2 rows of Thing (p1, p4)",
            kept: ["2", "3"]),
        Change(
            testDescription: "the links were a to-many's, of which the first that stays is kept",
            versions: [
                version(toMany("pet", "Animal", inverse: "owner"), back: toOne("owner", "Thing", inverse: "pet")),
                version(
                    strict(toOne("pet", "Animal", inverse: "owner")), cat: false,
                    back: toOne("owner", "Thing", inverse: "pet")),
            ],
            rows: animals + """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1), (2, 4, 1), (3, 4, 1), (4, 4, 1);
                UPDATE ZANIMAL SET ZOWNER = Z_PK;
                INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZOWNER) VALUES (4, 1, 1, 1), (5, 2, 1, 2);
                """,
            text:
                "V2: Thing.pet is mandatory now, but it is missing, or its object can't stay, in 1 row of Thing (p4)",
            kept: ["1", "2", "3"]),
        Change(
            testDescription: "the other end becomes a to-one, and keeps its first",
            versions: ["toMany", "toOne"].map { back in
                version(
                    strict(toOne("pet", "Animal", inverse: "owner")),
                    back: back == "toOne"
                        ? toOne("owner", "Thing", inverse: "pet") : toMany("owner", "Thing", inverse: "pet"))
            },
            rows: rows, text: "V2: Thing.pet \(shared) in 1 row of Thing (p4)", kept: ["1", "2", "3"]),
        Change(
            testDescription: "a to-one is the new inverse",
            versions: [
                version(strict(pet)),
                version(
                    strict(toOne("pet", "Animal", inverse: "owner")), back: toOne("owner", "Thing", inverse: "pet")),
            ],
            rows: rows, text: "V2: Thing.pet \(shared) in 1 row of Thing (p4)", kept: ["1", "2", "3"]),
        Change(
            testDescription: "the same after a step that renames",
            versions: [
                version(strict(pet)), version(strict(renamed)),
                version(
                    strict(toOne("friend", "Animal", inverse: "owner")),
                    back: toOne("owner", "Thing", inverse: "friend")),
            ],
            rows: rows, text: "V3: Thing.friend \(shared) in 1 row of Thing (p4)", kept: ["1", "2", "3"]),
        Change(
            testDescription: "it was a mandatory to-many, which rows may lack",
            versions: ["toMany", "toOne"].map { link in
                version(
                    strict(
                        link == "toOne"
                            ? toOne("pet", "Animal", inverse: "owner") : toMany("pet", "Animal", inverse: "owner")),
                    back: toOne("owner", "Thing", inverse: "pet"))
            },
            rows: animals + """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1), (2, 4, 1), (3, 4, 1), (4, 4, 1);
                UPDATE ZANIMAL SET ZOWNER = Z_PK; INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZOWNER) VALUES (4, 1, 1, 1);
                """,
            text: "V2: Thing.pet is mandatory now, but it is missing in 1 row of Thing (p4)", kept: ["1", "2", "3"]),
        Change(
            testDescription: "the relationship leads elsewhere",
            versions: [version(strict(pet)), version(strict(toOne("pet", "Dog")))], rows: rows,
            text: "V2: Thing.pet is mandatory, but its link to Animal, Cat objects can't stay in 3 rows of Thing "
                + "(p1, p3, p4)", kept: ["2"]),
    ]

    @Test("are refused by the plan and before the first byte, with the rows", arguments: changes, [true, false])
    func refused(change: Change, fuses: Bool) throws {
        let scenario = try Scenario(versions: change.versions, rows: change.rows)
        let before = try snapshot(scenario.folder)
        var request = scenario.request(to: scenario.lastVersion, fuses: fuses)
        for ends in [false, true] {
            request.endsLinks = ends
            for error in [
                try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
            ] {
                #expect(error.kind == .sourceData)
                #expect(error.details == [change.text], "\(error)")
                #expect(error.remedy.contains("make the relationship optional"))
                #expect(error.remedy.contains("--bad-rows quarantine --rejects FILE"))
            }
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("are left out with --bad-rows quarantine, in any batch size", arguments: changes, [true, false])
    func quarantined(change: Change, fuses: Bool) throws {
        let scenario = try Scenario(versions: change.versions, rows: change.rows)
        var request = scenario.request(to: scenario.lastVersion, fuses: fuses, batchRows: fuses ? 100 : 1)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        #expect(
            try Migration(request).plan().notices
                == ["\(change.text); to be quarantined"].map { notice in
                    notice.replacing(" is mandatory, but", with: " is mandatory,").replacing(
                        " now, but", with: " now,")
                })
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT Z_PK FROM ZTHING ORDER BY 1") == change.kept)
    }

    @Test("an optional one loses its object without a message: the object's entity is dropped")
    func optional() throws {
        let scenario = try Scenario(Self.version(Self.pet), Self.version(Self.pet, cat: false), rows: Self.rows)
        #expect(try Migration(scenario.request(to: "V2")).plan().notices.isEmpty)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT ZPET FROM ZTHING ORDER BY Z_PK") == ["NULL", "2", "3", "NULL"])
    }

    @Test("the message names a path around the version that needs the object, where the target doesn't")
    func detour() throws {
        func remedy(_ change: Change) throws -> String {
            let scenario = try Scenario(versions: change.versions, rows: change.rows)
            return try failure { _ = try Migration(scenario.request(to: scenario.lastVersion)).plan() }.remedy
        }
        #expect(
            try remedy(Self.changes[2]).contains(", skip V2 with --next \"V1=V3\", which may need less, or leave")
        )
        for change in Self.changes[...1] { #expect(try !remedy(change).contains("--next")) }
    }

    @Test("the message names such a path where the target's to-one of that name has another destination")
    func detourToAnother() throws {
        let versions = [("Animal", ""), ("Dog", ""), ("Animal", entity("More"))].map { destination, more in
            Self.version(Self.strict(toOne("pet", destination)), more)
        }
        let scenario = try Scenario(versions: versions, rows: Self.rows)
        var request = scenario.request(to: "V3")
        let error = try failure { _ = try Migration(request).plan() }
        #expect(error.details.first?.hasPrefix("V2: Thing.pet is mandatory, but its link") == true, "\(error)")
        #expect(error.remedy.contains(", skip V2 with --next \"V1=V3\", which may need less"))
        request.edges = ["V1": "V3"]
        _ = try Migration(request).plan()
    }

    // MARK: - After mapping models

    /// V1 to V2 by a mapping model; in V3 each thing must have a pet.
    private static func mapped(
        cat: Bool = false, @EntityMappingsBuilder _ mappings: () -> [EntityMappingStatement]
    ) throws -> (Scenario, MigrationRequest) {
        let scenario = try Scenario(
            version(pet), version(pet, cat: cat), version(strict(pet), cat: cat),
            rows: rows + "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (5, 4, 1);")
        var request = scenario.request(to: "V3")
        request.code.add(SwiftMappingModel(from: "V1", to: "V2", content: mappings))
        return (scenario, request)
    }

    @Test("rows whose object a mapping model leaves out with its entity are refused by the plan")
    func behindMappingModel() throws {
        let (scenario, request) = try Self.mapped {
            CopyEntity("Animal")
            CopyEntity("Dog")
            CopyEntity("Thing")
            RemoveEntity("Cat")
        }
        let before = try snapshot(scenario.folder)
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(
                error.details == [
                    "V3: Thing.pet is mandatory now, but it is missing, or its object can't stay, in 3 rows of Thing "
                        + "(p1, p4, p5)"
                ], "\(error)")
        }
        #expect(try snapshot(scenario.folder) == before)
        try Scenario.execute("DELETE FROM ZTHING WHERE Z_PK IN (1, 4, 5)", scenario.store)
        #expect(try Migration(request).plan().notices.isEmpty)
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT Z_PK, ZPET FROM ZTHING ORDER BY 1") == ["2|2", "3|3"])
    }

    @Test("where a filter decides which objects there are, the plan says so, and the step checks when it begins")
    func behindFilter() throws {
        let (scenario, request) = try Self.mapped(cat: true) {
            CopyEntity("Animal")
            CopyEntity("Dog")
            TransformEntity("Cat") { Filter("name != nil") }
            CopyEntity("Thing")
        }
        try Scenario.execute("DELETE FROM ZTHING WHERE Z_PK = 5", scenario.store)
        let notices = try Migration(request).plan().notices
        #expect(
            notices == [
                """
                V3: Thing.pet is mandatory now: whether 2 rows of Thing (p1, p4) fulfil it depends on the mapping \
                “CatToCat”; the step V2 → V3 checks it when it begins
                """
            ])
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.hasPrefix("V3: Thing.pet is mandatory now") && $0.contains("(p1, p4)") })
        try Scenario.execute("UPDATE ZANIMAL SET ZNAME = 'x'", scenario.store)
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT Z_PK, ZPET FROM ZTHING ORDER BY 1") == ["1|1", "2|2", "3|3", "4|1"])
    }
}
