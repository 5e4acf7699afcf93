import CausewayEngine
import CausewayPreparation
import CausewayStores
import Testing

@Suite("Relationships that move up to the parent", .timeLimit(.minutes(60)))
struct PulledUpLinksTests {
    @Test(
        "a to-one moves up to the parent with the subentity's links; other rows' values in its column are no links",
        arguments: [true, false], [VerificationLevel.none, .full])
    func linksPulledUp(fuses: Bool, level: VerificationLevel) throws {
        func version(_ keeper: String, of owner: String, _ extra: String = "") -> String {
            let keeper = toOne(keeper, "Keeper", inverse: "cats")
            return model(
                entity("Beast", owner == "Beast" ? keeper : "", extra),
                entity("Cat", parent: "Beast", owner == "Cat" ? keeper : ""),
                entity("Keeper", toMany("cats", owner, inverse: keeper.contains("\"minder\"") ? "minder" : "keeper")))
        }
        // The second time the match is by the inverse alone.
        for name in ["keeper", "minder"] {
            let scenario = try Scenario(
                version("keeper", of: "Cat"), version(name, of: "Beast"),
                version(name, of: "Beast", attribute("sound")),
                rows: """
                    INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                    INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZKEEPER) VALUES (1, 1, 1, 99), (2, 2, 1, 1), (3, 1, 1, 1);
                    """)
            var request = scenario.request(to: "V3", fuses: fuses)
            request.verification = level
            _ = try Migration(request).run()
            #expect(
                try scenario.rows("SELECT Z_PK, Z\(name.uppercased()) FROM ZBEAST ORDER BY 1") == [
                    "1|NULL", "2|1", "3|NULL",
                ])
        }
    }

    /// As BookPlayer's `Book.lastPlayed`: the parent declares the inverse now, and has never had its links itself.
    @Test(
        "the other side gets another name at the same time, and keeps its links", arguments: EngineChoice.allCases,
        [true, false])
    func inverseRenamed(engine: EngineChoice, isToMany: Bool) throws {
        func version(_ owner: String, _ side: String) -> String {
            let last =
                isToMany ? toMany("last", "Shelf", inverse: side) : toOne("last", "Shelf", inverse: side)
            return model(
                entity("Item", extra: "isAbstract=\"YES\"", owner == "Item" ? last : ""),
                entity("Book", parent: "Item", owner == "Book" ? last : ""), entity("Folder", parent: "Item"),
                entity("Shelf", toOne(side, owner, inverse: "last")))
        }
        let number = { (name: String) in "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)')" }
        let scenario = try Scenario(
            version("Book", "book"), version("Item", "item"),
            rows: """
                INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZBOOK) VALUES (1, \(number("Shelf")), 1, 2),
                (2, \(number("Shelf")), 1, NULL), (3, \(number("Shelf")), 1, 4);
                INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT\(isToMany ? "" : ", ZLAST")) VALUES
                (2, \(number("Book")), 1\(isToMany ? "" : ", 1")), (3, \(number("Folder")), 1\(isToMany ? "" : ", NULL")),
                (4, \(number("Book")), 1\(isToMany ? "" : ", 3"));
                """)
        var request = scenario.request(to: "V2")
        request.options.engine = engine
        request.verification = .full
        _ = try Migration(request).run()
        let links = try scenario.rows(
            """
            SELECT s.Z_PK, s.ZITEM, n.Z_NAME FROM ZSHELF s LEFT JOIN ZITEM i ON i.Z_PK = s.ZITEM \
            LEFT JOIN Z_PRIMARYKEY n ON n.Z_ENT = i.Z_ENT ORDER BY 1
            """)
        #expect(links == ["1|2|'Book'", "2|NULL|NULL", "3|4|'Book'"])
    }

    @Test("the relationship that moved up is renamed later, by the inverse alone", arguments: [true, false])
    func renamedLater(fuses: Bool) throws {
        func version(_ keeper: String, of owner: String) -> String {
            let toKeeper = toOne(keeper, "Keeper", inverse: "cats")
            return model(
                entity("Beast", owner == "Beast" ? toKeeper : ""),
                entity("Cat", parent: "Beast", owner == "Cat" ? toKeeper : ""),
                entity("Keeper", toMany("cats", owner, inverse: keeper)))
        }
        let scenario = try Scenario(
            version("keeper", of: "Cat"), version("keeper", of: "Beast"), version("minder", of: "Beast"),
            rows: """
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZKEEPER) VALUES (1, 1, 1, 99), (2, 2, 1, 1), (3, 1, 1, 1);
                """)
        _ = try Migration(scenario.request(to: "V3", fuses: fuses)).run()
        #expect(
            try scenario.rows("SELECT Z_PK, ZMINDER FROM ZBEAST ORDER BY 1") == ["1|NULL", "2|1", "3|NULL"])
    }

    /// The links are in the column `ZKEEPER`, or in `Z3CATS` where only the keeper's side has a relationship.
    @Test(
        "where the relationship, matched by its inverse alone, becomes mandatory, rows that never had it lack it",
        arguments: [true, false], [true, false])
    func mandatoryLater(fuses: Bool, hasInverse: Bool) throws {
        func version(of owner: String, _ link: String) -> String {
            let inverse = link.isEmpty ? nil : link.contains("\"minder\"") ? "minder" : "keeper"
            return model(
                entity("Beast", owner == "Beast" ? link : ""),
                entity("Cat", parent: "Beast", owner == "Cat" ? link : ""),
                entity("Keeper", toMany("cats", owner, inverse: inverse)))
        }
        let keeper = hasInverse ? toOne("keeper", "Keeper", inverse: "cats") : ""
        let minder = toOne("minder", "Keeper", inverse: "cats").replacing("optional=\"YES\"", with: "optional=\"NO\"")
        let scenario = try Scenario(
            version(of: "Cat", keeper), version(of: "Beast", keeper), version(of: "Beast", minder),
            rows: """
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, \(hasInverse ? "ZKEEPER" : "Z3CATS")) VALUES
                (1, 1, 1, 99), (2, 2, 1, 1), (3, 1, 1, 1);
                """)
        var request = scenario.request(to: "V3", fuses: fuses)
        let error = try failure { _ = try Migration(request).plan() }
        #expect(
            error.details == [
                "V3: Beast.minder is mandatory now, but there is no value for 2 rows of Beast (p1, p3)"
            ], "\(error)")
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        #expect(try Migration(request).plan().notices.contains { $0.contains("(p1, p3); to be quarantined") })
        #expect(try Migration(request).run().quarantinedRows == 2)
        #expect(try scenario.rows("SELECT Z_PK, ZMINDER FROM ZBEAST") == ["2|1"])
        let lines = try BadLine.read(scenario.folder + "/rejects.jsonl")
        #expect(lines.map(\.reason) == Array(repeating: "V3: Beast.minder is mandatory now, but is NULL", count: 2))
    }

    @Test(
        "a to-one that is renamed by its inverse alone keeps its links after the inverse moved up",
        arguments: [true, false], [true, false])
    func renamedByInverse(fuses: Bool, becomesMandatory: Bool) throws {
        func version(of owner: String, _ name: String, optional: Bool = true) -> String {
            let link = toOne(name, owner, inverse: "keepers").replacing(
                "optional=\"YES\"", with: "optional=\"\(optional ? "YES" : "NO")\"")
            let keepers = toMany("keepers", "Keeper", inverse: name)
            return model(
                entity("Beast", owner == "Beast" ? keepers : ""),
                entity("Cat", parent: "Beast", owner == "Cat" ? keepers : ""),
                entity("Keeper", link))
        }
        let scenario = try Scenario(
            version(of: "Cat", "cat"), version(of: "Beast", "cat"),
            version(of: "Beast", "pet", optional: !becomesMandatory),
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZCAT) VALUES (1, 3, 1, 2);
                """)
        try scenario.migrate(fuses: fuses)
        #expect(try scenario.rows("SELECT ZPET FROM ZKEEPER") == ["2"])
    }

    @Test("the order column of a relationship that moves up keeps its position among the others")
    func orderColumns() throws {
        func version(of owner: String) -> String {
            let keeper = toOne("keeper", "Keeper", inverse: "cats")
            return model(
                entity("Beast", toOne("food", "Food", inverse: "eaters"), owner == "Beast" ? keeper : ""),
                entity("Cat", parent: "Beast", owner == "Cat" ? keeper : ""),
                entity("Food", toMany("eaters", "Beast", inverse: "food", ordered: true)),
                entity("Keeper", toMany("cats", owner, inverse: "keeper", ordered: true)))
        }
        let scenario = try Scenario(
            version(of: "Cat"), version(of: "Beast"),
            rows: """
                DROP TABLE ZBEAST;
                CREATE TABLE ZBEAST ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFOOD INTEGER, \
                ZKEEPER INTEGER, Z_FOK_KEEPER INTEGER, Z_FOK_FOOD INTEGER );
                CREATE INDEX ZBEAST_ZFOOD_INDEX ON ZBEAST (ZFOOD);
                CREATE INDEX ZBEAST_ZKEEPER_INDEX ON ZBEAST (ZKEEPER);
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1);
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZKEEPER, Z_FOK_KEEPER) VALUES (1, 2, 1, 1, 7);
                """)
        let query = "SELECT name FROM pragma_table_info('ZBEAST') WHERE name LIKE 'Z_FOK%'"
        let order = ["'Z_FOK_KEEPER'", "'Z_FOK_FOOD'"]
        try #require(try scenario.rows(query) == order)
        try scenario.migrate()
        #expect(try scenario.rows(query) == order)
        #expect(try scenario.rows("SELECT ZKEEPER, Z_FOK_KEEPER FROM ZBEAST") == ["1|7"])
    }

    @Test("a many-to-many that moves up keeps the number of its column")
    func joinColumns() throws {
        func version(of owner: String) -> String {
            let fans = toMany("fans", "Keeper", inverse: "likes")
            return model(
                entity("Beast", owner == "Beast" ? fans : ""),
                entity("Cat", parent: "Beast", owner == "Cat" ? fans : ""),
                entity("Keeper", toMany("likes", owner, inverse: "fans"), toMany("cures", "Vet", inverse: "fans")),
                entity("Vet", toMany("fans", "Keeper", inverse: "cures")))
        }
        let scenario = try Scenario(version(of: "Cat"), version(of: "Beast"))
        func columns(_ table: String) throws -> [String] {
            try scenario.rows("SELECT name FROM pragma_table_info('\(table)')").map {
                String($0.dropFirst().dropLast())
            }
        }
        let (before, vets) = (try columns("Z_2FANS"), try columns("Z_3CURES"))
        try #require(before.count == 2 && vets.count == 2)
        try scenario.migrate()
        #expect(try columns("Z_3CURES") == vets)
        #expect(try columns("Z_1FANS").contains(try #require(before.first { $0.contains("FANS") })))
    }

    @Test("a many-to-many moves up to the parent with its links")
    func joinPulledUp() throws {
        let fans = toMany("fans", "Keeper", inverse: "likes")
        let scenario = try Scenario(
            model(
                entity("Beast"), entity("Cat", parent: "Beast", fans),
                entity("Keeper", toMany("likes", "Cat", inverse: "fans"))),
            model(
                entity("Beast", fans), entity("Cat", parent: "Beast"),
                entity("Keeper", toMany("likes", "Beast", inverse: "fans"))),
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                INSERT INTO Z_2FANS VALUES (2, 1);
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT * FROM Z_1FANS") == ["2|1"])
    }
}
