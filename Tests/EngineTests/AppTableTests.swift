import CausewayEngine
import CausewayExamination
import CausewayPlanning
import CausewaySQLite
import CausewayPreparation
import CausewayStores
import Testing

/// Tables that the app itself put into its store.
@Suite("Tables of the app's own", .timeLimit(.minutes(60)))
struct AppTableTests {
    private static let rows = """
        CREATE TABLE keyed (a TEXT COLLATE NOCASE, b INTEGER, c BLOB, PRIMARY KEY (b DESC, a COLLATE RTRIM)) WITHOUT ROWID;
        INSERT INTO keyed VALUES ('a', 1, x'00'), ('A', 1, NULL), ('b', -5, 2.5), ('b ', 9, 'x'), ('c', 9, 1);
        CREATE TABLE dated (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT DEFAULT (datetime('now')),
            token BLOB DEFAULT (hex(randomblob(16))), n INTEGER DEFAULT 3);
        INSERT INTO dated (id, at, token) VALUES (1, 'then', 'x'), (40, NULL, NULL);
        DELETE FROM dated WHERE id = 40;
        CREATE TABLE strict (a INT, b ANY, c TEXT UNIQUE ON CONFLICT REPLACE, CHECK (length(replace(b, 'a', 'aa')) > 0)) STRICT;
        INSERT INTO strict VALUES (1, '01', 'x'), (2, 1, 'y'), (NULL, x'61', NULL);
        CREATE TABLE generated (a, b AS (a || a) STORED, c AS (lower(a)) VIRTUAL UNIQUE, d DEFAULT 'q');
        INSERT INTO generated (a) VALUES ('X'), ('Y'), (NULL);
        CREATE TABLE shadowed (rowid TEXT, a); INSERT INTO shadowed VALUES ('z', 1), ('a', 2), (NULL, 3);
        CREATE TABLE hidden (rowid, _rowid_, oid); INSERT INTO hidden VALUES (3, 1, 1), (1, 2, 2), (1, 2, 1);
        CREATE TABLE descending (a INTEGER PRIMARY KEY DESC, b); INSERT INTO descending VALUES (5, 1), (2, 2), (9, 3);
        CREATE TABLE ZFOO (a); INSERT INTO ZFOO VALUES (1), (NULL);
        CREATE TABLE Z_CACHE (k TEXT PRIMARY KEY, v); INSERT INTO Z_CACHE VALUES ('b', 1), ('a', 2);
        CREATE TABLE Z_2GO (place TEXT); INSERT INTO Z_2GO VALUES ('there');
        CREATE TABLE AFOO (a); INSERT INTO AFOO VALUES (1);
        CREATE TABLE ACHANGE (amount REAL); INSERT INTO ACHANGE VALUES (2.5);
        CREATE TABLE ATRANSACTION (id INTEGER PRIMARY KEY, amount); INSERT INTO ATRANSACTION VALUES (7, 8);
        CREATE TABLE "sel""ect [1]" ("from" INTEGER, "a.b" TEXT); INSERT INTO "sel""ect [1]" VALUES (1, 'x');
        CREATE TABLE owned (thing INTEGER REFERENCES ZTHING (Z_PK) ON DELETE CASCADE, text REFERENCES ZTHING(ZTEXT));
        INSERT INTO owned VALUES (1, 'x');
        CREATE TABLE json (a TEXT CHECK (json_valid(a)), b AS (json_extract(a, '$.x')), c AS (a ->> 'y') STORED,
            d AS (replace(hex(a), 'A', 'bb')) NOT NULL, e AS (printf('%05.2f|%s', length(a), quote(a))) STORED);
        INSERT INTO json (a) VALUES ('{"x": 1, "y": "z"}'), ('[]');
        CREATE INDEX json_types ON json (json_type(a), printf('%03d', b), hex(c)) WHERE json_valid(a);
        CREATE TABLE ANSCKETCHES (a); INSERT INTO ANSCKETCHES VALUES (1);
        """
    private static let names = [
        "keyed", "dated", "strict", "generated", "shadowed", "hidden", "descending", "ZFOO", "Z_CACHE", "Z_2GO", "AFOO",
        "ACHANGE", "ATRANSACTION", "sel\"\"ect [1]", "owned",
        "json", "ANSCKETCHES",
    ]
    private static let versions = [
        model(entity("Thing", attribute("text"))),
        model(entity("Item", was: "Thing", attribute("label", was: "text"))),
        model(entity("Item", attribute("label")), entity("Added")),
    ]

