import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import Testing

/// Indexes, views and triggers that the app itself put into its store.
// Serialized: a case that reaches the process's memory limit (`MemoryBound`) may make a parallel case fail.
@Suite("Objects of the app's own", .timeLimit(.minutes(60)), .serialized)
struct AppObjectTests {
    /// Thing becomes Item, `text` becomes `label`, `kind` becomes `text`; `gone` is removed.
    static let versions = [
        model(entity("Thing", attribute("text"), attribute("kind"), attribute("gone"), attribute("same"))),
        model(
            entity(
                "Item", was: "Thing", attribute("label", was: "text"), attribute("text", was: "kind"),
                attribute("same"))),
    ]

    private static func scenario(_ sql: String) throws -> Scenario {
        try Scenario(
            versions[0], versions[1],
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZKIND) VALUES (1, 1, 1, 'a', 'b'); " + sql)
    }

    private static func text(of name: String, _ scenario: Scenario) throws -> String? {
        // A line's end is shown as `\0a`.
        try scenario.rows("SELECT replace(sql, char(10), char(32)) FROM sqlite_schema WHERE name = '\(name)'").first.map
        {
            String($0.dropFirst().dropLast())
        }
    }

    @Test(
        "tables and columns in their SQL get the new names, whatever text surrounds them",
        arguments: [
            ("CREATE INDEX i /* user's */ ON ZTHING (ZTEXT)", "CREATE INDEX i /* user's */ ON \"ZITEM\" (ZLABEL)"),
            (
                "CREATE INDEX i ON ZTHING (lower(ZTEXT) DESC, ZKIND COLLATE NOCASE) WHERE ZKIND <> 'ZTEXT'",
                "CREATE INDEX i ON \"ZITEM\" (lower(ZLABEL) DESC, ZTEXT COLLATE NOCASE) WHERE ZTEXT <> 'ZTEXT'"
            ),
            (
                "CREATE INDEX i ON [ZTHING] -- ZTEXT'\n([ZTEXT], \"ZKIND\")",
                "CREATE INDEX i ON \"ZITEM\" -- ZTEXT' (\"ZLABEL\", \"ZTEXT\")"
            ),
            ("CREATE INDEX i ON ZTHING (zsame)", "CREATE INDEX i ON \"ZITEM\" (zsame)"),
            (
                "CREATE INDEX i ON ZTHING (replace(lower(ZTEXT), ' ', ''), hex(ZKIND), printf('%s-%05d', ZTEXT, ZKIND))",
                "CREATE INDEX i ON \"ZITEM\" (replace(lower(ZLABEL), ' ', ''), hex(ZTEXT), printf('%s-%05d', ZLABEL, ZTEXT))"
            ),
            (
                "CREATE VIEW i AS SELECT ZTEXT AS ZKIND, t.ZKIND AS \"select\" FROM ZTHING AS t WHERE t.ZTEXT = 'ZTEXT'",
                """
                CREATE VIEW i AS SELECT ZLABEL AS ZKIND, t.ZTEXT AS "select" FROM "ZITEM" AS t WHERE t.ZLABEL = 'ZTEXT'
                """
            ),
            (
                """
                CREATE VIEW i AS WITH RECURSIVE ZTEXT(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ZTEXT WHERE n < 9) \
                SELECT n, (SELECT ZTEXT FROM ZTHING WHERE Z_PK = n) FROM ZTEXT
                """,
                """
                CREATE VIEW i AS WITH RECURSIVE ZTEXT(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ZTEXT WHERE n < 9) \
                SELECT n, (SELECT ZLABEL FROM "ZITEM" WHERE Z_PK = n) FROM ZTEXT
                """
            ),
            (
                """
                CREATE TRIGGER i AFTER UPDATE OF ZTEXT, zKind ON ZTHING WHEN NEW.ZTEXT IS NOT OLD.ZKIND BEGIN \
                UPDATE ZTHING SET ZKIND = NEW.ZTEXT, ZSAME = "a text" WHERE Z_PK = NEW.Z_PK; \
                SELECT NSCoreDataTrigger('ZTHING', Z_ENT, ZTEXT) FROM ZTHING; END
                """,
                """
                CREATE TRIGGER i AFTER UPDATE OF ZLABEL, ZTEXT ON "ZITEM" WHEN NEW.ZLABEL IS NOT OLD.ZTEXT BEGIN \
                UPDATE "ZITEM" SET ZTEXT = NEW.ZLABEL, ZSAME = 'a text' WHERE Z_PK = NEW.Z_PK; \
                SELECT NSCoreDataTrigger('ZTHING', Z_ENT, ZLABEL) FROM "ZITEM"; END
                """
            ),
        ])
    func renamed(_ sql: String, expected: String) throws {
        let scenario = try Self.scenario(sql + ";")
        let step = try scenario.migrate().prepared.steps[0]
        #expect(!step.losses.contains { $0.contains("of the app's own") }, "\(step.losses)")
        #expect(try Self.text(of: "i", scenario) == expected)
    }

