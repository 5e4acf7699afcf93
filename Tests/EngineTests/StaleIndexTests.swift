import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Indexes of the source whose entries aren't those of the rows: a store that is made anew gets fresh ones, and so does
/// one that begins as a copy.
@Suite("Stale indexes", .timeLimit(.minutes(60)))
struct StaleIndexTests {
    /// How a store gets a stale index.
    enum Damage: Hashable, Sendable {
        /// Rows change while SQLite doesn't know the index; `unless` is what of the table's text brings it.
        case behind(index: String, unless: String = "", sql: String)
        /// The index is made with another text.
        case under(text: String, becoming: String, index: String)

        var index: String {
            switch self {
            case .behind(let index, _, _): index
            case .under(_, _, let index): index
            }
        }

        func apply(to path: String) throws {
            switch self {
            case .behind(let index, let unless, let sql): try behind(index, unless, sql, path)
            case .under(let text, let becoming, let index):
                try Scenario.execute("DROP INDEX IF EXISTS \(index); \(text)", path)
                try schema("UPDATE sqlite_schema SET sql = replace(sql, \(becoming)) WHERE name = '\(index)'", path)
            }
        }

        private func schema(_ sql: String, _ path: String) throws {
            let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            try connection.changingSchemaTable { () throws(SQLiteError) in try connection.execute(sql) }
        }

        private func behind(_ index: String, _ unless: String, _ sql: String, _ path: String) throws {
            let row = try Self.text(
                """
                SELECT format('INSERT INTO sqlite_schema VALUES (%Q, %Q, %Q, %d, %Q)', type, name, tbl_name, rootpage, sql) \
                FROM sqlite_schema WHERE name = '\(index)'
                """, path)
            let table = try Self.text("SELECT tbl_name FROM sqlite_schema WHERE name = '\(index)'", path)
            let text = try Self.text(
                """
                SELECT format('UPDATE sqlite_schema SET sql = %Q WHERE name = %Q', sql, name) \
                FROM sqlite_schema WHERE name = '\(table)'
                """, path)
            try schema(
                """
                DELETE FROM sqlite_schema WHERE name = '\(index)'; \
                UPDATE sqlite_schema SET sql = replace(sql, '\(unless)', '') WHERE name = '\(table)'
                """, path)
            try Scenario.execute(sql, path)
            try schema("\(row); \(text)", path)
        }

        private static func text(_ sql: String, _ path: String) throws -> String {
            let connection = try Connection(path: path, mode: .readOnly, hardening: .own)
            var statement = try connection.prepare(sql)
            let text = try statement.step() ? try statement.string(at: 0) : nil
            return try #require(text, "\(sql)")
        }
    }

    static let damages: [Damage] = [
        // An entry without a row, a row without an entry, an entry of another value.
        .behind(index: "Z_Note_by", sql: "DELETE FROM ZNOTE WHERE Z_PK = 1500"),
        .behind(index: "Z_Note_by", sql: "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (9000, 5, 1, 'new')"),
        .behind(index: "Z_Note_by", sql: "UPDATE ZNOTE SET ZTEXT = 'other' WHERE Z_PK = 1500"),
        // The other way round.
        .under(
            text: "CREATE INDEX Z_Note_by ON ZNOTE (ZTEXT COLLATE BINARY DESC)", becoming: "'DESC', 'ASC'",
            index: "Z_Note_by"),
        // In a patched index, and in that of a constraint.
        .behind(index: "ZKIND_Z_ENT_INDEX", sql: "UPDATE ZKIND SET Z_ENT = 3 WHERE Z_PK = 2"),
        .behind(index: "sqlite_autoindex_own_1", unless: "UNIQUE", sql: "UPDATE own SET a = 5 WHERE rowid = 7"),
        // Equal entries in a unique index.
        .under(
            text: "CREATE INDEX own_u ON own (CASE b WHEN 'Y' THEN 'x' ELSE b END COLLATE BINARY)",
            becoming: "sql, 'CREATE UNIQUE INDEX own_u ON own (b COLLATE BINARY)'", index: "own_u"),
        // A row of a join table without an entry.
        .behind(index: "Z_5TAGS_Z_7TAGS_INDEX", sql: "INSERT INTO Z_5TAGS VALUES (3, 1)"),
        // Only SQLite knows its entries.
        .behind(index: "own_b", sql: "UPDATE own SET b = 'z' WHERE rowid = 7"),
    ]

