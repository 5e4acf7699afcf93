import CausewayEngine
import CausewayPlanning
import CausewayPlist
import CausewayPreparation
import CausewayStoreFormat
import Testing

/// The content of a store beside its entities' rows.
@Suite("House rows, history and the app's own objects", .timeLimit(.minutes(60)))
struct StoreContentTests {
    static let thing = entity("Thing", attribute("text"))

    @Test("the metadata keeps the UUID and the app's keys, and all of it describes the new model")
    func metadata() throws {
        let scenario = try Scenario(model(Self.thing), model(Self.thing, entity("Zebra")))
        try Scenario.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 77", scenario.store)
        try scenario.migrate()
        let store = try StoreFacts(scenario.store)
        #expect(store.metadata.uuid == Scenario.uuid)
        #expect(store.metadata.other["AppKey"] == .string("kept"))
        #expect(store.metadata.other["AppList"] == .array([.integer(1), .boolean(true)]))
        #expect(Set(store.metadata.entityHashes.keys) == ["Thing", "Zebra"])
        #expect(store.metadata.entityHashes == store.cachedHashes)
        #expect(try scenario.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY") == ["'Thing'|77", "'Zebra'|0"])
    }

    @Test("a store that is at the target already keeps its bytes")
    func nothingToDo() throws {
        let scenario = try Scenario(model(Self.thing), wal: true)
        let before = try snapshot(scenario.folder)
        let outcome = try scenario.migrate()
        #expect(outcome.backup == nil)
        #expect(outcome.prepared.steps.isEmpty)
        #expect(try snapshot(scenario.folder) == before)
    }

    static let changes = """
        INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 50), (16002, 'TRANSACTION', 0, 9), \
        (16003, 'TRANSACTIONSTRING', 0, 2);
        INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (2, 16003, 1, 'app');
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZTIMESTAMP) VALUES (9, 16002, 1, 2, 1.5);
        INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) VALUES
        (40, 16001, 1, 0, 1, 3, 9, NULL), (41, 16001, 1, 1, 2, 4, 9, x'c0'), (42, 16001, 1, 1, 3, 5, 9, x'80'),
        (43, 16001, 1, 2, 99, 5, 9, NULL), (44, 16001, 1, 1, 2, 4, 9, x'20');
        """

