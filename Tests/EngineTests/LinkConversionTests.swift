import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Testing

/// Every form in which a relationship's links are stored, converted to every other.
@Suite("Links that change their form", .timeLimit(.minutes(60)))
struct LinkConversionTests {
    static let people = """
        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b'), (3, 1, 1, 'c');
        """
    static let author = attribute("name")
    static let title = attribute("title")

    static func books(_ authorsOfBooks: [Int?]) -> String {
        authorsOfBooks.enumerated().map { index, author in
            """
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) \
            VALUES (\(index + 1), 2, 7, 't\(index + 1)', \(author.map(String.init) ?? "NULL"));
            """
        }
        .joined()
    }

    static let plainBooks = """
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) \
        VALUES (1, 2, 7, 't1'), (2, 2, 7, 't2'), (3, 2, 7, 't3'), (4, 2, 7, 't4');
        """

    /// Many books of one author.
    static let oneToMany = model(
        entity("Author", author, toMany("books", "Book", inverse: "author")),
        entity("Book", title, toOne("author", "Author", inverse: "books")))
    static let orderedOneToMany = model(
        entity("Author", author, toMany("books", "Book", inverse: "author", ordered: true)),
        entity("Book", title, toOne("author", "Author", inverse: "books")))
    static let manyToMany = model(
        entity("Author", author, toMany("books", "Book", inverse: "authors")),
        entity("Book", title, toMany("authors", "Author", inverse: "books", was: "author")))
    static let orderedManyToMany = model(
        entity("Author", author, toMany("books", "Book", inverse: "authors", ordered: true)),
        entity("Book", title, toMany("authors", "Author", inverse: "books", ordered: true, was: "author")))
    static let oneToOne = model(
        entity("Author", author, toOne("book", "Book", inverse: "author", was: "books")),
        entity("Book", title, toOne("author", "Author", inverse: "book")))
    static let withoutInverse = model(
        entity("Author", author, toMany("books", "Book")), entity("Book", title))

