import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Which tables are rebuilt from pages, and why the others aren't.
@Suite("Methods of tables", .timeLimit(.minutes(60)))
struct TableMethodTests {
    private static let first = model(
        entity("Note", attribute("text"), toMany("tags", "Tag", inverse: "notes")),
        entity("Tag", attribute("label"), toMany("notes", "Note", inverse: "tags")))
    private static let second = model(
        entity("Note", attribute("title", was: "text"), toMany("tags", "Tag", inverse: "notes")),
        entity("Tag", attribute("label"), attribute("new"), toMany("notes", "Note", inverse: "tags")))

    /// Most of the store's rows are notes, and all of these change.
    private static let third = model(
        entity(
            "Note", attribute("title", was: "text"), attribute("rank", optional: false, default: "7"),
            toMany("tags", "Tag", inverse: "notes"),
            """
            <fetchIndex name="by"><fetchIndexElement property="rank" type="Binary" order="ascending"/></fetchIndex>
            """),
        entity("Tag", attribute("label"), attribute("new"), toMany("notes", "Note", inverse: "tags")))
    private static let notes = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, printf('%.*c', 900, 'x') FROM n;
        """

    private func works(_ scenario: Scenario, _ engine: EngineChoice, output: String? = nil) throws -> [TableWork] {
        let request = scenario.request(to: "V2", output: output, engine: engine)
        let store = try SourceStore.reading(try StoreLocation(existing: scenario.store))
        defer { store.release() }
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        return try PreparedMigration(request, history: history, store: store).steps.flatMap(\.works)
    }

    @Test("room on the disk is asked for each index that is sorted at a time")
    func diskOfIndexes() throws {
        let scenario = try Scenario(Self.first, Self.third, rows: Self.notes)
        func bytes(jobs: Int) throws -> Int {
            let request = scenario.request(to: "V2", jobs: jobs, engine: .pages)
            let store = try SourceStore.reading(try StoreLocation(existing: scenario.store))
            defer { store.release() }
            let history = try ModelHistory(reading: scenario.models, edges: [:])
            let prepared = try PreparedMigration(request, history: history, store: store)
            let sorted = prepared.steps.flatMap(\.works).flatMap(\.indexes).count { $0.method == .sort }
            #expect(sorted == 2)
            return prepared.diskBytes
        }
        let (one, many) = (try bytes(jobs: 1), try bytes(jobs: 100))
        let length = try scenario.bytes(scenario.store).count
        #expect(one - PreparedMigration.leastReserve > length * 5 / 4)
        // One worker sorts the second index while the first is written.
        #expect(many == one)
        #expect(many - PreparedMigration.leastReserve <= length * 21 / 10)
    }

    private func methods(_ works: [TableWork]) -> [String: String] {
        Dictionary(
            works.filter { !$0.passes.isEmpty }.map { ($0.table, $0.reason ?? $0.method.rawValue) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test("tables whose records don't change are kept; with --engine statements nothing is")
    func kept() throws {
        let scenario = try Scenario(Self.first, Self.second)
        #expect(try methods(works(scenario, .pages)) == ["ZNOTE": "keep", "ZTAG": "keep", "Z_1TAGS": "keep"])
        #expect(try works(scenario, .statements).allSatisfy { $0.method == .statements && $0.reason == nil })
    }

    @Test("columns are appended only where Core Data appends them", arguments: [(640, "rebuild"), (1_509, "keep")])
    func appended(framework: Int, method: TableWork.Method.RawValue) throws {
        let scenario = try Scenario(Self.first, Self.second, framework: framework)
        let tag = try #require(try works(scenario, .pages).first { $0.table == "ZTAG" })
        #expect(tag.method.rawValue == method)
        #expect(tag.reason == (method == "keep" ? nil : "its framework version doesn't append columns"))
    }

    @Test("where most of the store changes, all tables are rebuilt")
    func rebuilt() throws {
        let scenario = try Scenario(Self.first, Self.third, rows: Self.notes)
        #expect(
            try methods(works(scenario, .pages)) == [
                "ZNOTE": "column ZRANK gets new values", "ZTAG": "most of the store is made anew",
                "Z_1TAGS": "most of the store is made anew",
            ])
    }

    @Test(
        "a table with records that only SQLite can make is filled by statements, where it isn't kept",
        arguments: [
            ("CREATE TABLE t (a, b)", nil), ("CREATE TABLE t (id INTEGER PRIMARY KEY, b)", nil),
            ("CREATE TABLE t (a, b UNIQUE)", nil),
            (
                "CREATE TABLE t (a, b COLLATE NOCASE UNIQUE)",
                "a constraint of it has an index that only SQLite can make"
            ),
            ("CREATE TABLE t (a PRIMARY KEY, b) WITHOUT ROWID", "its rows have no rowid of their own"),
            ("CREATE TABLE t (a, b AS (a + 1))", "it has a generated column"),
            ("CREATE TABLE t (a, b DEFAULT 3)", "it has a column with a DEFAULT"),
            ("CREATE TABLE t (rowid, oid, _rowid_)", "its rows are sorted"),
            ("CREATE TABLE t (a INTEGER PRIMARY KEY DESC, b)", "its rows get other rowids"),
        ] as [(String, String?)])
    func appTable(sql: String, reason: String?) throws {
        let scenario = try Scenario(Self.first, Self.third, rows: Self.notes + sql)
        let table = try #require(try works(scenario, .pages).first { $0.table == "t" })
        #expect(table.method == (reason == nil ? .rebuild : .statements))
        #expect(table.reason == reason ?? "most of the store is made anew")
        let kept = try Scenario(Self.first, Self.second, rows: sql)
        #expect(try methods(works(kept, .pages))["t"] == "keep")
    }

    @Test("tables with newer pages in a -wal are read by statements where the store isn't migrated in place")
    func wal() throws {
        let scenario = try Scenario(Self.first, Self.second, wal: true)
        // While a connection is open, its -wal isn't checkpointed.
        let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try writer.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (5, 2, 1)")
        let beside = try works(scenario, .pages, output: scenario.folder + "/New.sqlite")
        #expect(methods(beside)["ZTAG"] == "the store's -wal has newer pages")
        #expect(try methods(works(scenario, .pages))["ZTAG"] == "keep")
        try writer.execute("SELECT 1")
    }

    @Test("what a -wal has counts in the plan of a store that is migrated in place, as it will when it is folded in")
    func newerLeaves() throws {
        let scenario = try Scenario(Self.first, Self.third, wal: true)
        let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try writer.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (5, 2, 1); \(Self.notes)")
        let before = try methods(works(scenario, .pages))
        #expect(before["ZTAG"] == "most of the store is made anew")
        try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try methods(works(scenario, .pages)) == before)
    }

    @Test("the plan says that AUTOINCREMENT forbids the copy")
    func sequences() throws {
        let scenario = try Scenario(
            Self.first, Self.second, rows: "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)")
        #expect(try methods(works(scenario, .pages))["ZTAG"] == "a table has AUTOINCREMENT: a copy would keep its keys")
    }

    @Test("a store whose pages are refused keeps its locks after the plan", arguments: [true, false])
    func locks(isOwned: Bool) async throws {
        let scenario = try Scenario(Self.first, Self.second)
        // SQLite ignores what isn't a whole page.
        try scenario.change(scenario.store) { $0.append(contentsOf: [UInt8](repeating: 0, count: 100)) }
        let location = try StoreLocation(existing: scenario.store)
        let store = try isOwned ? SourceStore.owning(location) : SourceStore.reading(location)
        defer { store.release() }
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        let request = scenario.request(to: "V2", engine: .pages)
        let steps = try PreparedMigration(request, history: history, store: store).steps
        #expect(
            methods(steps.flatMap(\.works))["ZTAG"] == "the file's length isn't a multiple of its page size")
        // Locks don't exist between connections of one process.
        await #expect(processExitsWith: .exitCode(75)) { [path = scenario.store as String] in
            let writer = try Connection(path: path, mode: .readWrite, hardening: .own)
            try writer.setBusyTimeout(milliseconds: 0)
            do throws(SQLiteError) {
                try writer.begin(.exclusive)
                exit(0)
            } catch {
                exit(error.code == .busy ? 75 : 1)
            }
        }
        #expect(store.location == location)
    }
}
