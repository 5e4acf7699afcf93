import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// Random tables and indexes, sorted in any amount of memory and by CREATE INDEX.
///
/// `CAUSEWAY_SORTS_COUNT` tables, with seeds from `CAUSEWAY_SORTS_SEED` on.
@Suite("Indexes are sorted as CREATE INDEX sorts them", .timeLimit(.minutes(600)))
struct RandomIndexTests {
    private static func setting(_ name: String, else value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
    }

    @Test("entry for entry, and with the same bytes in any memory")
    func histories() throws {
        let first = Self.setting("CAUSEWAY_SORTS_SEED", else: 1)
        for seed in first..<first + Self.setting("CAUSEWAY_SORTS_COUNT", else: 16) {
            try Self.check(seed: seed)
        }
    }

    private static func check(seed: Int) throws {
        var numbers = SeededNumbers(UInt64(seed))
        let pageSize = 512 << Int.random(in: 0...(seed % 4 == 0 ? 7 : 3), using: &numbers)
        let autoVacuum = Int.random(in: 0...2, using: &numbers)
        let store = try store(seed, pageSize, &numbers)
        let enough = try store.build(pageSize: pageSize, autoVacuum: autoVacuum, memory: 16 << 20)
        try store.check(enough, "seed \(seed)")
        for memory in [1, 3_000, 1 << Int.random(in: 10...18, using: &numbers)] {
            let batch = Int.random(in: 1...300, using: &numbers)
            let other = try store.build(pageSize: pageSize, autoVacuum: autoVacuum, memory: memory, batch: batch)
            let isSame = try other.bytes == enough.bytes
            #expect(isSame, "seed \(seed), \(memory) bytes of memory")
        }
    }

    /// A table with columns of all affinities, one of them the rowid; records written before two columns were added.
    private static func store(_ seed: Int, _ pageSize: Int, _ numbers: inout SeededNumbers) throws -> SortedStore {
        let stock = try PageFixture([
            "PRAGMA page_size = \(pageSize)", "CREATE TABLE t(a INTEGER, k INTEGER PRIMARY KEY, b REAL, c TEXT, d)",
        ])
        let longest = [10, 100, pageSize, 3 * pageSize].randomElement(using: &numbers) ?? 10
        var rowid: Int64 = [-50, 0, .min, .max - 20_000, 1 << 40].randomElement(using: &numbers) ?? 0
        let sources: [String: IndexKey.Source] = [
            "a": .cell(0), "k": .rowid, "b": .cell(2), "c": .cell(3), "d": .cell(4),
            "e": .cell(5, default: .text("or else")), "f": .cell(6),
        ]
        func insert(width: Int, _ columns: String, _ numbers: inout SeededNumbers) throws {
            let count = Int.random(in: 0...(longest > 1_000 ? 60 : 700), using: &numbers)
            // Few values, so that keys are equal, or many.
            let pool = (0..<[3, 40, 1_000].randomElement(using: &numbers, else: 3)).map { _ in
                numbers.hardCell(longest: longest)
            }
            var rows: [PlainRow] = []
            for _ in 0..<count {
                rowid += Int64.random(in: 1...9, using: &numbers)
                rows.append(
                    PlainRow(rowid: rowid, cells: (0..<width).map { _ in pool.randomElement(using: &numbers) ?? .null })
                )
            }
            try stock.insert(rows, into: "t", columns: columns)
        }
        try insert(width: 4, "k, a, b, c, d", &numbers)
        try stock.run(["ALTER TABLE t ADD COLUMN e DEFAULT 'or else'", "ALTER TABLE t ADD COLUMN f"])
        try insert(width: 6, "k, a, b, c, d, e, f", &numbers)
        let indexes = (0..<5).map { number in
            let width = number < 2 ? 1 : Int.random(in: 1...4, using: &numbers)
            let names = ["a", "b", "c", "d", "e", "f", "k"].shuffled(using: &numbers)
            return MadeIndex(
                name: "i\(number)",
                columns: names[0..<width].map { (name: $0, isDescending: Bool.random(using: &numbers)) })
        }
        try stock.run(indexes.map(\.sql))
        let table = "CREATE TABLE t(a INTEGER, k INTEGER PRIMARY KEY, b REAL, c TEXT, d, e DEFAULT 'or else', f)"
        return SortedStore(stock: stock, table: table, sources: sources, indexes: indexes)
    }
}

extension Array {
    fileprivate func randomElement(using numbers: inout SeededNumbers, else value: Element) -> Element {
        randomElement(using: &numbers) ?? value
    }
}
