import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// Stores made by random statements, read from their pages and by SELECT.
///
/// `CAUSEWAY_TREES_COUNT` stores, with seeds from `CAUSEWAY_TREES_SEED` on.
@Suite("Trees of random histories", .timeLimit(.minutes(60)))
struct RandomTreeTests {
    private static func setting(_ name: String, else value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
    }

    @Test("are read as SELECT reads them")
    func histories() throws {
        let first = Self.setting("CAUSEWAY_TREES_SEED", else: 1)
        for seed in first..<first + Self.setting("CAUSEWAY_TREES_COUNT", else: 10) {
            var history = try History(seed: UInt64(seed))
            try history.check()
        }
    }

    private struct History {
        private let seed: UInt64
        private var numbers: SeededNumbers
        private let fixture: PageFixture
        private static let columns = "rowid, a, b, c"

        init(seed: UInt64) throws {
            self.seed = seed
            var numbers = SeededNumbers(seed)
            let pageSize = 512 << Int.random(in: 0...(seed % 4 == 0 ? 7 : 3), using: &numbers)
            let script = TableReaderTests.start(pageSize, autoVacuum: Int.random(in: 0...2, using: &numbers))
            fixture = try PageFixture(
                script + [
                    "CREATE INDEX i ON t(a, b)", "CREATE INDEX j ON u(c DESC)",
                    "CREATE TABLE w(a, b, c, PRIMARY KEY(b, a)) WITHOUT ROWID",
                ])
            var rowid: Int64 = seed % 3 == 0 ? .min + 5 : seed % 3 == 1 ? .max - 60_000 : -200
            for _ in 0..<Int.random(in: 1...12, using: &numbers) {
                let longest = [10, 100, pageSize, 3 * pageSize].randomElement(using: &numbers) ?? 10
                let count = Int.random(in: 0...(longest > 1_000 ? 40 : 300), using: &numbers)
                let rows = numbers.rows(count, width: 3, longest: min(longest, 20_000), from: rowid)
                rowid = rows.last?.rowid ?? rowid
                try fixture.insert(rows, into: Bool.random(using: &numbers) ? "t" : "u", columns: Self.columns)
                try fixture.run([Self.statement(&numbers)])
            }
            self.numbers = numbers
        }

        private static func statement(_ numbers: inout SeededNumbers) -> String {
            let table = Bool.random(using: &numbers) ? "t" : "u"
            let modulus = Int.random(in: 1...9, using: &numbers)
            let rest = Int.random(in: 0..<modulus, using: &numbers)
            let part = "(rowid & 1023) % \(modulus) = \(rest)"
            return switch Int.random(in: 0..<9, using: &numbers) {
            case 0: "DELETE FROM \(table) WHERE \(part)"
            case 1: "UPDATE \(table) SET a = NULL WHERE \(part)"
            case 2: "UPDATE \(table) SET b = hex(zeroblob(abs(rowid % 300))) WHERE \(part)"
            case 3: "UPDATE \(table) SET a = c, c = a WHERE \(part)"
            case 4:
                "INSERT OR IGNORE INTO w SELECT c, ifnull(b, rowid), ifnull(a, rowid) FROM \(table) WHERE \(part) AND c IS NOT NULL"
            case 5: "PRAGMA incremental_vacuum(\(modulus))"
            case 6: "DELETE FROM w WHERE length(b) % \(modulus) = \(rest)"
            case 7: modulus == 9 ? "VACUUM" : "UPDATE w SET c = zeroblob(\(modulus * 90))"
            default: "DELETE FROM \(table) WHERE rowid > (SELECT max(rowid) FROM \(table)) - \(modulus * 20)"
            }
        }

        mutating func check() throws {
            let checked = try fixture.select("PRAGMA integrity_check", hasRowid: false)
            #expect(checked.first?.cells == [.text("ok")])
            let file = try fixture.pages()
            let claims = PageClaims(pageCount: file.layout.pageCount)
            for table in ["t", "u"] {
                let root = try fixture.root(of: table)
                let expected = try fixture.select("SELECT \(Self.columns) FROM \(table) ORDER BY rowid")
                #expect(try read(table: root, of: file, claims: claims, limits()) == expected, "seed \(seed), \(table)")
                let key = expected.randomElement(using: &numbers)?.rowid ?? 0
                let rest = try read(table: root, of: file, after: key, limits())
                #expect(rest == expected.filter { $0.rowid > key }, "seed \(seed), \(table) after \(key)")
            }
            for (index, query) in [
                ("i", "SELECT 0, a, b, rowid FROM t INDEXED BY i ORDER BY a, b, rowid"),
                ("j", "SELECT 0, c, rowid FROM u INDEXED BY j ORDER BY c DESC, rowid"),
                ("w", "SELECT 0, b, a, c FROM w ORDER BY b, a"),
            ] {
                let entries = try read(index: fixture.root(of: index), of: file, claims: claims, limits())
                #expect(try entries == fixture.select(query), "seed \(seed), \(index)")
            }
        }

        private mutating func limits() -> ReadingLimits {
            ReadingLimits(
                rows: [1, 3, 50, .max].randomElement(using: &numbers) ?? 1,
                bytes: [1, 700, 9_000, 1 << 20].randomElement(using: &numbers) ?? 1)
        }
    }
}
