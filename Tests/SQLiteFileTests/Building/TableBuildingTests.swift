import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Tables are built page by page", .timeLimit(.minutes(60))) struct TableBuildingTests {
    static let pageSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

    static func expectRows(_ rows: [MadeRow], of table: String, in store: NewStore, _ note: Comment? = nil) throws {
        let found = try store.rows("SELECT rowid, * FROM \(table) ORDER BY rowid")
        let wanted = rows.map { [.integer($0.rowid)] + $0.cells }
        let isSame = found == wanted
        #expect(isSame, note)
    }

    @Test("SQLite reads rows of all storage classes", arguments: pageSizes, [0, 1, 2])
    func storageClasses(pageSize: Int, autoVacuum: Int) throws {
        let values: [CellValue] = [
            .null, .integer(0), .integer(1), .integer(-1), .integer(.min), .integer(.max), .integer(300), .real(0.5),
            .real(-1e300), .text(""), .text("ü😀"), .text(String(repeating: "x", count: 700)), .blob([]),
            .blob(Array(0..<200)), .blob([UInt8](repeating: 9, count: 70_000)),
        ]
        let rowids: [Int64] = [.min, .min + 1, -1 << 40, -129, -1, 0, 1, 127, 128, 16_384, 1 << 31, 1 << 56, .max - 1]
        var rows: [MadeRow] = []
        for (index, rowid) in rowids.enumerated() {
            rows.append(MadeRow(rowid, [values[index % values.count], values[(index * 4 + 3) % values.count], .null]))
        }
        rows.append(MadeRow(.max, [.text("last"), values[14], values[11]]))
        let store = try NewStore(pageSize: pageSize, autoVacuum: autoVacuum, "CREATE TABLE t(a, b, c)")
        try store.build("t", rows, batch: 5)
        #expect(try store.check() == "ok")
        try Self.expectRows(rows, of: "t", in: store)
        #expect(try store.integer("PRAGMA auto_vacuum") == Int64(autoVacuum))
        #expect(try store.integer("PRAGMA freelist_count") == 0)
        #expect(try store.integer("PRAGMA page_count") == Int64(store.bytes.count / pageSize))
    }

    /// Payloads at which the spill formula changes.
    static func thresholds(pageSize: Int) -> [Int] {
        let maximum = pageSize - 35
        let minimum = (pageSize - 12) * 32 / 255 - 23
        let chain = pageSize - 4
        let chains = (1...3).flatMap { [minimum + $0 * chain, maximum + $0 * chain] }
        let corners = [2, 57, 60, 127, minimum, maximum] + chains
        return Set(corners.flatMap { $0 - 3...$0 + 3 }.filter { $0 >= 2 }).sorted()
    }

    @Test("payloads around every overflow threshold stay whole", arguments: pageSizes, [0, 2])
    func thresholds(pageSize: Int, autoVacuum: Int) throws {
        var rows: [MadeRow] = []
        for payload in Self.thresholds(pageSize: pageSize) {
            rows.append(MadeRow(Int64(rows.count) - 20, payload: payload))
        }
        let store = try NewStore(pageSize: pageSize, autoVacuum: autoVacuum, "CREATE TABLE t(a)")
        try store.build("t", rows, batch: 7)
        #expect(try store.check() == "ok")
        try Self.expectRows(rows, of: "t", in: store)
    }

    /// One row per leaf and nine bytes per key: 33 cells and one more child on an interior page of 512 bytes.
    @Test("any number of leaves gives a valid tree", arguments: [0, 1, 2])
    func everyCount(autoVacuum: Int) throws {
        let empty = try NewStore(pageSize: 512, autoVacuum: autoVacuum, "CREATE TABLE t(a)")
        let root = try empty.root("t")
        let rows = (0..<1_230).map { MadeRow(Int64($0) - 5_000, payload: 400 + $0 % 9) }
        var counts = Set(0...75)
        for pages in [3, 4, 10, 33, 34, 35] { counts.formUnion(34 * pages - 2...34 * pages + 3) }
        for count in counts.sorted() {
            let store = try NewStore(copying: empty)
            var writer = try DatabaseWriter(store.file())
            var tree = try TreeBuilder(.table, root: root, on: writer)
            for leaves in try NewStore.pack(Array(rows[..<count]), pageSize: 512, batch: count % 7 + 1) {
                try tree.add(leaves, to: &writer)
            }
            try tree.finish(with: &writer)
            try writer.finish(syncs: false)
            #expect(try store.check() == "ok", "\(count) leaves")
            #expect(try store.integer("SELECT count(*) FROM t") == Int64(count))
        }
    }

    @Test("the tree is valid for any cut into batches", arguments: [1, 2, 3, 10, 64, 999, 1_000])
    func cuts(batch: Int) throws {
        let rows = (0..<1_000).map {
            MadeRow(Int64($0) * 3 - 500, payload: 10 + $0 * 37 % 150 + ($0 % 50 == 0 ? 2_000 : 0))
        }
        for autoVacuum in [0, 1] {
            let store = try NewStore(pageSize: 512, autoVacuum: autoVacuum, "CREATE TABLE t(a)")
            try store.build("t", rows, batch: batch)
            #expect(try store.check() == "ok")
            try Self.expectRows(rows, of: "t", in: store)
        }
    }

    @Test("leaves are full: no more pages than VACUUM makes", arguments: [0, 2])
    func dense(autoVacuum: Int) throws {
        let rows = (1...20_000).map { MadeRow(Int64($0), payload: 20 + $0 * 37 % 150) }
        let store = try NewStore(pageSize: 4_096, autoVacuum: autoVacuum, "CREATE TABLE t(a)")
        try store.build("t", rows, batch: 20_000)
        let built = try store.integer("PRAGMA page_count")
        let connection = try store.open()
        try connection.execute("VACUUM")
        #expect(try NewStore.integer("PRAGMA page_count", on: connection) == built)
    }

    @Test("an empty tree leaves its root as it was", arguments: [0, 1])
    func empty(autoVacuum: Int) throws {
        let store = try NewStore(pageSize: 1_024, autoVacuum: autoVacuum, "CREATE TABLE t(a); CREATE TABLE u(a)")
        var before = try store.bytes
        try store.build("t", [])
        var after = try store.bytes
        // The change counter and the version-valid-for number.
        for field in [24..<28, 92..<96] {
            #expect(before[field] != after[field])
            before[field] = Data(count: 4)
            after[field] = Data(count: 4)
        }
        let isSame = before == after
        #expect(isSame)
        #expect(try store.check() == "ok")
    }

    @Test("several trees grow in turn in one file", arguments: [512, 4_096], [0, 1, 2])
    func several(pageSize: Int, autoVacuum: Int) throws {
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: autoVacuum, (0..<5).map { "CREATE TABLE t\($0)(a);" }.joined())
        let tables = (0..<5).map { table in
            (0..<table * table * 60).map { MadeRow(Int64($0 * (table + 1)), payload: 2 + ($0 * 97 + table) % 900) }
        }
        let roots = try (0..<5).map { try store.root("t\($0)") }
        var writer = try DatabaseWriter(store.file())
        var trees: [TreeBuilder] = []
        for root in roots { trees.append(try TreeBuilder(.table, root: root, on: writer)) }
        let packed = try tables.map { try NewStore.pack($0, pageSize: pageSize, batch: 70) }
        for turn in 0..<20 {
            for table in 0..<5 where turn < packed[table].count {
                try trees[table].add(packed[table][turn], to: &writer)
            }
        }
        for tree in trees.reversed() { try tree.finish(with: &writer) }
        try writer.finish(syncs: false)
        #expect(try store.check() == "ok")
        for table in 0..<5 { try Self.expectRows(tables[table], of: "t\(table)", in: store) }
    }
}