    @Test(
        "every kind of table arrives with every row, in any batches, in one step or in several",
        arguments: [1, 7, 1_024],
        [(true, EngineChoice.statements), (false, .statements), (true, .pages), (false, .pages)])
    func carried(batch: Int, way: (fuses: Bool, engine: EngineChoice)) throws {
        let scenario = try Scenario(Self.versions[0], Self.versions[1], Self.versions[2], rows: Self.rows)
        func contents(_ path: String) throws -> [[String]] {
            var result: [[String]] = []
            for name in Self.names {
                let query: String =
                    switch name {
                    case "hidden": "SELECT * FROM hidden ORDER BY 1, 2, 3"
                    case "keyed": "SELECT * FROM keyed ORDER BY b DESC, a"
                    case "shadowed": "SELECT *, oid FROM shadowed ORDER BY oid"
                    default: "SELECT *, rowid FROM \"\(name)\" ORDER BY rowid"
                    }
                result.append(try Database.rows(query, in: path))
            }
            result.append(try Database.rows("SELECT * FROM sqlite_sequence", in: path))
            return result
        }
        let before = try contents(scenario.store)
        var request = scenario.request(to: "V3", fuses: way.fuses, batchRows: batch, engine: way.engine)
        request.verification = .full
        let outcome = try Migration(request).run()
        #expect(outcome.prepared.steps.allSatisfy { !$0.losses.contains { $0.contains("of the app's own") } })
        #expect(try contents(scenario.store) == before)
        #expect(
            try scenario.rows("SELECT sql FROM sqlite_schema WHERE name = 'owned'") == [
                "'CREATE TABLE owned (thing INTEGER REFERENCES \"ZITEM\" (Z_PK) ON DELETE CASCADE, "
                    + "text REFERENCES \"ZITEM\"(ZLABEL))'"
            ])
        #expect(try scenario.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'json_types'") == ["1"])
        try Scenario.execute("INSERT INTO dated (n) VALUES (1); INSERT INTO strict VALUES (1, 2, 'x')", scenario.store)
        #expect(try scenario.rows("SELECT id, length(token), at <> 'then' FROM dated WHERE n = 1") == ["41|32|1"])
        #expect(try scenario.rows("SELECT count(*) FROM strict") == ["3"])
    }

    @Test("a table WITHOUT ROWID is resumed where a run was stopped", arguments: [1, 3])
    func resumed(batch: Int) throws {
        func scenario() throws -> Scenario {
            try Scenario(
                Self.versions[0], Self.versions[1],
                rows: """
                    CREATE TABLE keyed (a TEXT, b INTEGER, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
                    CREATE INDEX keyed_a ON keyed (a);
                    INSERT INTO keyed WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40)
                    SELECT char(65 + i % 7) || i, i * 7 % 41 FROM n;
                    """)
        }
        let whole = try scenario()
        let expected = try whole.rows("SELECT * FROM keyed ORDER BY b DESC, a")
        let stopped = try scenario()
        var request = stopped.request(to: "V2", batchRows: batch, jobs: 1, engine: .statements)
        request.options.checkpointInterval = 0
        try stopped.interrupt(request) { event in
            if case .progress(let rows, _, _) = event { rows >= 13 } else { false }
        }
        let outcome = try Migration(request).run()
        #expect((outcome.resumed?.rows ?? 0) > 0)
        #expect(try stopped.rows("SELECT * FROM keyed ORDER BY b DESC, a") == expected)
    }

    @Test(
        "a table that can't be carried is lost with its rows counted and its reason",
        arguments: [
            (
                "CREATE TABLE t (a, b AS (hex(zeroblob(9))) STORED); INSERT INTO t (a) VALUES (1);",
                "table t of the app's own (1 row) is not carried: it computes “zeroblob” for every row"
            ),
            (
                "CREATE VIRTUAL TABLE t USING fts5(a); INSERT INTO t VALUES ('x'); CREATE TABLE t_archive (a);",
                "table t of the app's own is not carried: it is a virtual table, which only the app can fill again"
            ),
            (
                "CREATE TABLE Z_7OLD (Z_7THINGS INTEGER, Z_9OTHERS INTEGER); INSERT INTO Z_7OLD VALUES (1, 2), (1, 3);",
                "table Z_7OLD (2 rows) is not carried: an earlier version of the model left it"
            ),
        ])
    func lost(_ sql: String, sentence: String) throws {
        let scenario = try Scenario(Self.versions[0], Self.versions[1], rows: sql)
        let losses = try scenario.migrate().prepared.steps[0].losses
        #expect(losses == ["V1 → V2: " + sentence])
        #expect(try scenario.rows("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == ["0"])
        let keeps = sql.contains("t_archive")
        #expect(try scenario.rows("SELECT name FROM sqlite_schema WHERE name = 't_archive'").count == (keeps ? 1 : 0))
    }

    @Test(
        "a function or collation that only the app has is kept where no row needs it; else the object is lost",
        arguments: [
            ("CREATE TABLE t (a CHECK (app(a) <> app_too(a)), b COLLATE app_order DEFAULT (app(1)))", nil),
            ("CREATE TABLE t (a, b AS (app(a)))", "table t (1 row): it calls the function app, which only the app has"),
            (
                "CREATE TABLE t (a, b AS (app(a)) STORED)",
                "table t (1 row): it calls the function app, which only the app has"
            ),
            (
                "CREATE TABLE t (a COLLATE app_order PRIMARY KEY) WITHOUT ROWID",
                "table t (1 row): it is ordered by app_order, a collating sequence that only the app has"
            ),
            (
                "CREATE TABLE t (a); CREATE INDEX i ON ZTHING (ZTEXT COLLATE app_order)",
                "index i: it is ordered by app_order, a collating sequence that only the app has"
            ),
        ] as [(String, String?)])
    func ofTheApp(_ sql: String, loss: String?) throws {
        let scenario = try Scenario(Self.versions[0], Self.versions[1], Self.versions[2])
        try Self.makeAsTheApp(sql + "; INSERT INTO t (a) VALUES ('x');", in: scenario.store)
        let source = try SourceStore.reading(StoreLocation(existing: scenario.store))
        let report = try StoreExamination(source, history: nil, isQuick: false).run()
        source.release()
        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(report.comparedIndexes != report.notes.contains { $0.message.contains("indexes aren't compared") })
        var request = scenario.request(to: "V3", fuses: false)
        request.verification = .full
        let losses = try Migration(request).run().prepared.steps.flatMap(\.losses)
        let words = loss?.split(separator: ": ", maxSplits: 1).map(String.init) ?? []
        let expected = words.isEmpty ? [] : [Self.sentence(words[0], words[1])]
        #expect(losses == expected)
        if loss == nil { #expect(try scenario.rows("SELECT * FROM t") == ["'x'|NULL"]) }
    }

    private static func sentence(_ what: String, _ reason: String) -> String {
        let parts = what.split(separator: " ", maxSplits: 2)
        let rows = parts.count > 2 ? " \(parts[2])" : ""
        return "V1 → V2: \(parts[0]) \(parts[1]) of the app's own\(rows) is not carried: \(reason)"
    }

    /// With stand-ins for the functions and collations that the app would register.
    private static func makeAsTheApp(_ sql: String, in path: String) throws {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        try connection.lendingStandIns { () throws(SQLiteError) in
            try connection.execute("BEGIN")
            do throws(SQLiteError) {
                try connection.execute(sql)
            } catch {
                try connection.execute("ROLLBACK")
                throw error
            }
            try connection.execute("COMMIT")
        }
    }

    @Test("a function that SQLite doesn't allow in a schema isn't reported as damage")
    func unsafeUse() {
        let error = EngineError(
            SQLiteError(code: .corrupt, message: "malformed database schema (t) - unsafe use of f()"), during: "Store")
        #expect(error.kind == .sourceData)
        #expect(error.message == "Store: t, of the app's own, calls f(), which SQLite lets no schema call")
        #expect(!error.remedy.contains("recover"))
    }

    /// An error of SQLite in the new schema is found before the first row is moved, in every step.
    @Test("a schema that SQLite refuses is an error of the plan", arguments: [true, false])
    func refusedSchema(fuses: Bool) throws {
        let wide = model(entity("Thing", (0..<2_010).map { attribute("a\($0)") }.joined()))
        let scenario = try Scenario(Self.versions[0], model(entity("Thing", attribute("text")), entity("Added")), wide)
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(scenario.request(to: "V3", fuses: fuses)).run() }
        #expect(error.kind == .plan)
        #expect(error.message.contains("ZTHING: SQLite refuses the table: too many columns"), "\(error)")
        #expect(try snapshot(scenario.folder) == before)
        #expect(try failure { _ = try Migration(scenario.request(to: "V3", fuses: fuses)).plan() }.kind == .plan)
    }

    /// Both tables fit. The statement that also looks up six links has more columns than SQLite allows.
    @Test("a statement for reading rows that SQLite refuses is an error of the plan, in a later step too")
    func refusedReading() throws {
        func version(_ link: (String) -> String) -> String {
            model(
                entity(
                    "Thing", (0..<1_988).map { attribute("a\($0)") }.joined(),
                    (0..<6).map { link("tag\($0)") }.joined()),
                entity("Tag", (0..<6).map { toOne("thing\($0)", "Thing", inverse: "tag\($0)") }.joined()),
                entity("Old", parent: "Tag"))
        }
        func one(_ name: String) -> String { toOne(name, "Tag", inverse: "thing" + name.dropFirst(3)) }
        let many = version { toMany($0, "Tag", inverse: "thing" + $0.dropFirst(3)) }
        let ones = version(one).replacing("<entity name=\"Old\" parentEntity=\"Tag\" ></entity>", with: "")
        for versions in [[many, ones], [many.replacing("\"a0\"", with: "\"b0\""), many, ones]] {
            let scenario = try Scenario(versions: versions)
            let before = try snapshot(scenario.folder)
            let request = scenario.request(to: scenario.lastVersion, fuses: false)
            let error = try failure { _ = try Migration(request).plan() }
            #expect(error.kind == .plan)
            #expect(
                error.message.contains("ZTHING: SQLite refuses the statement that reads its rows: too many columns"),
                "\(error)")
            #expect(try failure { _ = try Migration(request).run() }.kind == .plan)
            #expect(try snapshot(scenario.folder) == before)
        }
    }
}
