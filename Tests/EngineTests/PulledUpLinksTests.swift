import CausewayEngine
import CausewayPreparation
import CausewayStores
import Testing

@Suite("Relationships that go up to the parent", .timeLimit(.minutes(10)))
struct PulledUpLinksTests {
    @Test(
        "a to-one goes up to the parent with the subentity's links; what stands in its column in other rows is no link",
        arguments: [true, false], [VerificationLevel.none, .full])
    func linksPulledUp(fuses: Bool, level: VerificationLevel) throws {
        func version(_ keeper: String, of owner: String, _ extra: String = "") -> String {
            let keeper = toOne(keeper, "Keeper", inverse: "cats")
            return model(
                entity("Beast", owner == "Beast" ? keeper : "", extra),
                entity("Cat", parent: "Beast", owner == "Cat" ? keeper : ""),
                entity("Keeper", toMany("cats", owner, inverse: keeper.contains("\"minder\"") ? "minder" : "keeper")))
        }
        // The second time by the inverse alone.
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

    @Test("the links that went up are renamed later, by the inverse alone", arguments: [true, false])
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

    @Test("a many-to-many goes up to the parent with its links")
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
