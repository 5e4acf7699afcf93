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

    private func works(_ scenario: Scenario, _ engine: EngineChoice, output: String? = nil) throws -> [TableWork] {
        let request = scenario.request(to: "V2", output: output, engine: engine)
        let store = try SourceStore.reading(try StoreLocation(existing: scenario.store))
        defer { store.release() }
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        return try PreparedMigration(request, history: history, store: store).steps.flatMap(\.works)
    }

    private func methods(_ works: [TableWork]) -> [String: String] {
        Dictionary(
            works.filter { !$0.passes.isEmpty }.map { ($0.table, $0.reason ?? $0.method.rawValue) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test("entity tables are rebuilt, join tables are not yet; with --engine statements nothing is")
    func ordinary() throws {
        let scenario = try Scenario(Self.first, Self.second)
        #expect(
            try methods(works(scenario, .pages)) == [
                "ZNOTE": "rebuild", "ZTAG": "rebuild", "Z_1TAGS": "its rows are sorted",
            ])
        #expect(try works(scenario, .statements).allSatisfy { $0.method != .rebuild && $0.reason == nil })
    }

    @Test(
        "a table with records that only SQLite can make is filled by statements",
        arguments: [
            ("CREATE TABLE t (a, b)", "rebuild"), ("CREATE TABLE t (id INTEGER PRIMARY KEY, b)", "rebuild"),
            ("CREATE TABLE t (a, b UNIQUE)", "a constraint of it has an index"),
            ("CREATE TABLE t (a PRIMARY KEY, b) WITHOUT ROWID", "its rows have no rowid of their own"),
            ("CREATE TABLE t (a, b AS (a + 1))", "it has a generated column"),
            ("CREATE TABLE t (a, b DEFAULT 3)", "it has a column with a DEFAULT"),
            ("CREATE TABLE t (rowid, oid, _rowid_)", "its rows are sorted"),
            ("CREATE TABLE t (a INTEGER PRIMARY KEY DESC, b)", "its rows get other rowids"),
        ])
    func appTable(sql: String, expected: String) throws {
        let scenario = try Scenario(Self.first, Self.second, rows: sql)
        let methods = try methods(works(scenario, .pages))
        #expect(methods["t"] == expected)
    }

    @Test("tables with newer pages in a -wal are read by statements where the store isn't migrated in place")
    func wal() throws {
        let scenario = try Scenario(Self.first, Self.second, wal: true)
        // While a connection is open, its -wal isn't checkpointed.
        let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try writer.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (5, 2, 1)")
        let beside = try works(scenario, .pages, output: scenario.folder + "/New.sqlite")
        #expect(methods(beside)["ZTAG"] == "the store's -wal has newer pages")
        #expect(try methods(works(scenario, .pages))["ZTAG"] == "rebuild")
        try writer.execute("SELECT 1")
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
