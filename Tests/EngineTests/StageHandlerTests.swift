import CausewayEngine
import CausewayEvaluation
import CausewayModel
import CausewayObjects
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores
import Foundation
import Synchronization
import Testing

/// Handlers on a store: the rows that they see, and their changes.
@Suite("Stages: handlers", .timeLimit(.minutes(60)))
struct StageHandlerTests {
    static let library = model(
        entity(
            "Author", attribute("name", optional: false), attribute("born", "Integer 32", default: "1900"),
            attribute("bookCount", "Integer 64", extra: #"derived="YES" derivationExpression="books.@count""#),
            toMany("books", "Book", inverse: "author")),
        entity(
            "Book", attribute("title"),
            attribute("authorName", extra: #"derived="YES" derivationExpression="author.name""#),
            attribute("saved", "Date", extra: #"derived="YES" derivationExpression="now()""#),
            toOne("author", "Author", inverse: "books"), toMany("tags", "Tag", inverse: "books")),
        entity("Novel", parent: "Book", attribute("length", "Integer 32")),
        entity("Tag", attribute("word"), toMany("books", "Book", inverse: "tags")))

    /// Z_MAX is larger than any key in use: a deleted object's key isn't used again.
    static let rows = """
        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBORN, ZBOOKCOUNT) VALUES (1, 1, 3, 'Ann', 1950, 2), \
        (2, 1, 1, 'Bob', NULL, 0);
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR, ZAUTHORNAME, ZSAVED) VALUES \
        (1, 2, 1, 'One', 1, 'Ann', 5), (2, 3, 7, 'Two', 1, 'Ann', 5), (3, 2, 1, 'Three', NULL, NULL, 5);
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD) VALUES (1, 4, 1, 'red'), (2, 4, 1, 'blue');
        INSERT INTO Z_2TAGS (Z_2BOOKS, Z_4TAGS) VALUES (1, 1), (2, 1), (2, 2);
        UPDATE Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_NAME = 'Book';
        """

    /// A store in the state in which handlers run: with its indexes, without its triggers, in a transaction.
    final class Store: StageWriter {
        let folder: URL
        let layout: StoreLayout
        let connection: Connection
        var path: String { folder.appending(path: "Store.sqlite").path() }
        private(set) var commits = 0

        init(rows: String = StageHandlerTests.rows) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "causeway-stage-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "Store.sqlite").path()
            try Scenario.makeStore(at: path, model: StageHandlerTests.library, rows: rows)
            layout = try StoreLayout(
                model: try ModelReader.model(source: Array(StageHandlerTests.library.utf8)), frameworkVersion: 1509,
                hints: LayoutHints())
            connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            for trigger in try layout.statements().triggerStatements {
                try connection.execute("DROP TRIGGER \(trigger.name)")
            }
            try connection.begin(.immediate)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func prepare(_ sql: String) throws(SQLiteError) -> Statement { try connection.prepare(sql) }

        func commitIfDue() throws(SQLiteError) {
            try connection.commit()
            try connection.begin(.immediate)
            commits += 1
        }

        var isInTransaction: Bool { connection.isInTransaction }

        @discardableResult
        func run(
            cancellation: Cancellation = Cancellation(), label: String? = nil,
            _ handlers: CustomMigrationStage.Handler...
        ) throws -> StageOutcome {
            let scenario = try Scenario(StageHandlerTests.library, model(entity("Author", attribute("name"))))
            let history = try ModelHistory(reading: scenario.models, edges: [:])
            let hashes = try history.version(named: "V1").hashes.entities
            let metadata = StoreMetadata(
                uuid: Scenario.uuid, entityHashes: hashes, versionIdentifiers: [], frameworkVersion: 1509)
            let stages = try handlers.map { handler in
                let stage = CustomMigrationStage(migratingFrom: "V1", to: "V2", label: label, willMigrate: handler)
                let path = try StagedPath(
                    try StagedMigration([stage]), history: history, metadata: metadata, target: "V2", store: "Store")
                return try #require(path.runs.first?.handlers.first)
            }
            let run = StageHandlerRun(
                stages, layout: layout, writer: self, storeUUID: Scenario.uuid, externalData: folder.path(),
                cancellation: cancellation)
            return try run.run()
        }

        func rows(_ sql: String) throws -> [String] {
            try connection.commit()
            defer { try? connection.begin(.immediate) }
            return try Database.rows(sql, in: path)
        }
    }

    @Test("objects are made, changed, related and deleted; Z_OPT, keys and both ends of links follow")
    func changes() throws {
        let store = try Store()
        let outcome = try store.run { manager, stage in
            #expect(manager.versionName == "V1")
            #expect(stage.nextModel.name == "V2")
            let context = manager.context
            let cid = try context.insert("Author")
            try cid.set("name", to: "Cid")
            try context.forEach(FetchRequest("Book", where: "author = nil")) { book in
                try book.set("author", to: cid)
                try book.set("title", to: "Third")
            }
            let tag = try #require(try context.fetch(FetchRequest("Tag", where: "word = 'red'")).first)
            let novel = try context.insert("Novel")
            try novel.set("length", to: 12)
            try novel.add(tag, to: "tags")
            try novel.set("author", to: cid)
            try #require(try context.fetch(FetchRequest("Author", where: "name = 'Bob'")).first).delete()
        }
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZBORN, ZBOOKCOUNT FROM ZAUTHOR") == [
                "1|1|3|'Ann'|1950|2", "3|1|1|'Cid'|1900|2",
            ])
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZLENGTH, ZAUTHOR, ZAUTHORNAME FROM ZBOOK") == [
                "1|2|1|'One'|NULL|1|'Ann'", "2|3|7|'Two'|NULL|1|'Ann'", "3|2|2|'Third'|NULL|3|'Cid'",
                "41|3|1|NULL|12|3|'Cid'",
            ])
        #expect(try store.rows("SELECT * FROM Z_2TAGS ORDER BY 1, 2") == ["1|1", "2|1", "2|2", "41|1"])
        #expect(
            try store.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY") == [
                "'Author'|3", "'Book'|41", "'Novel'|0", "'Tag'|2",
            ])
        #expect(outcome.before.tables == ["ZAUTHOR": 2, "ZBOOK": 3, "ZTAG": 2, "Z_2TAGS": 3])
        #expect(outcome.after.tables == ["ZAUTHOR": 2, "ZBOOK": 4, "ZTAG": 2, "Z_2TAGS": 4])
        #expect(outcome.after.entities == [1: 2, 2: 2, 3: 2, 4: 2])
        #expect(outcome.findings(store.layout, found: outcome.after).isEmpty)
        #expect(
            outcome.findings(store.layout, found: outcome.before) == [
                "ZBOOK: 4 rows after the handlers, 3 in the result",
                "Z_2TAGS: 4 rows after the handlers, 3 in the result",
                "Novel: 2 rows after the handlers, 1 in the result",
            ])
    }

    @Test("now() is the time of the change, for rows that the handler made or changed")
    func savedDates() throws {
        let store = try Store()
        try store.run { manager, _ in
            _ = try manager.context.insert("Novel")
            try #require(try manager.context.fetch(FetchRequest("Book", where: "title = 'One'")).first)
                .set("title", to: "Uno")
        }
        #expect(try store.rows("SELECT Z_PK FROM ZBOOK WHERE ZSAVED <> 5") == ["1", "41"])
        let now = Date.now.timeIntervalSinceReferenceDate
        let seconds = try store.rows("SELECT CAST(ZSAVED AS INTEGER) FROM ZBOOK WHERE ZSAVED <> 5").compactMap(
            Double.init)
        #expect(seconds.count == 2)
        #expect(seconds.allSatisfy { abs($0 - now) < 3_600 })
    }

    @Test("only a handler's rows stay, nothing else of it, also for the next handler")
    func leavesNothing() throws {
        let store = try Store()
        let sorted: CustomMigrationStage.Handler = { manager, _ in
            var request = FetchRequest("Book")
            request.sort = [.init("title", ascending: false)]
            var titles: [String] = []
            try manager.context.forEach(request) { titles.append(try $0.string("title") ?? "") }
            #expect(titles == ["Two", "Three", "One"])
        }
        let schema = "SELECT type, name, sql FROM sqlite_schema"
        let before = try store.rows(schema)
        try store.run(sorted, sorted)
        #expect(try store.rows(schema) == before)
        var left = try store.connection.prepare("SELECT count(*) FROM sqlite_temp_schema")
        #expect(try left.step())
        #expect(left.int64(at: 0) == 0)
        #expect(try store.rows("SELECT sum(Z_OPT) FROM ZBOOK") == ["9"])
    }

    @Test("50,000 rows are read, changed and made in batches")
    func manyRows() throws {
        let many = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 2, 1, 'book ' || i FROM n;
            """
        let store = try Store(rows: many)
        let outcome = try store.run { manager, _ in
            var seen = 0
            try manager.context.forEach(FetchRequest("Book")) { book in
                let key = try book.string("title").map { String($0.dropFirst(5)) }
                let author = try manager.context.insert("Author")
                try author.set("name", to: key)
                try book.set("author", to: author)
                seen += 1
                if seen.isMultiple(of: 20_000) { try manager.save() }
            }
            #expect(seen == 50_000)
        }
        #expect(outcome.after.tables["ZAUTHOR"] == 50_000)
        #expect(store.commits >= 3)
        #expect(
            try store.rows(
                """
                SELECT count(*), sum(a.ZNAME = substr(b.ZTITLE, 6)), sum(a.ZBOOKCOUNT), sum(b.ZAUTHORNAME = a.ZNAME), \
                sum(b.Z_OPT), sum(a.Z_OPT) FROM ZBOOK b JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR AND a.Z_PK = b.Z_PK
                """) == ["50000|50000|50000|50000|100000|50000"])
        #expect(try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Author'") == ["50000"])
    }

    struct Broken: Error, CustomStringConvertible {
        var description: String { "row 2 has no meaning" }
    }

    @Test("a handler that fails half-way runs again on a clean store and gives the same result")
    func again() throws {
        let attempts = Mutex(0)
        let handler: CustomMigrationStage.Handler = { manager, _ in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            var request = FetchRequest("Book")
            request.fetchBatchSize = 1
            try manager.context.forEach(request) { book in
                let tag = try manager.context.insert("Tag")
                try tag.set("word", to: book.string("title"))
                try book.add(tag, to: "tags")
                if attempt == 1, try book.string("title") == "Two" { throw Broken() }
            }
        }
        let spoilt = try Store()
        let error = try failure { try spoilt.run(label: "Titles become tags", handler) }
        #expect(error.kind == .sourceData)
        #expect(error.message == "stage 1 “Titles become tags”, willMigrate at “V1”: row 2 has no meaning")
        #expect(!error.remedy.isEmpty)
        // The store has its first changes, so it can't be used any more.
        #expect(try spoilt.rows("SELECT count(*) FROM ZTAG") == ["3"])
        let clean = try Store()
        try clean.run(handler)
        #expect(attempts.withLock { $0 } == 2)
        #expect(
            try clean.rows("SELECT Z_PK, ZWORD FROM ZTAG") == [
                "1|'red'", "2|'blue'", "3|'One'", "4|'Two'", "5|'Three'",
            ])
        #expect(try clean.rows("SELECT count(*) FROM Z_2TAGS") == ["6"])
    }

    @Test("a failed save fails the handler, even if the handler ignores the error")
    func swallowed() throws {
        let store = try Store()
        try store.connection.execute("CREATE UNIQUE INDEX word ON ZTAG (ZWORD)")
        let error = try failure {
            try store.run { manager, _ in
                try manager.context.insert("Tag").set("word", to: "red")
                try? manager.save()
            }
        }
        #expect(error.kind == .sourceData)
        #expect(error.message.contains("willMigrate at “V1”"))
        #expect(error.message.contains("UNIQUE"))
    }

    @Test("a cancelled run reports the cancellation, whatever the handler throws")
    func cancelled() throws {
        let cancellation = Cancellation()
        let store = try Store()
        let error = try failure {
            try store.run(
                cancellation: cancellation,
                { manager, _ in
                    #expect(!manager.isCancelled)
                    cancellation.cancel()
                    #expect(manager.isCancelled)
                    throw Broken()
                })
        }
        #expect(error.kind == .interrupted)
    }

    enum Misuse: CaseIterable, CustomTestStringConvertible {
        case entity, property, type
        var testDescription: String { "\(self)" }
    }

    @Test("an error names stage, handler, entity and property", arguments: Misuse.allCases)
    func misuse(_ misuse: Misuse) throws {
        let error = try failure {
            try Store().run { manager, _ in
                switch misuse {
                case .entity: _ = try manager.context.insert("Publisher")
                case .property: try manager.context.insert("Tag").set("words", to: "x")
                case .type: try manager.context.insert("Author").set("born", to: .string("long ago"))
                }
            }
        }
        #expect(error.kind == .sourceData)
        #expect(error.message.hasPrefix("stage 1 “V1 → V2”, willMigrate at “V1”: "))
        #expect(["Publisher", "words", "born"].contains { error.message.contains($0) })
        #expect(!error.message.contains("long ago"))
    }
}
