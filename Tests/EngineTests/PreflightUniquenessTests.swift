import CausewayEngine
import CausewayEvaluation
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Testing

/// Duplicates under a uniqueness constraint are named before the rows move.
@Suite("The check before the run finds duplicates", .timeLimit(.minutes(60)))
struct PreflightUniquenessTests {
    static func unique(_ properties: String...) -> String {
        let values = properties.map { "<constraint value=\"\($0)\"/>" }.joined()
        return "<uniquenessConstraints><uniquenessConstraint>\(values)</uniquenessConstraint></uniquenessConstraints>"
    }

    private static let start = model(
        entity("Tag", attribute("name"), attribute("kind", "Integer 32"), toOne("owner", "Tag")),
        entity("Label", parent: "Tag"), entity("Other", attribute("x")))

    private static func tag(_ properties: String...) -> String {
        model(entity("Tag", properties.joined()), entity("Label", parent: "Tag"), entity("Other", attribute("x")))
    }

    /// A history, and its refusal; nil where the rows fit.
    struct History: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var versions: [String]
        var refusal: String?
    }

    private static let name = attribute("name")
    private static let kind = attribute("kind", "Integer 32")
    private static let owner = toOne("owner", "Tag")

    static let histories = [
        History(
            testDescription: "a new constraint; a subentity's row counts, NULL doesn't",
            versions: [start, start, tag(name, kind, owner, unique("name"))],
            refusal: "V3: Tag: name must be unique, but 4 rows of table ZTAG share theirs with another "
                + "(p1 and p4; p2 and p3)"),
        History(
            testDescription: "over a renamed attribute",
            versions: [
                start, tag(attribute("title", was: "name"), kind, owner), tag(attribute("title"), unique("title")),
            ],
            refusal: "V3: Tag: title must be unique, but 4 rows of table ZTAG"),
        History(
            testDescription: "over two properties, one of them a to-one",
            versions: [start, start, tag(name, kind, owner, unique("kind", "owner"))],
            refusal: "V3: Tag: kind and owner must be unique, but 2 rows of table ZTAG share theirs with another "
                + "(p2 and p5)"),
        History(
            testDescription: "over a new attribute that is the same in every row",
            versions: [
                start, tag(name, attribute("code", default: "x")), tag(name, attribute("code"), unique("code")),
            ],
            refusal: "V3: Tag: code must be unique, but 6 rows of table ZTAG share theirs with another "
                + "(p1, p2, p3, p4, p5 and 1 more)"),
        History(
            testDescription: "over an attribute whose NULL becomes a default",
            versions: [
                start, tag(attribute("name", optional: false, default: "blue"), kind),
                tag(attribute("name", optional: false, default: "blue"), kind, unique("name", "kind")),
            ],
            refusal: "V3: Tag: name and kind must be unique, but 2 rows of table ZTAG share theirs with another "
                + "(p2 and p5)"),
        History(
            testDescription: "of a version in between",
            versions: [
                start, tag(name, kind, owner, unique("name")), tag(name, kind, owner, attribute("more")),
            ],
            refusal: "V2: Tag: name must be unique, but 4 rows of table ZTAG"),
        History(
            testDescription: "values that differ in case only are two",
            versions: [start, start, tag(name, attribute("more"), kind, unique("name", "kind"))],
            refusal: nil),
        History(
            testDescription: "a new attribute without a value",
            versions: [start, tag(name, attribute("code"), unique("code"))],
            refusal: nil),
        History(
            testDescription: "of an entity without two rows",
            versions: [
                start,
                model(
                    entity("Tag", name), entity("Label", parent: "Tag"),
                    entity("Other", attribute("x", default: "y"), unique("x"))),
            ],
            refusal: nil),
    ]

    private static func scenario(_ history: History) throws -> Scenario {
        let rows = """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZKIND, ZOWNER, Z2_OWNER) VALUES
            (1, 2, 1, 'red', 1, NULL, NULL), (2, 2, 1, 'blue', 2, 1, 2), (3, 2, 1, 'blue', 4, NULL, NULL),
            (4, 3, 1, 'red', 5, NULL, NULL), (5, 2, 1, NULL, 2, 1, 2), (6, 2, 1, 'Blue', 2, 2, 2);
            """
        let versions = history.versions
        // Entities in order of their names: Other 1, Tag 2, Label 3.
        return versions.count == 2
            ? try Scenario(versions[0], versions[1], rows: rows)
            : try Scenario(versions[0], versions[1], versions[2], rows: rows)
    }

    @Test(
        "a duplicate is named by its rows, at plan time and before the first byte", arguments: histories, [true, false])
    func found(history: History, fuses: Bool) throws {
        let scenario = try Self.scenario(history)
        let before = try snapshot(scenario.folder)
        let request = scenario.request(to: scenario.lastVersion, fuses: fuses)
        guard let refusal = history.refusal else {
            #expect(try Migration(request).plan().notices.isEmpty)
            _ = try Migration(request).run()
            return
        }
        var quarantining = request
        (quarantining.badRows, quarantining.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        for request in [request, quarantining] {
            for error in [
                try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
            ] {
                #expect(error.kind == .sourceData)
                #expect(error.details.count == 1 && error.details[0].hasPrefix(refusal), "\(error)")
                #expect(!error.description.contains("blue"))
            }
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("rows that are quarantined for another reason are no duplicates")
    func quarantined() throws {
        let scenario = try Scenario(
            model(entity("Tag", attribute("name"), attribute("kind"))),
            model(entity("Tag", attribute("name"), attribute("kind", optional: false), Self.unique("name"))),
            rows: """
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZKIND) VALUES
                (1, 1, 1, 'red', 'a'), (2, 1, 1, 'red', NULL), (3, 1, 1, 'blue', 'b');
                """)
        var request = scenario.request(to: "V2")
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        #expect(try Migration(request).run().quarantinedRows == 1)
        #expect(try scenario.rows("SELECT Z_PK FROM ZTAG ORDER BY 1") == ["1", "3"])
    }

    @Test("rows that are quarantined for their numbers are no duplicates; those that only a later step leaves out are")
    func misfits() throws {
        func tag(_ type: String, _ extra: String = "") -> String {
            model(entity("Tag", attribute("name"), attribute("n", type), extra))
        }
        let rows = """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZN) VALUES
            (1, 1, 1, 'red', 1), (2, 1, 1, 'red', 70000), (3, 1, 1, 'blue', NULL);
            """
        func request(_ scenario: Scenario, fuses: Bool = true) -> MigrationRequest {
            var request = scenario.request(to: scenario.lastVersion, fuses: fuses)
            (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
            request.verification = .full
            return request
        }
        let scenario = try Scenario(tag("Integer 32"), tag("Integer 16", Self.unique("name")), rows: rows)
        #expect(try Migration(request(scenario)).run().quarantinedRows == 1)
        #expect(try scenario.rows("SELECT Z_PK FROM ZTAG ORDER BY 1") == ["1", "3"])
        for fuses in [true, false] {
            let late = try Scenario(
                tag("Integer 32"), tag("Integer 32", Self.unique("name")), tag("Integer 16", Self.unique("name")),
                rows: rows)
            let error = try failure { _ = try Migration(request(late, fuses: fuses)).plan() }
            #expect(error.details.count == 1 && error.details[0].hasPrefix("V2: Tag: name must be unique"), "\(error)")
        }
    }

    @Test("numbers that become the same are duplicates", arguments: [true, false])
    func converted(fuses: Bool) throws {
        func tag(_ type: String, _ extra: String = "") -> String { model(entity("Tag", attribute("n", type), extra)) }
        let scenario = try Scenario(
            tag("Integer 64"), tag("Double", attribute("m")), tag("Double", Self.unique("n")),
            rows: """
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZN) VALUES
                (1, 1, 1, 9007199254740992), (2, 1, 1, 9007199254740993), (3, 1, 1, 9007199254740994), (4, 1, 1, NULL);
                """)
        let before = try snapshot(scenario.folder)
        let request = scenario.request(to: "V3", fuses: fuses)
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(
                error.details == [
                    "V3: Tag: n must be unique, but 2 rows of table ZTAG share theirs with another (p1 and p2)"
                ], "\(error)")
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("after a mapping model the duplicates are found when the next step begins")
    func behindMappingModel() throws {
        let scenario = try Scenario(
            model(entity("Tag", attribute("name"))), model(entity("Tag", attribute("name"), attribute("note"))),
            model(entity("Tag", attribute("name"), attribute("note"), Self.unique("name"))),
            rows: "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b');")
        var request = scenario.request(to: "V3")
        request.code.add(SwiftMappingModel(from: "V1", to: "V2") { TransformEntity("Tag") { Compute("name", "'x'") } })
        let store = try Database.dump(scenario.store)
        let error = try failure { _ = try Migration(request).run() }
        #expect(
            error.details == [
                "V3: Tag: name must be unique, but 2 rows of table ZTAG share theirs with another (p1 and p2)"
            ], "\(error)")
        #expect(try Database.dump(scenario.store) == store)
    }

    @Test(
        "values that a handler of an earlier stage may change are checked when the step begins",
        arguments: [true, false])
    func handled(makesUnique: Bool) throws {
        func version(_ type: String, _ extra: String = "") -> String {
            model(entity("Thing", attribute("n", type), extra))
        }
        let more = attribute("more")
        let scenario = try Scenario(
            version("Integer 64"), version("Integer 64", more), version("Integer 16", more + Self.unique("n")),
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 70000), (2, 1, 1, 70000);")
        var request = scenario.request(to: "V3")
        request.code.stages = try StagedMigration([
            CustomMigrationStage(
                migratingFrom: "V1", to: "V2",
                didMigrate: { manager, _ in
                    guard makesUnique else { return }
                    for (thing, number) in zip(try manager.context.fetch(FetchRequest("Thing")), [1, 2] as [Value]) {
                        try thing.set("n", to: number)
                    }
                }), LightweightMigrationStage(["V3"]),
        ])
        let notices = try Migration(request).plan().notices
        #expect(
            notices == [
                """
                V3: Thing: n must be unique, and 2 rows of table ZTHING share theirs with another (p1 and p2): whether \
                they still do then depends on stage 1 “V1 → V2”, didMigrate at “V2”; the step V2 → V3 checks it when it begins
                """
            ])
        if makesUnique {
            _ = try Migration(request).run()
            #expect(try scenario.rows("SELECT ZN FROM ZTHING") == ["1", "2"])
        } else {
            let error = try failure { _ = try Migration(request).run() }
            #expect(error.kind == .sourceData && error.details.count == 2, "\(error)")
        }
    }
}