    @Test("tables and columns that swap their names don't swap what they hold", arguments: [true, false])
    func swapped(fuses: Bool) throws {
        let scenario = try Scenario(
            model(entity("One", attribute("a"), attribute("b")), entity("Two", attribute("c"))),
            model(
                entity("One", was: "Two", attribute("c")),
                entity("Two", was: "One", attribute("a", was: "b"), attribute("b", was: "a"))),
            model(
                entity("One", was: "Two", attribute("c")),
                entity("Two", was: "One", attribute("a", was: "b"), attribute("b", was: "a")), entity("Added")),
            rows: """
                CREATE INDEX i ON ZONE (ZA, ZB DESC);
                CREATE TRIGGER t AFTER INSERT ON ZTWO BEGIN UPDATE ZONE SET ZA = NEW.ZC, ZB = ZONE.ZA; END;
                """)
        try scenario.migrate(fuses: fuses)
        #expect(try Self.text(of: "i", scenario) == "CREATE INDEX i ON \"ZTWO\" (ZB, ZA DESC)")
        #expect(
            try Self.text(of: "t", scenario)
                == "CREATE TRIGGER t AFTER INSERT ON \"ZONE\" BEGIN UPDATE \"ZTWO\" SET ZB = NEW.ZC, ZA = \"ZTWO\".ZB; END"
        )
    }

    @Test(
        "an object that names something missing is lost, with the reason",
        arguments: [
            ("CREATE INDEX i ON ZTHING (ZSAME, ZGONE)", "column ZGONE of ZTHING"),
            ("CREATE INDEX i ON ZTHING (ZSAME) WHERE ZGONE IS NULL", "column ZGONE of ZTHING"),
            ("CREATE VIEW i AS SELECT * FROM ZTHING WHERE ZGONE = 1", "column ZGONE of ZTHING"),
            ("CREATE TRIGGER i AFTER UPDATE OF ZGONE ON ZTHING BEGIN SELECT 1; END", "column ZGONE of ZTHING"),
            ("CREATE TRIGGER i AFTER DELETE ON ZTHING BEGIN SELECT OLD.ZGONE; END", "column ZGONE of ZTHING"),
            ("CREATE VIEW i AS SELECT * FROM nowhere", "the table nowhere, which isn't there"),
            ("CREATE VIEW i AS SELECT ZNEVER FROM ZTHING", "no such column: ZNEVER"),
            (
                "CREATE VIRTUAL TABLE f USING fts5(a); CREATE TRIGGER i AFTER INSERT ON ZTHING "
                    + "BEGIN INSERT INTO f VALUES (NEW.ZTEXT); END", "the table f"
            ),
            (
                "CREATE VIEW v AS SELECT ZGONE FROM ZTHING; CREATE VIEW i AS SELECT * FROM v",
                "the view v, which isn't carried"
            ),
            // The table is emptied: SQLite would make 100 MB of a row here.
            (
                "DELETE FROM ZTHING; CREATE INDEX i ON ZTHING (printf('%.*c', 99999999, ZTEXT))",
                "computes “printf” for every row"
            ),
            ("CREATE INDEX i ON ZTHING (printf('%999999d', ZTEXT))", "computes “printf” for every row"),
            ("CREATE INDEX i ON ZTHING (replace(ZTEXT, 'a', ZKIND))", "computes “replace” for every row"),
            (
                "CREATE INDEX i ON ZTHING (replace(replace(ZTEXT, 'a', 'aaaaaaaaaaaaaaaa'), 'a', '\(String(repeating: "a", count: 4_096))'))",
                "computes “replace” for every row"
            ),
            ("CREATE INDEX i ON ZTHING (length(ZTEXT)) WHERE zeroblob(9) > ZTEXT", "computes “zeroblob” for every row"),
            ("CREATE VIEW i AS SELECT * FROM j; CREATE VIEW j AS SELECT * FROM i", "the view j, which isn't carried"),
        ])
    func lost(_ sql: String, reason: String) throws {
        let scenario = try Self.scenario(
            "CREATE INDEX z_fine ON ZTHING (ZSAME); CREATE VIEW broken AS SELECT a FROM b; " + sql + ";")
        let losses = try scenario.migrate().prepared.steps[0].losses
        let loss = losses.first { $0.contains(" i of the app's own is not carried: ") }
        #expect(loss?.contains(reason) == true, "\(losses)")
        #expect(losses.contains { $0.contains("view broken of the app's own") })
        #expect(
            try scenario.rows("SELECT name FROM sqlite_schema WHERE name IN ('i', 'broken', 'z_fine')") == ["'z_fine'"])
    }

    @Test("views on views and triggers on views are carried in any order")
    func views() throws {
        let scenario = try Self.scenario(
            """
            CREATE VIEW top AS SELECT key, words FROM "the base" WHERE key > 0;
            CREATE VIEW "the base" (key, words) AS SELECT Z_PK, ZTEXT || ZKIND FROM ZTHING;
            CREATE TRIGGER top_insert INSTEAD OF INSERT ON top BEGIN
            INSERT INTO ZTHING (Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, NEW.words); END;
            CREATE TRIGGER top_update INSTEAD OF UPDATE OF words ON top BEGIN
            UPDATE ZTHING SET ZTEXT = NEW.words WHERE Z_PK = OLD.key; END;
            """)
        let losses = try scenario.migrate().prepared.steps[0].losses
        #expect(!losses.contains { $0.contains("of the app's own") }, "\(losses)")
        #expect(try scenario.rows("SELECT * FROM top") == ["1|'ab'"])
        try Scenario.execute(
            "INSERT INTO top VALUES (7, 'x'); UPDATE top SET words = 'y' WHERE key = 1", scenario.store)
        #expect(try scenario.rows("SELECT ZLABEL, ZTEXT FROM ZITEM") == ["'y'|'b'", "'x'|NULL"])
    }

    @Test("a trigger is carried though it uses functions and collating sequences that only the app has")
    func functionsOfTheApp() throws {
        let scenario = try Self.scenario(
            """
            CREATE TRIGGER t AFTER INSERT ON ZTHING BEGIN
            SELECT app_did_insert(ZTEXT, other(1, 2)) FROM ZTHING ORDER BY ZKIND COLLATE app_order; END;
            """)
        try scenario.migrate()
        #expect(try Self.text(of: "t", scenario)?.contains("app_did_insert(ZLABEL, other(1, 2))") == true)
    }

    /// Entities are renumbered. A trigger that only mentions Z_ENT keeps its meaning; one that compares it doesn't.
    @Test(
        "a trigger that mentions Z_ENT is carried as Core Data carries it; one that compares it is named",
        arguments: [
            ("CREATE TRIGGER o AFTER INSERT ON ZTHING BEGIN SELECT f(Z_ENT, Z_PK) FROM ZTHING; END", false),
            ("CREATE TRIGGER o AFTER UPDATE OF Z_ENT ON ZTHING BEGIN SELECT NEW.Z_ENT; END", false),
            ("CREATE INDEX o ON ZTHING (Z_ENT, ZTEXT)", false),
            ("CREATE TRIGGER o AFTER INSERT ON ZTHING WHEN NEW.Z_ENT = 2 BEGIN SELECT 1; END", true),
            ("CREATE TRIGGER o AFTER DELETE ON ZTHING BEGIN DELETE FROM ZOTHER WHERE OLD.Z_ENT IN (2); END", true),
            ("CREATE VIEW o AS SELECT * FROM ZTHING WHERE Z_ENT BETWEEN 2 AND 3", true),
            ("CREATE INDEX o ON ZTHING (Z_ENT) WHERE Z_ENT = 2", true),
            ("CREATE VIEW o AS SELECT * FROM ZOTHER WHERE Z_ENT = 1", true),
            ("CREATE VIEW o AS SELECT Z_ENT, Z_PK FROM ZTHING", false),
            ("CREATE VIEW o AS SELECT Z_ENT AS e, count(*) FROM ZTHING GROUP BY Z_ENT ORDER BY e", false),
            ("CREATE VIEW o AS SELECT CASE Z_ENT WHEN 2 THEN 'a' ELSE 'b' END FROM ZTHING", true),
            ("CREATE VIEW o AS SELECT Z_PK FROM ZTHING WHERE Z_ENT IN (2, 3, 4, 5)", true),
            ("CREATE TRIGGER o AFTER INSERT ON ZTHING WHEN NEW.Z_ENT + 0 = 2 BEGIN SELECT 1; END", true),
            ("CREATE TRIGGER o AFTER UPDATE ON ZTHING WHEN 2 = abs(OLD.\"Z_ENT\") BEGIN SELECT 1; END", true),
            ("CREATE VIEW o AS SELECT * FROM ZTHING WHERE CAST(Z_ENT AS INTEGER) IN (3)", true),
            ("CREATE VIEW o AS SELECT 1 FROM (SELECT * FROM ZTHING) WHERE [z_ent] % 2 = 0", true),
            ("CREATE VIEW o AS SELECT CASE coalesce(Z_ENT, 0) WHEN 2 THEN 'a' END FROM ZTHING", true),
            (
                "CREATE TRIGGER o AFTER DELETE ON ZTHING BEGIN UPDATE ZTHING SET Z_ENT = 7 WHERE Z_ENT + 1 > 2; END",
                true
            ),
            (
                "CREATE TRIGGER o AFTER DELETE ON ZTHING WHEN OLD.ZTEXT = 'Z_ENT' /* Z_ENT + 0 = 2 */ BEGIN "
                    + "INSERT INTO ZOTHER (Z_ENT, Z_OPT) VALUES (OLD.Z_ENT + 0, 1); END", false
            ),
        ])
    func numbers(_ sql: String, compares: Bool) throws {
        let thing = [entity("Other"), entity("Thing", attribute("text"))]
        let scenario = try Scenario(
            model(thing[0], thing[1]), model(entity("Added"), thing[0], thing[1]), rows: sql + ";")
        let prepared = try scenario.migrate().prepared
        #expect(try Self.text(of: "o", scenario) == sql)
        #expect(
            prepared.warnings.contains { $0.contains(" o of the app's own compares entities' numbers") } == compares)
    }

    @Test("indexes and triggers with Core Data's names are reported when they are lost")
    func namedAsCoreData() throws {
        let one = try Self.scenario("CREATE INDEX ZTHING_ZTEXT_INDEX ON ZTHING (ZTEXT);").migrate().prepared
        #expect(
            one.steps[0].losses.filter { $0.contains("_INDEX") } == [
                "V1 → V2: index ZTHING_ZTEXT_INDEX is not carried: its name is one that Core Data would use, and "
                    + "this version has none of that name"
            ])
        let two = try Self.scenario(
            "CREATE INDEX ZTHING_ZTEXT_INDEX ON ZTHING (ZTEXT); CREATE INDEX ZTHING_ZKIND_INDEX ON ZTHING (ZKIND);"
        ).migrate().prepared
        #expect(
            two.steps[0].losses.filter { $0.contains("_INDEX") } == [
                "V1 → V2: 2 indexes are not carried: their names are ones that Core Data would use, and this "
                    + "version has none of them: ZTHING_ZKIND_INDEX, ZTHING_ZTEXT_INDEX"
            ])
        #expect(!two.warnings.contains { $0.contains("left behind") })
    }

    @Test("a store made to exhaust memory is handled in bounded time")
    func exponential() throws {
        let views = (1...40).map { "CREATE VIEW v\($0) AS SELECT a.x FROM v\($0 - 1) a, v\($0 - 1) b;" }.joined()
        let tables = (1...40).map { ", c\($0)(x) AS (SELECT a.x FROM c\($0 - 1) a, c\($0 - 1) b)" }.joined()
        let scenario = try Self.scenario(
            "CREATE VIEW v0 AS SELECT ZTEXT AS x FROM ZTHING; \(views)"
                + "CREATE VIEW w AS WITH c0(x) AS (SELECT ZTEXT FROM ZTHING)\(tables) SELECT x FROM c40;"
                + "CREATE VIEW w2 AS WITH c0(x) AS (SELECT ZTEXT FROM ZTHING)\(tables) SELECT x FROM c40;")
        let start = ContinuousClock.now
        let losses = try scenario.migrate().prepared.steps[0].losses.filter { $0.contains("of the app's own") }
        #expect(losses.count == 2, "\(losses)")
        #expect(losses.contains { $0.contains("view w of the app's own is not carried: it is too large") })
        #expect(try Self.text(of: "v40", scenario) != nil)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("app objects with names that the new version uses are lost, with the reason")
    func collisions() throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("text"))),
            model(
                entity(
                    "Thing", attribute("text"),
                    "<fetchIndex name=\"byText\"><fetchIndexElement property=\"text\" type=\"Binary\" "
                        + "order=\"ascending\"/></fetchIndex>"), entity("Foo")),
            rows: """
                CREATE TABLE zfoo (a); INSERT INTO zfoo VALUES (1), (2);
                CREATE TABLE mine (a); CREATE INDEX Z_Thing_byText ON mine (a);
                CREATE VIEW v AS SELECT * FROM zfoo;
                """)
        let losses = try scenario.migrate().prepared.steps[0].losses
        #expect(
            losses == [
                "V1 → V2: table zfoo of the app's own (2 rows) is not carried: the new version has a table or index of that name",
                "V1 → V2: index Z_Thing_byText of the app's own is not carried: the new version has a table or index of that name",
                "V1 → V2: view v of the app's own is not carried: it names the table zfoo, which isn't carried",
            ])
    }
}
