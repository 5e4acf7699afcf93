import Causeway
import CausewayGenerator
import CausewaySQLite
import Foundation
import Testing

/// How an export counts, stops and fails.
@Suite("Runs of exports", .timeLimit(.minutes(60)))
final class ExportRunTests {
    private let folder: TemporaryFolder
    private let store: String

    init() throws {
        folder = try TemporaryFolder()
        store = try SalvageTests.store(in: folder, rows: 500)
    }

    /// With more rows of one entity than progress waits for.
    private func large() throws -> String {
        for name in names { try FileManager.default.removeItem(atPath: folder.path(name)) }
        return try SalvageTests.store(in: folder, rows: 16_000)
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("."))) ?? []).sorted()
    }

    @Test("a stop is seen while no row fits, and leaves nothing", arguments: [ExportFormat.jsonl, .csv, .sqlite])
    func stopped(format: ExportFormat) throws {
        let store = try large()
        let before = names
        var export = StoreExport(store: store, output: folder.path("Out"), format: format)
        export.entities = ["Harvest"]
        export.predicate = "FALSEPREDICATE"
        var looks = 0
        let error = #expect(throws: MigrationError.self) {
            try export.run(progress: { now in
                looks += 1
                return now.rows < 1_000
            })
        }
        #expect(error?.code == .interrupted && looks > 0)
        #expect(error?.message == "the export was stopped")
        #expect(error?.outcome == "the store is untouched; the unfinished work is removed; run again")
        #expect(names == before)
    }

    @Test(
        "a stop is seen in the middle of a statement",
        arguments: [(ExportFormat.jsonl, true), (.jsonl, false), (.sqlite, false)])
    func stoppedStatement(format: ExportFormat, isStream: Bool) throws {
        try Connection(path: store, mode: .readWrite, hardening: .own).execute(
            """
            INSERT INTO ZHARVEST (Z_PK, Z_ENT, Z_OPT) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
            SELECT 1000000 + i, (SELECT Z_ENT FROM ZHARVEST LIMIT 1), 1 FROM n LIMIT 100000
            """)
        let before = names
        var export = StoreExport(store: store, output: isStream ? "-" : folder.path("Out"), format: format)
        export.entities = ["Harvest"]
        var isCounting = true
        let error = #expect(throws: MigrationError.self) {
            try export.run(progress: { now in
                isCounting = isCounting && now.entity.isEmpty && now.rows == 0
                return false
            })
        }
        #expect(isCounting)
        #expect(error?.code == .interrupted && error?.message == "the export was stopped", "\(error as Any)")
        #expect(names == before)
    }

    @Test("a salvage stops wherever it reads pages, and leaves nothing", arguments: [0, 1, 2], [false, true])
    func stoppedSalvage(looks: Int, hasSchema: Bool) throws {
        let store = try large()
        if !hasSchema {
            // All pages are looked through for what the first one tells.
            try write(Data(repeating: 0xA5, count: SalvageTests.pageSize), atPage: 1)
        }
        let before = names
        var left = looks
        let error = #expect(throws: MigrationError.self) {
            try StoreExport(store: store, output: folder.path("Out")).salvage { _ in
                left -= 1
                return left >= 0
            }
        }
        #expect(error?.code == .interrupted && error?.message == "the salvage was stopped", "\(error as Any)")
        #expect(error?.outcome.hasSuffix("run again") == true)
        #expect(names == before)
    }

    @Test("a salvage stops in the pages of a -wal that SQLite doesn't read, too")
    func stoppedInLog() throws {
        let copy = folder.path("Copy.sqlite")
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            INSERT INTO ZHARVEST (Z_PK, Z_ENT, Z_OPT) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
            SELECT 1000000 + i, (SELECT Z_ENT FROM ZHARVEST LIMIT 1), 1 FROM n LIMIT 200000
            """)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + suffix)
        }
        var log = try Data(contentsOf: URL(filePath: copy + "-wal"))
        log[26] ^= 0xFF
        try log.write(to: URL(filePath: copy + "-wal"))
        let before = names
        let error = #expect(throws: MigrationError.self) {
            try StoreExport(store: copy, output: folder.path("Out")).salvage { !$0.entity.contains("-wal") }
        }
        #expect(error?.code == .interrupted && error?.message == "the salvage was stopped", "\(error as Any)")
        #expect(names == before)
    }

    @Test("progress counts what is read, towards what there is to read")
    func progress() throws {
        let store = try large()
        func last(_ change: (inout StoreExport) -> Void) throws -> (rows: Int, total: Int) {
            var export = StoreExport(store: store, output: folder.path("Out-\(UUID().uuidString)"))
            export.entities = ["Harvest"]
            change(&export)
            var last = (rows: 0, total: 0)
            try export.run(progress: { now in
                last = (now.rows, now.total)
                return true
            })
            return last
        }
        let all = try StoreInspection(store: store).entities.first { $0.name == "Harvest" }?.rows ?? 0
        #expect(all > 2_048)
        let whole = try last { _ in }
        #expect(whole.total == all && whole.rows > all - 1_025)
        let filtered = try last { $0.predicate = "FALSEPREDICATE" }
        #expect(filtered.total == all && filtered.rows > all - 1_025)
        #expect(try last { $0.limit = 2_000 } == (1_024, 2_000))
        #expect(try last { ($0.limit, $0.predicate) = (2_000, "TRUEPREDICATE") } == (1_024, 0))
    }

    @Test("another database's log or journal is never read as the new file's", arguments: ["-wal", "-journal", "-shm"])
    func sidecars(suffix: String) throws {
        let output = folder.path("Out.sqlite")
        try Data("left".utf8).write(to: URL(filePath: output + suffix))
        let before = names
        let error = #expect(throws: MigrationError.self) {
            try StoreExport(store: store, output: output, format: .sqlite).run()
        }
        #expect(error?.code == .cannotCreate && error?.message == "\(output)\(suffix): already exists")
        #expect(names == before)
    }

    /// Root pages by table.
    private func roots(_ condition: String) throws -> [Int64] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        var list = try connection.prepare(
            "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND \(condition) ORDER BY name")
        var result: [Int64] = []
        while try list.step() { result.append(list.int64(at: 0)) }
        return result
    }

    private func write(_ content: Data, atPage page: Int64) throws {
        let file = try FileHandle(forUpdating: URL(filePath: store))
        try file.seek(toOffset: UInt64(page - 1) * UInt64(SalvageTests.pageSize))
        try file.write(contentsOf: content)
        try file.close()
    }

    @Test("damage that only a table of links shows is the store's, not the new file's")
    func links() throws {
        for page in try roots("name GLOB 'Z_[0-9]*'") {
            try write(Data(repeating: 0xA5, count: SalvageTests.pageSize), atPage: page)
        }
        let error = #expect(throws: MigrationError.self) {
            try StoreExport(store: store, output: folder.path("Out.sqlite"), format: .sqlite).run()
        }
        #expect(error?.code == .sourceData, "\(error as Any)")
        #expect(error?.message.hasPrefix(store) == true && error?.message.contains("new store") == false)
    }

    @Test("a salvage gives every row where the page of the store's metadata leads to a large table")
    func wrongRoot() throws {
        let whole = try StoreExport(store: store, output: folder.path("Whole")).salvage()
        let (table, metadata) = (try roots("name = 'ZPLANT'"), try roots("name = 'Z_METADATA'"))
        let start = try #require(table.first.map { Int($0 - 1) * SalvageTests.pageSize })
        let content = try Data(contentsOf: URL(filePath: store))[start..<start + SalvageTests.pageSize]
        try write(content, atPage: try #require(metadata.first))
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.rowCount == whole.rowCount && whole.rowCount >= 500)
    }
}