    @Test("history keeps its tokens; entities are renumbered, changes of removed ones dropped, bitmaps rearranged")
    func history() throws {
        let scenario = try Scenario(
            model(
                entity("Gone", attribute("a")),
                entity("Middle", attribute("a"), attribute("b"), attribute("c")), entity("Tail", attribute("t"))),
            model(
                entity("Middle", attribute("a"), attribute("alpha"), attribute("d", was: "b")),
                entity("Tail", attribute("t"))),
            history: true, rows: Self.changes)
        try scenario.migrate()
        // a b c → a alpha d: bits 0 and 1 become 0 and 2; bit 2 is cleared.
        #expect(
            try scenario.rows("SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE")
                == [
                    "41|1|1|4|9|x'a0'", "42|1|2|5|9|x'80'", "44|1|1|4|9|x'00'",
                ])
        #expect(try scenario.rows("SELECT Z_PK, ZAUTHORTS, ZTIMESTAMP FROM ATRANSACTION") == ["9|2|1.5"])
        #expect(try scenario.rows("SELECT Z_PK, ZNAME FROM ATRANSACTIONSTRING") == ["2|'app'"])
        #expect(
            try scenario.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
                "16001|50", "16002|9", "16003|2",
            ])
        #expect(
            try scenario.rows("SELECT name FROM sqlite_schema WHERE tbl_name = 'ACHANGE' AND type = 'index'")
                == ["'ACHANGE_ZTRANSACTIONID_INDEX'"])
    }

    @Test("history is carried through steps that aren't fused")
    func historyInChain() throws {
        let tail = entity("Tail", attribute("t"))
        let middle = entity("Middle", attribute("a"), attribute("b"), attribute("c"))
        for fuses in [true, false] {
            let scenario = try Scenario(
                model(entity("Gone", attribute("a")), middle, tail), model(middle, tail),
                model(entity("Aardvark"), middle, tail), history: true, rows: Self.changes)
            try scenario.migrate(fuses: fuses)
            #expect(
                try scenario.rows("SELECT Z_PK, ZENTITY, ZCOLUMNS FROM ACHANGE") == [
                    "41|2|x'c0'", "42|3|x'80'", "44|2|x'20'",
                ])
            #expect(try scenario.rows("SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == ["3"])
        }
    }

    @Test("tables, indexes and triggers of the app's own are carried with the new names", arguments: [true, false])
    func appObjects(fuses: Bool) throws {
        let scenario = try Scenario(
            model(Self.thing), model(entity("Thing", attribute("label", was: "text"))),
            model(entity("Thing", attribute("label", was: "text")), entity("Zebra")),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'x');
                CREATE TABLE "my notes" (id INTEGER PRIMARY KEY, body TEXT DEFAULT 'd', twice AS (id * 2));
                INSERT INTO "my notes" (id, body) VALUES (5, 'n'), (2, NULL);
                CREATE INDEX my_index ON "my notes" (body);
                CREATE INDEX my_thing_index ON ZTHING (ZTEXT COLLATE NOCASE);
                CREATE TRIGGER my_trigger AFTER INSERT ON ZTHING \
                BEGIN INSERT INTO "my notes" (body) VALUES (NEW.ZTEXT); END;
                """)
        try scenario.migrate(fuses: fuses)
        #expect(try scenario.rows("SELECT id, body, twice FROM \"my notes\"") == ["2|NULL|4", "5|'n'|10"])
        let objects = try scenario.rows(
            "SELECT name, tbl_name, sql FROM sqlite_schema WHERE name LIKE 'my%' AND type <> 'table' ORDER BY name")
        #expect(objects.count == 3)
        #expect(objects.contains { $0.contains("'my_thing_index'|'ZTHING'") && $0.contains("(ZLABEL COLLATE") })
        #expect(objects.contains { $0.contains("my_trigger") && $0.contains("NEW.ZLABEL") })
    }

    @Test("objects of the app's own that name something removed are reported, not carried")
    func appObjectsLost() throws {
        let scenario = try Scenario(
            model(Self.thing), model(entity("Thing")),
            rows: """
                CREATE INDEX my_index ON ZTHING (ZTEXT);
                CREATE VIRTUAL TABLE my_tree USING rtree(id, low, high);
                """)
        let losses = try scenario.migrate().prepared.steps[0].losses
        #expect(losses.contains { $0.contains("my_index") })
        #expect(losses.contains { $0.contains("my_tree") })
        #expect(losses.contains { $0.contains("will drop Thing.text") })
        #expect(try scenario.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'my%'").isEmpty)
    }

    @Test("a fetch index and a unique constraint of the new version are made")
    func indexes() throws {
        let scenario = try Scenario(
            model(Self.thing),
            model(
                entity(
                    "Thing", attribute("text"),
                    "<uniquenessConstraints><uniquenessConstraint><constraint value=\"text\"/></uniquenessConstraint>"
                        + "</uniquenessConstraints>",
                    "<fetchIndex name=\"byText\"><fetchIndexElement property=\"text\" type=\"Binary\" "
                        + "order=\"ascending\"/></fetchIndex>")),
            rows:
                "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b'), (3, 1, 1, NULL), (4, 1, 1, NULL);"
        )
        try scenario.migrate()
        let indexes = try scenario.rows("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name")
        #expect(Set(indexes).isSuperset(of: ["'Z_Thing_UNIQUE_text'", "'Z_Thing_byText'"]))
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["4"])
    }

    @Test("the page size and the vacuum mode are the source's")
    func pages() throws {
        let scenario = try Scenario(model(Self.thing), model(Self.thing, entity("Zebra")))
        try Scenario.execute("PRAGMA page_size = 8192; VACUUM", scenario.store)
        try scenario.migrate()
        #expect(try scenario.rows("PRAGMA page_size") == ["8192"])
    }
}
