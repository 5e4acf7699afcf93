import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Stock SQLite works with built files", .timeLimit(.minutes(600))) struct TortureTests {
    /// `CAUSEWAY_BUILD_SEEDS=FIRST-LAST` runs other seeds, and any number of them.
    private static let seeds: [UInt64] = {
        let bounds = ProcessInfo.processInfo.environment["CAUSEWAY_BUILD_SEEDS"]?.split(separator: "-").compactMap {
            UInt64($0)
        }
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return Array(1...24) }
        return Array(bounds[0]...bounds[1])
    }()

    /// SplitMix64: the same numbers in every run.
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var bits = state
            bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
            bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
            return bits ^ bits >> 31
        }

        mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

        mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
    }

    private struct Table {
        let name: String
        let rows: [MadeRow]
        let batch: Int
        /// Entries of the index on the first column, in its order.
        let entries: [[CellValue]]
    }

    /// Lengths near those at which a cell's form changes, and any others.
    private static func length(_ pageSize: Int, _ random: inout Random) -> Int {
        switch random.below(8) {
        case 0: random.below(4)
        case 1: max(0, pageSize - 50 + random.below(30))
        case 2: max(0, (pageSize - 12) * 32 / 255 - 40 + random.below(30))
        case 3: max(0, (pageSize - 12) * 64 / 255 - 40 + random.below(30))
        case 4: random.below(4) * (pageSize - 4) + random.below(pageSize)
        default: random.below(120)
        }
    }

    private static func cell(_ pageSize: Int, _ random: inout Random) -> CellValue {
        switch random.below(6) {
        case 0: return .null
        case 1: return .integer(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
        case 2: return .real(Double(random.below(1_000)) + 0.25)
        case 3: return .text(String(repeating: "t", count: length(pageSize, &random)))
        default:
            let start = random.below(251)
            return .blob(Array(MadeRow.pattern[start..<start + length(pageSize, &random)]))
        }
    }

    private static func table(_ name: String, _ pageSize: Int, _ random: inout Random) -> Table {
        let count = random.pick([0, 1, 2, 5, random.below(60), random.below(400), random.below(400)])
        var rowid: Int64 = random.pick([0, 1, -100, .min, -1 << 40, .max - 100_000])
        let rows = (0..<count).map { index in
            rowid += Int64(random.below(3) * random.below(50) + 1)
            // The first column's order is known: a number, or a blob that starts with the rest of it.
            let key: CellValue =
                index < count / 2
                ? .integer(Int64(index))
                : .blob(
                    [UInt8(index >> 8), UInt8(index & 0xff)] + MadeRow.pattern[0..<length(pageSize, &random)])
            return MadeRow(rowid, [key] + (0..<random.below(3)).map { _ in cell(pageSize, &random) })
        }
        // A short record's missing cells read as NULL.
        return Table(
            name: name, rows: rows, batch: random.below(80) + 1,
            entries: rows.map { [$0.cells[0], .integer($0.rowid)] })
    }

    @Test("random tables and indexes, changed by SQLite, stay whole", arguments: seeds)
    func torture(seed: UInt64) throws {
        var random = Random(state: seed)
        let pageSize = 512 << random.pick([0, 0, 0, 1, 1, 2, 3, 4, 7])
        let autoVacuum = random.below(3)
        let tables = (0..<random.below(3) + 1).map { Self.table("t\($0)", pageSize, &random) }
        let schema = tables.map { "CREATE TABLE \($0.name)(a, b, c); CREATE INDEX i\($0.name) ON \($0.name)(a);" }
        let store = try NewStore(pageSize: pageSize, autoVacuum: autoVacuum, schema.joined())
        try Self.build(tables, in: store, &random)
        let connection = try store.open()
        for table in tables {
            let rows = try NewStore.rows("SELECT rowid, * FROM \(table.name) ORDER BY rowid", on: connection)
            let wanted = table.rows.map { [.integer($0.rowid)] + ($0.cells + [.null, .null]).prefix(3) }
            let hasRows = rows == wanted
            #expect(hasRows)
            let entries = try NewStore.rows(
                "SELECT a, rowid FROM \(table.name) INDEXED BY i\(table.name) ORDER BY a", on: connection)
            let hasEntries = entries == table.entries
            #expect(hasEntries)
        }
        #expect(try NewStore.check(connection) == "ok", "built")
        for round in 0..<6 {
            let sql = Self.change(tables, pageSize, &random)
            try connection.execute(sql)
            #expect(try NewStore.check(connection) == "ok", "\(round): \(sql)")
        }
    }

    /// All trees in turn, in a random order.
    private static func build(_ tables: [Table], in store: NewStore, _ random: inout Random) throws {
        let roots = try tables.map { (try store.root($0.name), try store.root("i\($0.name)")) }
        var writer = try DatabaseWriter(store.file())
        var work: [(tree: TreeBuilder, packed: ArraySlice<PackedLeaves>)] = []
        for (table, roots) in zip(tables, roots) {
            let leaves = try NewStore.pack(table.rows, pageSize: writer.pageSize, batch: table.batch)
            work.append((try TreeBuilder(.table, root: roots.0, on: writer), leaves[...]))
            let index = try NewStore.pack(
                table.entries, pageSize: writer.pageSize, pagesPerBatch: random.pick([1, 3, 30]))
            work.append((try TreeBuilder(.index, root: roots.1, on: writer), index[...]))
        }
        while !work.isEmpty {
            let next = random.below(work.count)
            if let leaves = work[next].packed.popFirst() {
                try work[next].tree.add(leaves, to: &writer)
            } else {
                try work.remove(at: next).tree.finish(with: &writer)
            }
        }
        try writer.finish(syncs: false)
    }

    private static func change(_ tables: [Table], _ pageSize: Int, _ random: inout Random) -> String {
        let (table, other) = (random.pick(tables).name, random.pick(tables).name)
        let divisor = random.below(5) + 1
        return switch random.below(10) {
        case 0: "DELETE FROM \(table) WHERE rowid % \(divisor) = 0"
        case 1: "UPDATE \(table) SET b = zeroblob(\(length(pageSize, &random))) WHERE rowid % \(divisor) = 0"
        case 2: "UPDATE \(table) SET a = randomblob(\(length(pageSize, &random))) WHERE rowid % \(divisor) = 0"
        case 3: "INSERT INTO \(table)(a, b) SELECT b, c FROM \(other)"
        case 4: "PRAGMA incremental_vacuum(\(random.below(20)))"
        case 5: "VACUUM"
        case 6: "CREATE TABLE IF NOT EXISTS extra(a, b); INSERT INTO extra SELECT a, c FROM \(table)"
        case 7: "DROP TABLE IF EXISTS extra; PRAGMA incremental_vacuum"
        case 8: "DROP INDEX i\(table); CREATE INDEX i\(table) ON \(table)(a)"
        default: "BEGIN; DELETE FROM \(table); ROLLBACK; REINDEX i\(table)"
        }
    }
}
