import Causeway
import CausewaySQLite
import Foundation
import Testing

/// Salvage of stores whose newest rows are in a `-wal` that is damaged.
@Suite("Salvage behind damage of a -wal", .timeLimit(.minutes(60)))
struct SalvageLogTests {
    /// A store with the rows of five commits in its `-wal`; returns how many rows of Harvest it has then.
    private static func store(in folder: borrowing TemporaryFolder) throws -> (path: String, rows: Int) {
        let origin = try SalvageTests.store(in: folder, rows: 2_000)
        let path = folder.path("Copy.sqlite")
        try Connection(path: origin, mode: .readWrite, hardening: .own).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let connection = try Connection(path: origin, mode: .readWrite, hardening: .own)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        for _ in 0..<5 {
            try connection.execute(
                """
                CREATE TEMP TABLE more AS SELECT * FROM ZHARVEST LIMIT 300;
                UPDATE more SET Z_PK = Z_PK + (SELECT max(Z_PK) FROM ZHARVEST);
                INSERT INTO ZHARVEST SELECT * FROM more; DROP TABLE more
                """)
        }
        // As a crash leaves them.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: origin + suffix, toPath: path + suffix)
        }
        var count = try connection.prepare("SELECT count(*) FROM ZHARVEST")
        let hasCount = try count.step()
        try #require(hasCount)
        return (path, Int(count.int64(at: 0)))
    }

    private static func warns(_ summary: SalvageSummary) -> Bool {
        summary.warnings.contains { $0.contains("SQLite doesn't read") }
    }

    /// Where a byte is changed: in the header, or in a frame of the first or of a later commit.
    @Test("every row is there, and a warning says how many pages SQLite doesn't read", arguments: [0.0, 0.05, 0.5])
    func damaged(place: Double) throws {
        let folder = try TemporaryFolder()
        let (path, rows) = try Self.store(in: folder)
        let whole = try StoreExport(store: path, output: folder.path("Whole")).salvage()
        #expect(!Self.warns(whole) && whole.entities.first { $0.name == "Harvest" }?.rows == rows)
        var log = try Data(contentsOf: URL(filePath: path + "-wal"))
        log[max(26, Int(Double(log.count) * place))] ^= 0xFF
        try log.write(to: URL(filePath: path + "-wal"))
        let summary = try StoreExport(store: path, output: folder.path("Out")).salvage()
        let harvest = try #require(summary.entities.first { $0.name == "Harvest" })
        // The leaf with the changed byte may have lost what it brought.
        #expect(harvest.rows >= rows - 100 && harvest.rows <= rows)
        #expect(harvest.rows == rows || place > 0)
        #expect(Self.warns(summary))
    }

    /// A store whose `-wal` has `commits` of these statements, and whose header no one can read.
    private static func store(
        in folder: borrowing TemporaryFolder, commits: Int, _ statement: (Int) -> String
    ) throws -> String {
        let origin = try SalvageTests.store(in: folder, rows: 2_000)
        let path = folder.path("Copy.sqlite")
        let connection = try Connection(path: origin, mode: .readWrite, hardening: .own)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint")
        for number in 0..<commits { try connection.execute(statement(number)) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: origin + suffix, toPath: path + suffix)
        }
        var log = try Data(contentsOf: URL(filePath: path + "-wal"))
        log[26] ^= 0xFF
        try log.write(to: URL(filePath: path + "-wal"))
        return path
    }

    private static func lines(_ folder: borrowing TemporaryFolder, _ name: String) throws -> [Substring] {
        let text = String(decoding: try Data(contentsOf: URL(filePath: folder.path("Out/" + name))), as: UTF8.self)
        return text.split(separator: "\n")
    }

    /// Salvages a store after 30 commits of these statements.
    private static func salvaged(
        in folder: borrowing TemporaryFolder, _ statement: (Int) -> String
    ) throws -> (SalvageSummary, harvest: SalvageSummary.Entity) {
        let path = try store(in: folder, commits: 30, statement)
        let summary = try StoreExport(store: path, output: folder.path("Out")).salvage()
        return (summary, try #require(summary.entities.first { $0.name == "Harvest" }))
    }

    @Test("rows that every old frame holds again are counted, and written once")
    func identical() throws {
        let folder = try TemporaryFolder()
        // Z_OPT isn't exported.
        let (summary, harvest) = try Self.salvaged(in: folder) { _ in
            "UPDATE ZHARVEST SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1"
        }
        #expect(Self.warns(summary) && harvest.copies == 0 && harvest.copiesFile == nil)
        #expect(harvest.identicalCopies >= 30 && harvest.identicalCopies.isMultiple(of: 30))
    }

    @Test("of copies that differ each is written once")
    func different() throws {
        let folder = try TemporaryFolder()
        let (_, harvest) = try Self.salvaged(in: folder) { number in
            "UPDATE ZHARVEST SET ZGRADE = \(100 + number % 3) WHERE Z_PK = 1"
        }
        let copies = try Self.lines(folder, try #require(harvest.copiesFile))
        #expect(harvest.copies == 3 && copies.count == 3 && Set(copies).count == 3)
        for grade in 100...102 { #expect(copies.contains { $0.contains("\"grade\":\(grade),") }) }
        #expect(harvest.identicalCopies % 30 == 27)
    }

    @Test("a log that SQLite reads to its end, and a transaction that was never committed, bring nothing back")
    func rolledBack() throws {
        let folder = try TemporaryFolder()
        let (path, rows) = try Self.store(in: folder)
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        // The last commit lacks its end.
        try log.dropLast(4_120).write(to: URL(filePath: path + "-wal"))
        let summary = try StoreExport(store: path, output: folder.path("Out")).salvage()
        let harvest = try #require(summary.entities.first { $0.name == "Harvest" })
        #expect(harvest.rows == rows - 300 && harvest.copies == 0 && !Self.warns(summary))
    }

    @Test("a file that ends before its last page is said to")
    func short() throws {
        let folder = try TemporaryFolder()
        let store = try SalvageTests.store(in: folder, rows: 2_000)
        try Connection(path: store, mode: .readWrite, hardening: .own).execute(
            "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        let bytes = try Data(contentsOf: URL(filePath: store))
        let pages = bytes.count / SalvageTests.pageSize
        try bytes.prefix((pages - 3) * SalvageTests.pageSize).write(to: URL(filePath: store))
        let summary = try StoreExport(store: store, output: folder.path("Out")).salvage()
        #expect(summary.warnings.contains("the file ends after \(pages - 3) of \(pages) pages"))
    }
}
