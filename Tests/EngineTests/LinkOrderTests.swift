import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Core Data sets to-ones and adds to to-manys mapping by mapping and row by row, and keeps both ends alike: of two
/// that link the same row, the later wins.
@Suite("Links that both ends set", .timeLimit(.minutes(60)))
struct LinkOrderTests {
    /// A mapping model, and what a query of the new store must show.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let models: [String]
        let rows: String
        let mapping: @Sendable () -> SwiftMappingModel
        let query: String
        let expected: [String]
        /// Relationships that stage 2 sets row by row.
        let looked: Int
    }

    // MARK: - Cats and dogs become pets

    private static func pets(ordered: Bool = false) -> [String] {
        [
            model(
                entity("Cat", attribute("name"), toOne("owner", "Owner", inverse: "cats")),
                entity("Dog", attribute("name"), toOne("owner", "Owner", inverse: "dogs")),
                entity(
                    "Owner", attribute("name"), toMany("cats", "Cat", inverse: "owner", ordered: ordered),
                    toMany("dogs", "Dog", inverse: "owner", ordered: ordered))),
            model(
                entity("Owner", attribute("name"), toMany("pets", "Pet", inverse: "owner", ordered: ordered)),
                entity("Pet", attribute("name"), toOne("owner", "Owner", inverse: "pets"))),
        ]
    }

    /// Four cats and four dogs of two owners; in ordered models the last is the first.
    private static func petRows(ordered: Bool = false) -> String {
        let (column, place) = ordered ? (", Z_FOK_OWNER", ", (5 - i) * 1024") : ("", "")
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4)"
        return """
            INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 3, 1);
            \(numbers) INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOWNER\(column))
            SELECT i, 1, 1, 'cat ' || i, 1 + i % 2\(place) FROM n;
            \(numbers) INSERT INTO ZDOG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOWNER\(column))
            SELECT i, 2, 1, 'dog ' || i, 1 + i % 2\(place) FROM n;
            """
    }

    private static func petCase(
        _ title: String, _ order: [String], pets: String? = nil, expected: [String], looked: Int
    ) -> Case {
        Case(
            testDescription: title, models: Self.pets(), rows: petRows(),
            mapping: {
                SwiftMappingModel(from: "V1", to: "V2") {
                    for entity in order {
                        if entity == "Owner" {
                            TransformEntity("Owner", fillsUnmentioned: false) {
                                if let pets { Link("pets", from: pets, through: pets == "cats" ? "Cats" : "Dogs") }
                            }
                        } else {
                            TransformEntity(entity, to: "Pet", name: entity + "s") { Link("owner") }
                        }
                    }
                }
            },
            query: "SELECT ZNAME, ZOWNER FROM ZPET ORDER BY 1", expected: expected, looked: looked)
    }

    private static let all = ["cat", "dog"].flatMap { kind in (1...4).map { "'\(kind) \($0)'|\(1 + $0 % 2)" } }

    private static func orderedCase(
        _ title: String, _ order: [String], pets: String? = nil, expected: [String], looked: Int = 0
    ) -> Case {
        Case(
            testDescription: title, models: Self.pets(ordered: true), rows: petRows(ordered: true),
            mapping: {
                SwiftMappingModel(from: "V1", to: "V2") {
                    for entity in order {
                        TransformEntity(entity, to: "Pet", name: entity + "s") { Link("owner") }
                    }
                    TransformEntity("Owner", fillsUnmentioned: false) {
                        Compute("name", "$source.name")
                        if let pets { Link("pets", from: pets, through: "Cats") }
                    }
                }
            },
            query: "SELECT ZNAME FROM ZPET WHERE ZOWNER = 1 ORDER BY Z_FOK_OWNER, Z_PK DESC", expected: expected,
            looked: looked)
    }

    // MARK: - Ordered pets of subentities

    private static let families = [
        model(
            entity("Cat", attribute("name"), toOne("owner", "Owner", inverse: "cats")), entity("Kitten", parent: "Cat"),
            entity("Owner", attribute("name"), toMany("cats", "Cat", inverse: "owner", ordered: true)),
            entity("Rich", parent: "Owner")),
        model(
            entity("Owner", attribute("name"), toMany("pets", "Pet", inverse: "owner", ordered: true)),
            entity("Pet", attribute("name"), toOne("owner", "Owner", inverse: "pets")),
            entity("Rich", parent: "Owner")),
    ]

    /// Owner 1 has cat 2 and kitten 4, owner 2, who is rich, cat 1 and kitten 3; the last is the first.
    private static let familyRows = """
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 4, 1);
        INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOWNER, Z3_OWNER, Z_FOK_OWNER) VALUES
        (1, 1, 1, 'cat 1', 2, 4, 8192), (2, 1, 1, 'cat 2', 1, 3, 7168),
        (3, 2, 1, 'kitten 3', 2, 4, 6144), (4, 2, 1, 'kitten 4', 1, 3, 5120);
        """

    private static func familyCase(
        _ title: String, _ order: [String], setting owners: [String: String], of owner: Int, expected: [String],
        looked: Int
    ) -> Case {
        Case(
            testDescription: title, models: families, rows: familyRows,
            mapping: {
                SwiftMappingModel(from: "V1", to: "V2") {
                    for entity in order {
                        if entity == "Owner" || entity == "Rich" {
                            TransformEntity(entity, fillsUnmentioned: false) {
                                if let through = owners[entity] {
                                    Link("pets", from: "cats", through: through.isEmpty ? nil : through)
                                }
                            }
                        } else {
                            TransformEntity(entity, to: "Pet", name: entity + "s") { Link("owner") }
                        }
                    }
                }
            },
            query: "SELECT ZNAME FROM ZPET WHERE ZOWNER = \(owner) ORDER BY Z_FOK_OWNER, Z_PK DESC", expected: expected,
            looked: looked)
    }

    // MARK: - Many-to-manys

    private static let joins = [
        model(
            entity(
                "A", attribute("name"), toMany("bs", "B", inverse: "ays"), toMany("old", "B", inverse: "oldAs")),
            entity("B", attribute("name"), toMany("ays", "A", inverse: "bs"), toMany("oldAs", "A", inverse: "old"))),
        model(
            entity("A", attribute("name"), toMany("bs", "B", inverse: "ays")),
            entity("B", attribute("name"), toMany("ays", "A", inverse: "bs"))),
    ]

    private static func joinCase(_ title: String, _ order: [String], expected: [String], looked: Int) -> Case {
        Case(
            testDescription: title, models: joins,
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
                INSERT INTO Z_1BS VALUES (1, 1), (2, 2);
                INSERT INTO Z_1OLD VALUES (1, 2), (2, 1);
                """,
            mapping: {
                SwiftMappingModel(from: "V1", to: "V2") {
                    for entity in order {
                        if entity == "A" {
                            TransformEntity("A") { Link("bs") }
                        } else {
                            TransformEntity("B", fillsUnmentioned: false) {
                                Link("ays", from: entity == "B" ? "ays" : "oldAs", through: "AToA")
                            }
                        }
                    }
                }
            },
            query: "SELECT * FROM Z_1BS ORDER BY 1, 2", expected: expected, looked: looked)
    }

    /// B's mapping links to rows of A's subentity, whose own mapping sets nothing.
    private static func halfCase(_ title: String, _ order: [String]) -> Case {
        func version(_ name: String) -> String {
            model(
                entity("A", attribute(name), toMany("bs", "B", inverse: "ays")), entity("Sub", parent: "A"),
                entity("B", toMany("ays", "A", inverse: "bs")))
        }
        return Case(
            testDescription: title, models: [version("name"), version("other")],
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 3, 1);
                INSERT INTO Z_1BS VALUES (1, 1), (2, 1), (2, 2);
                """,
            mapping: {
                SwiftMappingModel(from: "V1", to: "V2") {
                    for entity in order {
                        TransformEntity(entity, fillsUnmentioned: false) {
                            if entity != "Sub" { Link(entity == "A" ? "bs" : "ays") }
                        }
                    }
                }
            },
            query: "SELECT * FROM Z_1BS ORDER BY 1, 2", expected: ["1|1", "2|1", "2|2"], looked: 2)
    }

    // MARK: - A tree

    private static let tree = model(
        entity(
            "Node", attribute("value", "Integer 16"), toOne("parent", "Node", inverse: "kids"),
            toMany("kids", "Node", inverse: "parent")))

    private static func treeCase(_ title: String, kids: String, expected: [String], looked: Int) -> Case {
        Case(
            testDescription: title, models: [tree, tree.replacing("value", with: "number")],
            rows: """
                INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZVALUE, ZPARENT)
                VALUES (1, 1, 1, 1, 3), (2, 1, 1, 9, 3), (3, 1, 1, 9, NULL), (4, 1, 1, 1, 3);
                """,
            mapping: {
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Node", fillsUnmentioned: false) {
                        Link(
                            "kids",
                            "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
                                + "'NodeToNode', \(kids))")
                        Link("parent")
                    }
                }
            },
            query: "SELECT Z_PK, ZPARENT FROM ZNODE ORDER BY 1", expected: expected, looked: looked)
    }

    static let cases = [
        petCase("an end that says less, set first", ["Owner", "Cat", "Dog"], pets: "dogs", expected: all, looked: 0),
        petCase(
            "an end that says less, set last", ["Cat", "Dog", "Owner"], pets: "cats", expected: all, looked: 0),
        petCase(
            "an end that says less, set in between", ["Cat", "Owner", "Dog"], pets: "cats", expected: all, looked: 0),
        petCase(
            "an end that says less, set after some of its members", ["Dog", "Owner", "Cat"], pets: "cats",
            expected: all, looked: 0),
        petCase("one end alone", ["Owner", "Cat", "Dog"], expected: all, looked: 0),
        orderedCase(
            "two orders, cats first", ["Cat", "Dog"],
            expected: ["'cat 2'", "'cat 4'", "'dog 2'", "'dog 4'"]),
        orderedCase(
            "two orders, dogs first", ["Dog", "Cat"],
            expected: ["'dog 2'", "'dog 4'", "'cat 2'", "'cat 4'"]),
        orderedCase(
            "an order of some members, after the others", ["Cat", "Dog"], pets: "cats",
            expected: ["'dog 2'", "'dog 4'", "'cat 4'", "'cat 2'"], looked: 1),
        familyCase(
            "an order that all owners set", ["Owner", "Rich", "Cat", "Kitten"], setting: ["Owner": "", "Rich": ""],
            of: 1, expected: ["'kitten 4'", "'cat 2'"], looked: 0),
        familyCase(
            "an order of some members", ["Owner", "Rich", "Cat", "Kitten"], setting: ["Owner": "Cats", "Rich": "Cats"],
            of: 1, expected: ["'cat 2'", "'kitten 4'"], looked: 4),
        familyCase(
            "an order that some owners set, of those", ["Cat", "Kitten", "Owner", "Rich"], setting: ["Owner": ""],
            of: 1, expected: ["'kitten 4'", "'cat 2'"], looked: 1),
        familyCase(
            "an order that some owners set, of others", ["Owner", "Rich", "Cat", "Kitten"], setting: ["Owner": ""],
            of: 2, expected: ["'cat 1'", "'kitten 3'"], looked: 3),
        halfCase("an end of which some rows set nothing, first", ["A", "Sub", "B"]),
        halfCase("an end of which some rows set nothing, last", ["B", "Sub", "A"]),
        joinCase("the same links", ["B", "A"], expected: ["1|1", "2|2"], looked: 0),
        joinCase("other links, set first", ["old", "A"], expected: ["1|1", "1|2", "2|1", "2|2"], looked: 2),
        joinCase("other links, set last", ["A", "old"], expected: ["1|1", "1|2", "2|1", "2|2"], looked: 2),
        treeCase("a tree", kids: "$source.kids", expected: ["1|3", "2|3", "3|NULL", "4|3"], looked: 0),
        treeCase(
            "a tree of which a node takes some children", kids: "SUBQUERY($source.kids, $kid, $kid.value > 5)",
            expected: ["1|3", "2|3", "3|NULL", "4|3"], looked: 2),
    ]

    /// `filters`: then only the second stage finds out.
    @Test(
        "a to-one that gets the objects of several is refused with mapping, relationship and rows",
        arguments: [false, true])
    func several(filters: Bool) throws {
        let scenario = try Scenario(
            model(
                entity("Cat", attribute("name"), toOne("owner", "Owner", inverse: "cats")),
                entity("Owner", toMany("cats", "Cat", inverse: "owner"))),
            model(entity("Cat", attribute("name")), entity("Owner", toOne("first", "Cat"))),
            rows: """
                INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
                INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZOWNER) VALUES (1, 1, 1, 1), (2, 1, 1, 2), (3, 1, 1, 2);
                """)
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("Cat")
            TransformEntity("Owner", fillsUnmentioned: false) {
                if filters { Filter("cats.@count > 0") }
                Link("first", from: "cats")
            }
        }
        let before = try scenario.everything()
        let error = #expect(throws: EngineError.self) {
            try Migration(scenario.request(by: mapping, .pages, output: "result", batchRows: 7, jobs: 1)).run()
        }
        let text = "\(try #require(error))"
        let parts =
            filters
            ? ["OwnerToOwner", "/Owner/p2", "Owner p2.first is a to-one relationship, and is given 2 objects"]
            : ["“OwnerToOwner” gives Owner.first, a to-one, the objects of Owner.cats: several in 1 row (p2)"]
        for part in parts { #expect(text.contains(part), "\(text)") }
        #expect(try scenario.everything() == before)
    }

    @Test("are those that Core Data ends with", arguments: cases, [EngineChoice.pages, .statements])
    func order(_ example: Case, engine: EngineChoice) throws {
        let scenario = try Scenario(example.models[0], example.models[1], rows: example.rows)
        for (batchRows, jobs) in [(1_024, 1), (1, 2), (7, 4)] {
            let output = "result-\(batchRows)"
            let request = scenario.request(
                by: example.mapping(), engine, output: output, batchRows: batchRows, jobs: jobs)
            let prepared = try Migration(request).run().prepared
            let objects = try #require(prepared.steps.first?.objects)
            #expect(objects.mappings.reduce(0) { $0 + $1.relationships.count } == example.looked)
            #expect(try Database.rows(example.query, in: scenario.folder + "/" + output) == example.expected)
        }
    }
}