    private static func scenario(_ damage: Damage, autoVacuum: Int = 2) throws -> Scenario {
        let scenario = try KeptTableTests.scenario()
        try Scenario.execute("PRAGMA auto_vacuum = \(autoVacuum); VACUUM", scenario.store)
        try damage.apply(to: scenario.store)
        return scenario
    }

    private static func byStatements(_ damage: Damage) throws -> [String] {
        let scenario = try scenario(damage)
        _ = try Migration(scenario.request(to: "V2", engine: .statements)).run()
        return try KeptTableTests.content(scenario.store)
    }

    private static func name(of damage: Damage) -> String {
        damage.index.replacingOccurrences(of: "Z_5TAGS", with: "Z_6TAGS").replacingOccurrences(
            of: "Z_7TAGS", with: "Z_8TAGS")
    }

    @Test("are sorted anew, with a warning, and the rows are those of statements", arguments: damages, [1, 4])
    func healed(damage: Damage, jobs: Int) throws {
        let scenario = try Self.scenario(damage, autoVacuum: jobs == 1 ? 0 : 2)
        let integrity = try scenario.rows("PRAGMA integrity_check")
        #expect(integrity != ["'ok'"], "the index isn't stale")
        let run = try scenario.rerun(scenario.request(to: "V2", jobs: jobs, engine: .pages))
        let told = run.warnings.filter { $0.contains("stale") }
        #expect(told.count == 1 && told.contains { $0.contains(Self.name(of: damage)) }, "\(run.warnings)")
        #expect(!run.warnings.contains { $0.contains("starts over") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements(damage))
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test(
        "places of a relationship that becomes ordered follow from the rows, not from an index",
        arguments: [EngineChoice.auto, .statements])
    func ordered(engine: EngineChoice) throws {
        func version(_ isOrdered: Bool) -> String {
            model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author", ordered: isOrdered)),
                entity("Book", attribute("title"), toOne("author", "Author", inverse: "books")))
        }
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)"
        let scenario = try Scenario(
            versions: [version(false), version(true)],
            rows: """
                \(numbers) INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'a' || i FROM n;
                \(numbers) INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) SELECT i, 2, 1, 'b' || i, i % 5 + 1 FROM n;
                """)
        try Damage.behind(index: "ZBOOK_ZAUTHOR_INDEX", sql: "UPDATE ZBOOK SET ZAUTHOR = 9 WHERE Z_PK = 7").apply(
            to: scenario.store)
        _ = try Migration(scenario.request(to: "V2", engine: engine)).run()
        #expect(try scenario.rows("SELECT ZAUTHOR, Z_FOK_AUTHOR FROM ZBOOK WHERE Z_PK = 7") == ["9|2048"])
    }

    @Test(
        "links that move to the other end follow from the rows, not from an index",
        arguments: [EngineChoice.auto, .statements])
    func moved(engine: EngineChoice) throws {
        let author = entity("Author", attribute("name"), toOne("book", "Book", inverse: "author"))
        let book = entity("Book", attribute("title"), toMany("author", "Author", inverse: "book"))
        let scenario = try Scenario(
            versions: [
                model(author, book),
                model(
                    entity("Author", attribute("name"), toMany("book", "Book", inverse: "author")),
                    entity("Book", attribute("title"), toOne("author", "Author", inverse: "book"))),
            ],
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) \
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 2, 1, 'b' || i FROM n;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) \
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBOOK) SELECT i, 1, 1, 'a' || i, i FROM n;
                """)
        try Damage.behind(index: "ZAUTHOR_ZBOOK_INDEX", sql: "UPDATE ZAUTHOR SET ZBOOK = 45 WHERE Z_PK = 7").apply(
            to: scenario.store)
        _ = try Migration(scenario.request(to: "V2", engine: engine)).run()
        #expect(try scenario.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK WHERE Z_PK IN (7, 45)") == ["7|NULL", "45|7"])
    }

    @Test("a stale index doesn't make sound ones of its table stale, that only SQLite can compare")
    func besideSound() throws {
        let scenario = try KeptTableTests.scenario()
        try Scenario.execute(
            """
            CREATE TABLE many (a INTEGER, b INTEGER);
            INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) SELECT i, i FROM n;
            CREATE INDEX many_a ON many (a); CREATE INDEX many_b ON many (b) WHERE b > 3;
            """, scenario.store)
        try Damage.behind(index: "many_a", sql: "UPDATE many SET a = -a WHERE rowid = 7").apply(to: scenario.store)
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        let told = run.warnings.filter { $0.contains("stale") }
        #expect(told.count == 1 && told.contains { $0.contains("many_a") }, "\(run.warnings)")
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
        #expect(try scenario.rows("SELECT count(*) FROM many INDEXED BY many_b WHERE b > 3") == ["197"])
    }

    @Test(
        "are found at any level that verifies; without verification those of tables that change are", arguments: damages
    )
    func levels(damage: Damage) throws {
        for level in VerificationLevel.allCases {
            let scenario = try Self.scenario(damage)
            var request = scenario.request(to: "V2", engine: .pages)
            request.verification = level
            let run = try scenario.rerun(request)
            let isFound = run.warnings.contains { $0.contains(Self.name(of: damage)) && $0.contains("stale") }
            let isOfPatchedTable = damage.index.hasPrefix("Z_Note") || damage.index.hasPrefix("ZKIND")
            #expect(isFound == (level != .none || isOfPatchedTable), "\(level): \(run.warnings)")
            #expect(try (scenario.rows("PRAGMA integrity_check") == ["'ok'"]) == isFound)
        }
    }

    @Test("are made anew before handlers read them, at any level of verification", arguments: damages)
    func beforeHandlers(damage: Damage) throws {
        for level in VerificationLevel.allCases {
            let scenario = try KeptTableTests.scenario()
            // No object can have such a key.
            try Scenario.execute("DELETE FROM ZNOTE WHERE Z_PK < 1", scenario.store)
            try damage.apply(to: scenario.store)
            let run = try scenario.rerun(KeptHandlerTests.request(scenario, level))
            let told = run.warnings.filter { $0.contains("stale") }
            #expect(told.count == 1 && told.contains { $0.contains(Self.name(of: damage)) }, "\(run.warnings)")
            #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
        }
    }

    @Test("a sound store's indexes are kept without a word")
    func sound() throws {
        let scenario = try KeptTableTests.scenario()
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(!run.warnings.contains { $0.contains("stale") }, "\(run.warnings)")
    }

    @Test("rows that break a constraint end the run with their names, whatever the index says")
    func notUnique() throws {
        let damage = Damage.behind(
            index: "sqlite_autoindex_own_1", unless: "UNIQUE",
            sql: "INSERT INTO own (rowid, a, b) VALUES (9, 1, 'again')")
        let scenario = try Self.scenario(damage)
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        let error = try failure { _ = try Migration(scenario.request(to: "V2", engine: .pages)).run() }
        #expect(error.kind == .sourceData && error.message.contains("rows 7 and 9"), "\(error)")
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }

    @Test(
        "are made anew after a kill, too",
        arguments: [
            (KillPoint.pagesCopied, 1), (.stagingCreated, 1), (.pagesBegun, 1), (.pagesWhole, 1), (.pagesDone, 1),
            (.schemaFinished, 1), (.verified, 1),
        ], [0, 3_600])
    func killed(at place: (point: KillPoint, count: Int), interval: Double) async throws {
        let damage = Self.damages[4]
        let scenario = try Self.scenario(damage)
        try await scenario.kill(at: place.point, place.count, engine: .pages, interval: interval)
        let run = try scenario.rerun(KeptTableTests.careful(scenario))
        #expect(!run.warnings.contains { $0.contains("starts over") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements(damage))
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("are found where an interrupted run didn't verify and the next one does")
    func deeper() throws {
        let damage = Self.damages[5]
        let scenario = try Self.scenario(damage)
        var request = KeptTableTests.careful(scenario)
        request.verification = .none
        try scenario.interrupt(request) { if case .passBegan = $0 { true } else { false } }
        let run = try scenario.rerun(KeptTableTests.careful(scenario))
        #expect(run.warnings.contains { $0.contains("stale") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements(damage))
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }
}
