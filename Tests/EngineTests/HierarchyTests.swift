import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Testing

/// Entities that are added, removed, moved and renumbered.
@Suite("Entities and hierarchies", .timeLimit(.minutes(60)))
struct HierarchyTests {
    static let sound = attribute("sound")

    static func zoo(_ extra: String..., subentities: [String], keeper: String = toOne("pet", "Beast")) -> String {
        model(
            extra.joined(), entity("Beast", Self.sound),
            subentities.map { entity($0, parent: "Beast") }.joined(), entity("Keeper", keeper))
    }

    static let beasts = """
        INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZSOUND) \
        VALUES (1, 1, 1, 'x'), (2, 2, 1, 'meow'), (3, 3, 1, 'wuff'), (9, 2, 4, NULL);
        """

    @Test("Z_ENT and the entity columns of to-ones are renumbered when a new entity sorts first")
    func renumbered() throws {
        let scenario = try Scenario(
            Self.zoo(subentities: ["Cat", "Dog"]), Self.zoo(entity("Apple"), subentities: ["Cat", "Dog"]),
            rows: Self.beasts + """
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) \
                VALUES (1, 4, 1, 1, 1), (2, 4, 1, 3, 3), (3, 4, 1, NULL, NULL);
                """)
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, Z_ENT, Z_OPT FROM ZBEAST ORDER BY Z_PK") == [
                "1|2|1", "2|3|1", "3|4|1", "9|3|4",
            ])
        #expect(
            try scenario.rows("SELECT Z_PK, Z_ENT, ZPET, Z2_PET FROM ZKEEPER ORDER BY Z_PK") == [
                "1|5|1|2", "2|5|3|4", "3|5|NULL|NULL",
            ])
        #expect(
            try scenario.rows("SELECT * FROM Z_PRIMARYKEY") == [
                "1|'Apple'|0|0", "2|'Beast'|0|9", "3|'Cat'|2|0", "4|'Dog'|2|0", "5|'Keeper'|0|3",
            ])
    }

    @Test("the entity column of a to-one is added with the first subentity and removed with the last")
    func entityColumn() throws {
        let keeper = "INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZPET) VALUES (1, 2, 1, 5), (2, 2, 1, NULL);"
        let gained = try Scenario(
            Self.zoo(subentities: []), Self.zoo(subentities: ["Cat"]),
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (5, 1, 1);" + keeper)
        try gained.migrate()
        #expect(try gained.rows("SELECT Z_PK, ZPET, Z1_PET FROM ZKEEPER ORDER BY Z_PK") == ["1|5|1", "2|NULL|NULL"])
        let lost = try Scenario(
            Self.zoo(subentities: ["Cat", "Dog"]), Self.zoo(subentities: []),
            rows: Self.beasts + """
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) VALUES (1, 4, 1, 1, 1), (2, 4, 1, 2, 2);
                """)
        let outcome = try lost.migrate()
        #expect(outcome.dropped == 3)
        #expect(try lost.rows("SELECT * FROM ZBEAST") == ["1|1|1|'x'"])
        #expect(try lost.rows("SELECT * FROM ZKEEPER") == ["1|2|1|1", "2|2|1|NULL"])
    }

    /// In Photos, GenericAsset and its subentity Asset became Asset. The new store can't tell their rows apart.
    @Test("an entity that is merged with its subentity is verified with it")
    func absorbed() throws {
        func version(_ entities: String...) -> String { model(entity("Aardvark"), entities.joined()) }
        let name = attribute("name", extra: "preserveAfterDeletion=\"YES\"")
        let scenario = try Scenario(
            version(
                entity("Generic", attribute("a"), name), entity("Asset", parent: "Generic", attribute("b")),
                entity("Other", parent: "Generic", attribute("c"))),
            version(
                entity("Asset", was: "Generic", attribute("a"), name, attribute("b")),
                entity("Other", parent: "Asset", attribute("c"))),
            history: true,
            rows: """
                INSERT INTO ZGENERIC (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZC) VALUES
                (1, 2, 1, 'a', NULL, NULL), (2, 3, 1, 'a', 'b', NULL), (3, 4, 1, 'x', NULL, 'c'), (4, 3, 2, NULL, 'z', NULL);
                INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZTOMBSTONE0) VALUES
                (1, 16001, 1, 2, 2, 7, 1, 'seven'), (2, 16001, 1, 1, 3, 2, 1, NULL), (3, 16001, 1, 2, 3, 8, 1, 'eight'),
                (4, 16001, 1, 2, 4, 9, 1, 'nine'), (5, 16001, 1, 1, 1, 9, 1, NULL);
                """)
        var request = scenario.request(to: "V2", batchRows: 2)
        request.verification = .full
        _ = try Migration(request).run()
        #expect(
            try scenario.rows("SELECT Z_PK, Z_ENT, ZA, ZC FROM ZASSET") == [
                "1|2|'a'|NULL", "2|2|'a'|NULL", "3|3|'x'|'c'", "4|2|NULL|NULL",
            ])
        #expect(
            try scenario.rows("SELECT Z_PK, ZENTITY, ZTOMBSTONE0 FROM ACHANGE") == [
                "1|2|'seven'", "2|2|NULL", "3|2|'eight'", "4|3|'nine'", "5|1|NULL",
            ])
    }

    @Test("links to rows of a removed subentity become NULL, or leave the join table")
    func linksToRemoved() throws {
        func version(_ subentities: String...) -> String {
            model(
                entity("Beast", Self.sound, toMany("fans", "Keeper", inverse: "likes")),
                subentities.map { entity($0, parent: "Beast") }.joined(),
                entity("Keeper", toOne("pet", "Beast"), toMany("likes", "Beast", inverse: "fans")))
        }
        let scenario = try Scenario(
            version("Cat", "Dog"), version("Cat"),
            rows: Self.beasts + """
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) \
                VALUES (1, 4, 1, 3, 3), (2, 4, 1, 2, 2), (3, 4, 1, 1, 1);
                INSERT INTO Z_1FANS VALUES (3, 1), (2, 1), (1, 2), (3, 3);
                """)
        let outcome = try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, ZPET, Z1_PET FROM ZKEEPER ORDER BY Z_PK") == [
                "1|NULL|NULL", "2|2|2", "3|1|1",
            ])
        #expect(try scenario.rows("SELECT * FROM Z_1FANS") == ["1|2", "2|1"])
        #expect(outcome.prepared.steps[0].losses.contains { $0.contains("will drop entity Dog") })
    }

    @Test("a to-one whose destination is replaced by another entity is empty: old keys never name the wrong rows")
    func destinationReplaced() throws {
        func version(_ destination: String, _ entities: String...) -> String {
            model(entities.joined(), entity("Keeper", toOne("pet", destination)))
        }
        let scenario = try Scenario(
            version("Beast", entity("Beast", Self.sound), entity("Robot", Self.sound)),
            version("Robot", entity("Robot", Self.sound)),
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
                INSERT INTO ZROBOT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZPET) VALUES (1, 2, 1, 1);
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZPET FROM ZKEEPER ORDER BY Z_PK") == ["1|NULL"])
        #expect(try scenario.rows("SELECT Z_PK FROM ZROBOT") == ["1"])
    }

    @Test("a to-one made from a join table never leads to a dropped row")
    func narrowedToDropped() throws {
        func version(_ keeper: String, _ subentities: String...) -> String {
            model(
                entity("Beast", Self.sound, toMany("fans", "Keeper", inverse: "pet")),
                subentities.map { entity($0, parent: "Beast") }.joined(), entity("Keeper", keeper))
        }
        let scenario = try Scenario(
            version(toMany("pet", "Beast", inverse: "fans"), "Cat", "Dog"),
            version(toOne("pet", "Beast", inverse: "fans"), "Cat"),
            rows: Self.beasts + """
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1), (2, 4, 1);
                INSERT INTO Z_1FANS VALUES (3, 1), (2, 2);
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZPET, Z1_PET FROM ZKEEPER ORDER BY Z_PK") == ["1|NULL|NULL", "2|2|2"])
    }

    @Test("an entity that leaves its hierarchy keeps its keys and the largest key of the table that it leaves")
    func leavesHierarchy() throws {
        let to = model(
            entity("Beast", Self.sound), entity("Cat", parent: "Beast"), entity("Dog", Self.sound),
            entity("Keeper"))
        let scenario = try Scenario(Self.zoo(subentities: ["Cat", "Dog"], keeper: ""), to, rows: Self.beasts)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT * FROM ZDOG") == ["3|3|1|'wuff'"])
        #expect(try scenario.rows("SELECT Z_PK FROM ZBEAST") == ["1", "2", "9"])
        #expect(
            try scenario.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_SUPER = 0") == [
                "'Beast'|9", "'Dog'|9", "'Keeper'|0",
            ])
    }

    @Test("a to-one to a row that leaves the hierarchy is refused")
    func leavesHierarchyWhileLinked() throws {
        let from = Self.zoo(subentities: ["Cat", "Dog"])
        let to = model(
            entity("Beast", Self.sound), entity("Cat", parent: "Beast"), entity("Dog", Self.sound),
            entity("Keeper", toOne("pet", "Beast")))
        let scenario = try Scenario(
            from, to,
            rows: Self.beasts + "INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) VALUES (1, 4, 1, 3, 3);")
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("Keeper.pet") }, "\(error)")
    }

    @Test("an attribute moves up to the parent with every sibling's values; rows of other entities get the default")
    func pulledUp() throws {
        let volume = attribute("volume", "Integer 16", default: "0")
        let scenario = try Scenario(
            model(
                entity("Beast", Self.sound), entity("Cat", parent: "Beast", volume),
                entity("Dog", parent: "Beast", volume), entity("Owl", parent: "Beast")),
            model(
                entity("Beast", Self.sound, volume), entity("Cat", parent: "Beast"),
                entity("Dog", parent: "Beast"), entity("Owl", parent: "Beast")),
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZVOLUME) VALUES (1, 2, 1, 5), (2, 2, 1, NULL);
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZVOLUME1) VALUES (3, 3, 1, 6);
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (4, 4, 1), (5, 1, 1);
                """)
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, ZVOLUME FROM ZBEAST ORDER BY Z_PK") == [
                "1|5", "2|NULL", "3|6", "4|0", "5|0",
            ])
    }

    @Test("an attribute moves down: each subentity's value is in its own column only")
    func pushedDown() throws {
        let volume = attribute("volume", "Integer 16")
        let scenario = try Scenario(
            model(entity("Beast", volume), entity("Cat", parent: "Beast"), entity("Dog", parent: "Beast")),
            model(
                entity("Beast"), entity("Cat", parent: "Beast", volume), entity("Dog", parent: "Beast", volume)),
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZVOLUME) VALUES (1, 1, 1, 5), (2, 2, 1, 6), (3, 3, 1, 7);")
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, ZVOLUME, ZVOLUME1 FROM ZBEAST ORDER BY Z_PK") == [
                "1|NULL|NULL", "2|6|NULL", "3|NULL|7",
            ])
    }

    @Test("a many-to-many that moves down to a subentity drops the links of its siblings")
    func linksPushedDown() throws {
        func fans(_ inverse: String) -> String { toMany("fans", "Keeper", inverse: inverse) }
        // The inverse has a new name without identifier: the links are found through this side.
        let scenario = try Scenario(
            model(
                entity("Beast", fans("likes")), entity("Cat", parent: "Beast"), entity("Dog", parent: "Beast"),
                entity("Keeper", toMany("likes", "Beast", inverse: "fans"))),
            model(
                entity("Beast"), entity("Cat", parent: "Beast", fans("cats")), entity("Dog", parent: "Beast"),
                entity("Keeper", toMany("cats", "Cat", inverse: "fans"))),
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1);
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1);
                INSERT INTO Z_1FANS VALUES (1, 1), (2, 1), (3, 1);
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT * FROM Z_2FANS") == ["2|1"])
    }

    @Test("a renamed entity keeps its rows and keys under its new name")
    func renamed() throws {
        let scenario = try Scenario(
            model(entity("Alpha", Self.sound), entity("Beta", toOne("alpha", "Alpha"))),
            model(entity("Beta", toOne("alpha", "Zulu")), entity("Zulu", was: "Alpha", Self.sound)),
            rows: """
                INSERT INTO ZALPHA (Z_PK, Z_ENT, Z_OPT, ZSOUND) VALUES (4, 1, 3, 'la');
                INSERT INTO ZBETA (Z_PK, Z_ENT, Z_OPT, ZALPHA) VALUES (1, 2, 1, 4);
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT * FROM ZZULU") == ["4|2|3|'la'"])
        #expect(try scenario.rows("SELECT * FROM ZBETA") == ["1|1|1|4"])
    }

    @Test("an entity that becomes abstract must be empty")
    func becomesAbstract() throws {
        func version(_ extra: String) -> String {
            model(entity("Beast", extra: extra, Self.sound), entity("Cat", parent: "Beast"))
        }
        let full = try Scenario(
            version(""), version("isAbstract=\"YES\""),
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);")
        let error = try failure { try full.migrate() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("Beast is abstract") && $0.contains("p1") })
        let empty = try Scenario(
            version(""), version("isAbstract=\"YES\""),
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (2, 2, 1);")
        try empty.migrate()
        #expect(try empty.rows("SELECT Z_PK, Z_ENT FROM ZBEAST ORDER BY Z_PK") == ["2|2"])
    }
}