    @Test("a to-one's column becomes rows of a join table")
    func columnToJoin() throws {
        let scenario = try Scenario(Self.oneToMany, Self.manyToMany, rows: Self.people + Self.books([1, 1, 2, nil]))
        try scenario.migrate()
        #expect(try scenario.rows("SELECT * FROM Z_1BOOKS") == ["1|1", "1|2", "2|3"])
        #expect(
            try scenario.rows("SELECT * FROM ZBOOK") == [
                "1|2|7|'t1'", "2|2|7|'t2'", "3|2|7|'t3'", "4|2|7|'t4'",
            ])
    }

    @Test("rows of a join table become a to-one: the first by the order key is kept, else the first by key")
    func joinToColumn() throws {
        let to = model(
            entity("Author", Self.author, toMany("books", "Book", inverse: "author")),
            entity("Book", Self.title, toOne("author", "Author", inverse: "books", was: "author")))
        let ordered = try Scenario(
            Self.orderedManyToMany, to,
            rows: Self.people + Self.plainBooks + """
                INSERT INTO Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS, Z_FOK_1AUTHORS, Z_FOK_2BOOKS) VALUES
                (1, 1, 3072, 2048), (2, 1, 2048, 2048), (3, 1, 4096, 2048), (3, 2, 2048, 3072);
                """)
        try ordered.migrate()
        #expect(
            try ordered.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY Z_PK") == ["1|2", "2|3", "3|NULL", "4|NULL"])
        let plain = try Scenario(
            Self.manyToMany, to,
            rows: Self.people + Self.plainBooks
                + "INSERT INTO Z_1BOOKS VALUES (3, 1), (2, 1), (3, 2), (1, 3);")
        let outcome = try plain.migrate()
        #expect(try plain.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY Z_PK") == ["1|2", "2|3", "3|1", "4|NULL"])
        #expect(outcome.prepared.steps[0].losses.contains { $0.contains("only the first of several links") })
    }

    @Test("one-to-many becomes one-to-one: both ends agree on the link that stays")
    func oneToManyToOneToOne() throws {
        let scenario = try Scenario(Self.oneToMany, Self.oneToOne, rows: Self.people + Self.books([2, 1, 2, 1, nil]))
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZBOOK FROM ZAUTHOR ORDER BY Z_PK") == ["1|2", "2|1", "3|NULL"])
        #expect(
            try scenario.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY Z_PK") == [
                "1|2", "2|1", "3|NULL", "4|NULL", "5|NULL",
            ])
    }

    @Test("an ordered one-to-many becomes one-to-one with the first of the order")
    func orderedOneToManyToOneToOne() throws {
        let scenario = try Scenario(
            Self.orderedOneToMany, Self.oneToOne,
            rows: Self.people + Self.books([1, 1, 1, 2])
                + "UPDATE ZBOOK SET Z_FOK_AUTHOR = CASE Z_PK WHEN 3 THEN 2048 WHEN 1 THEN 3072 ELSE 4096 END;")
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZBOOK FROM ZAUTHOR ORDER BY Z_PK") == ["1|3", "2|4", "3|NULL"])
        #expect(
            try scenario.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY Z_PK") == ["1|NULL", "2|NULL", "3|1", "4|2"])
    }

    @Test("one-to-one becomes one-to-many: the to-one's column is kept")
    func oneToOneToOneToMany() throws {
        let to = model(
            entity("Author", Self.author, toMany("books", "Book", inverse: "author", was: "books")),
            entity("Book", Self.title, toOne("author", "Author", inverse: "books")))
        let scenario = try Scenario(
            Self.oneToOne, to,
            rows: Self.people + Self.books([3, nil, 1]) + """
                UPDATE ZAUTHOR SET ZBOOK = 1 WHERE Z_PK = 3; UPDATE ZAUTHOR SET ZBOOK = 3 WHERE Z_PK = 1;
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY Z_PK") == ["1|3", "2|NULL", "3|1"])
    }

    @Test("the many side changes: a to-one's column is read from the other table")
    func sidesSwapped() throws {
        let to = model(
            entity("Author", Self.author, toOne("book", "Book", inverse: "authors", was: "books")),
            entity("Book", Self.title, toMany("authors", "Author", inverse: "book", was: "author")))
        let scenario = try Scenario(Self.oneToMany, to, rows: Self.people + Self.books([1, 1, 2]))
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZBOOK FROM ZAUTHOR ORDER BY Z_PK") == ["1|1", "2|3", "3|NULL"])
    }

    @Test("a to-many without inverse gains one, and loses it again")
    func virtualAndReal() throws {
        let rows =
            Self.people + Self.plainBooks + """
                UPDATE ZBOOK SET Z1BOOKS = 2 WHERE Z_PK IN (1, 3); UPDATE ZBOOK SET Z1BOOKS = 1 WHERE Z_PK = 2;
                """
        let scenario = try Scenario(Self.withoutInverse, Self.oneToMany, Self.withoutInverse, rows: rows)
        let to2 = scenario.request(to: "V2")
        let first = try EngineRun.output(to2, as: "second.sqlite")
        #expect(
            try Database.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY Z_PK", in: first) == [
                "1|2", "2|1", "3|2", "4|NULL",
            ])
        let joined = try Scenario(Self.withoutInverse, Self.manyToMany, rows: rows)
        try joined.migrate()
        #expect(try joined.rows("SELECT * FROM Z_1BOOKS") == ["1|2", "2|1", "2|3"])
        let back = try Scenario(Self.oneToMany, Self.withoutInverse, rows: Self.people + Self.books([3, nil, 1, 1]))
        try back.migrate()
        #expect(try back.rows("SELECT Z_PK, Z1BOOKS FROM ZBOOK ORDER BY Z_PK") == ["1|3", "2|NULL", "3|1", "4|1"])
    }

    @Test("a to-many without inverse gains one whose target has subentities: each row's own Z_ENT is found")
    func virtualGainsEntityNumber() throws {
        func version(_ inverse: String?) -> String {
            model(
                entity("Author", Self.author, toMany("books", "Book", inverse: inverse)),
                entity("Editor", parent: "Author"),
                entity("Book", Self.title, inverse.map { toOne($0, "Author", inverse: "books") } ?? ""))
        }
        let scenario = try Scenario(
            version(nil), version("author"),
            rows: """
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a'), (2, 2, 1, 'e');
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, Z1BOOKS) VALUES (1, 3, 1, 1), (2, 3, 1, 2), (3, 3, 1, NULL);
                """)
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, ZAUTHOR, Z1_AUTHOR FROM ZBOOK ORDER BY Z_PK") == [
                "1|1|1", "2|2|2", "3|NULL|NULL",
            ])
    }

    @Test("a to-many without inverse moves up to a new parent with its links")
    func virtualPulledUp() throws {
        let to = model(
            entity("Person", extra: "isAbstract=\"YES\"", toMany("books", "Book")),
            entity("Author", parent: "Person", Self.author), entity("Book", Self.title))
        let scenario = try Scenario(
            Self.withoutInverse, to,
            rows: Self.people + Self.plainBooks + "UPDATE ZBOOK SET Z1BOOKS = 3 WHERE Z_PK = 2;")
        try scenario.migrate()
        let column = try scenario.rows("SELECT name FROM pragma_table_info('ZBOOK') WHERE name LIKE '%BOOKS'")
        #expect(column == ["'Z2BOOKS'"])
        #expect(try scenario.rows("SELECT Z_PK, Z2BOOKS FROM ZBOOK WHERE Z2BOOKS IS NOT NULL") == ["2|3"])
    }

    @Test("a to-many that becomes ordered is numbered 2048, 3072, … by key; one that becomes unordered loses it")
    func orderOfOneToMany() throws {
        let gained = try Scenario(
            Self.oneToMany, Self.orderedOneToMany, rows: Self.people + Self.books([2, 1, 2, nil, 2]))
        try gained.migrate()
        #expect(
            try gained.rows("SELECT Z_PK, ZAUTHOR, Z_FOK_AUTHOR FROM ZBOOK ORDER BY Z_PK") == [
                "1|2|2048", "2|1|2048", "3|2|3072", "4|NULL|NULL", "5|2|4096",
            ])
        let lost = try Scenario(
            Self.orderedOneToMany, Self.oneToMany,
            rows: Self.people + Self.books([1]) + "UPDATE ZBOOK SET Z_FOK_AUTHOR = 2048;")
        let outcome = try lost.migrate()
        #expect(try lost.rows("SELECT * FROM ZBOOK") == ["1|2|7|1|'t1'"])
        #expect(outcome.prepared.steps[0].losses.contains { $0.contains("no longer ordered") })
    }

    @Test("a join table gains and loses its order columns")
    func orderOfManyToMany() throws {
        let links = "INSERT INTO Z_1BOOKS VALUES (2, 1), (1, 3), (1, 1), (2, 2);"
        let gained = try Scenario(
            Self.manyToMany, Self.orderedManyToMany, rows: Self.people + Self.plainBooks + links)
        try gained.migrate()
        #expect(
            try gained.rows("SELECT Z_1AUTHORS, Z_2BOOKS, Z_FOK_1AUTHORS, Z_FOK_2BOOKS FROM Z_1BOOKS") == [
                "1|1|2048|2048", "1|3|2048|3072", "2|1|3072|2048", "2|2|2048|3072",
            ])
        let lost = try Scenario(
            Self.orderedManyToMany, Self.manyToMany,
            rows: Self.people + Self.plainBooks + "INSERT INTO Z_1BOOKS VALUES (2, 1, 4, 5);")
        try lost.migrate()
        #expect(try lost.rows("SELECT * FROM Z_1BOOKS") == ["2|1"])
    }

    @Test("a link that a join table without a key has twice is refused before anything is written")
    func repeatedLink() throws {
        let scenario = try Scenario(
            Self.manyToMany, Self.orderedManyToMany,
            rows: Self.people + Self.plainBooks + """
                CREATE TABLE Copy (Z_1AUTHORS INTEGER, Z_2BOOKS INTEGER); DROP TABLE Z_1BOOKS;
                ALTER TABLE Copy RENAME TO Z_1BOOKS;
                INSERT INTO Z_1BOOKS VALUES (2, 1), (1, 3), (2, 1), (2, 1);
                """)
        let before = try snapshot(scenario.folder)
        for error in [
            try failure { _ = try Migration(scenario.request()).plan() }, try failure { try scenario.migrate() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(
                error.details == [
                    "Author.books: the join table Z_1BOOKS has no key, and 1 link is in it several times (p2 to p1)"
                ], "\(error)")
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("existing order keys are kept as they are, also from a column into a join table")
    func orderKept() throws {
        let to = model(
            entity("Author", Self.author, toMany("books", "Book", inverse: "authors", ordered: true)),
            entity("Book", Self.title, toMany("authors", "Author", inverse: "books", was: "author")))
        let scenario = try Scenario(
            Self.orderedOneToMany, to,
            rows: Self.people + Self.books([1, 1]) + "UPDATE ZBOOK SET Z_FOK_AUTHOR = 9000 - Z_PK;")
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_1AUTHORS, Z_2BOOKS, Z_FOK_2BOOKS FROM Z_1BOOKS") == ["1|1|8999", "1|2|8998"])
    }

    @Test("many-to-many that becomes one-to-one is refused: it isn't clear which links to keep")
    func manyToManyToOneToOne() throws {
        let to = model(
            entity("Author", Self.author, toOne("book", "Book", inverse: "author", was: "books")),
            entity("Book", Self.title, toOne("author", "Author", inverse: "book", was: "author")))
        let scenario = try Scenario(Self.manyToMany, to)
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .plan)
        #expect(error.details.count == 2)
    }
}
