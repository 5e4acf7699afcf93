import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Integers are patched where their size and an index's order stay", .timeLimit(.minutes(60))) struct PatchTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let old: Int64
        let new: Int64
        let fits: Bool
        var testDescription: String { "\(old) to \(new)" }

        init(_ old: Int64, _ new: Int64, _ fits: Bool) {
            (self.old, self.new, self.fits) = (old, new, fits)
        }
    }

    /// Around every stored size.
    private static let changes = [
        Change(0, 0, true), Change(1, 1, true), Change(0, 1, false), Change(1, 0, false), Change(1, 2, false),
        Change(2, 1, false), Change(2, 0, false), Change(2, 3, true), Change(-1, 2, true), Change(2, 127, true),
        Change(127, 128, false), Change(-128, 127, true), Change(-129, -128, false), Change(128, 32_767, true),
        Change(32_767, 32_768, false), Change(32_768, 8_388_607, true), Change(8_388_607, 8_388_608, false),
        Change(8_388_608, -2_147_483_648, true), Change(2_147_483_647, 2_147_483_648, false),
        Change(2_147_483_648, 140_737_488_355_327, true), Change(140_737_488_355_327, 140_737_488_355_328, false),
        Change(140_737_488_355_328, .min, true), Change(.max, .min, true), Change(.min, -1, false),
    ]

    @Test("a value changes if its stored size stays", arguments: changes)
    func sizes(change: Change) throws {
        guard change.fits else {
            let refusal = #expect(throws: PatchRefusal.self) {
                try IntegerMap([change.old: change.new], others: .stay)
            }
            #expect(refusal == .changesSize(old: change.old, new: change.new))
            return
        }
        let map = try IntegerMap([change.old: change.new], others: .stay)
        let store = try NewStore(
            pageSize: 512, autoVacuum: 0,
            """
            CREATE TABLE t(a, b); INSERT INTO t VALUES (7, \(change.old)), (8, 'x'), (9, NULL), (10, 1.5), (11, x'07');
            INSERT INTO t(a) VALUES (12); INSERT INTO t VALUES (13, 99999999999)
            """)
        let (copy, counts) = try Self.patch(store, [ColumnPatch(column: 1, map: map)])
        let expected = try store.rows("SELECT a, CASE b WHEN \(change.old) THEN \(change.new) ELSE b END FROM t")
        #expect(try copy.rows("SELECT a, b FROM t") == expected)
        #expect(try copy.check() == "ok")
        var column = PatchCounts.Column(values: [1])
        (column.nulls, column.others) = (2, 4)
        #expect(counts.trees.map(\.columns) == [[column]])
        #expect(counts.trees.map(\.records) == [7])
    }

    /// A copy in which the table `t` is patched.
    private static func patch(
        _ store: NewStore, _ columns: [ColumnPatch], index: [ColumnPatch] = []
    ) throws -> (NewStore, PatchCounts) {
        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        let source = PageFile(file, layout)
        var patches = [try TreePatch(TreeRoot(try store.root("t"), .table), columns)]
        if !index.isEmpty { patches.append(try TreePatch(TreeRoot(try store.root("i"), .index), index)) }
        let plan = try CopyPlan(of: source, keeping: [], patching: patches)
        let target = try NewStore(copying: store)
        try FileManager.default.removeItem(atPath: target.path)
        let copy = try DatabaseCopy.begin(source, plan, at: target.path, sharing: false)
        var counts = PatchCounts(patches)
        for chunk in 0..<copy.chunkCount { counts.add(try copy.copy(chunk)) }
        for chunk in 0..<copy.chunkCount { try copy.patchOverflow(chunk) }
        return (target, counts)
    }

    @Test("columns that a short record doesn't have stay missing")
    func shortRecords() throws {
        let store = try NewStore(
            pageSize: 512, autoVacuum: 0,
            "CREATE TABLE t(a); INSERT INTO t VALUES (5), (6); ALTER TABLE t ADD COLUMN b; INSERT INTO t VALUES (7, 5)")
        let map = try IntegerMap([5: 9], others: .refuse)
        let (copy, counts) = try Self.patch(store, [ColumnPatch(column: 1, map: map)])
        #expect(
            try copy.rows("SELECT a, b FROM t") == [
                [.integer(5), .null], [.integer(6), .null], [.integer(7), .integer(9)],
            ])
        #expect(counts.trees[0].columns[0].nulls == 2)
        #expect(counts.trees[0].columns[0].values == [1])
    }

    @Test("conditions see the values before any change; columns of one record change together")
    func conditions() throws {
        let store = try NewStore(
            pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a, b); INSERT INTO t VALUES (2, 2), (3, 2), (4, 2), (NULL, 2)"
        )
        let (up, down) = (
            try IntegerMap([2: 3, 3: 4, 4: 2], others: .refuse), try IntegerMap([2: 100], others: .refuse)
        )
        let (copy, counts) = try Self.patch(
            store,
            [
                ColumnPatch(column: 0, map: up),
                ColumnPatch(column: 1, map: up, where: .init(column: 0, values: [3])),
                ColumnPatch(column: 1, map: down, where: .init(column: 0, values: [2, 9_000_000_000])),
            ])
        #expect(
            try copy.rows("SELECT a, b FROM t") == [
                [.integer(3), .integer(100)], [.integer(4), .integer(3)], [.integer(2), .integer(2)],
                [.null, .integer(2)],
            ])
        #expect(counts.trees[0].columns.map(\.leftOut) == [0, 3, 3])
        #expect(counts.trees[0].columns[0].values == [1, 1, 1])
    }

    @Test("what could change an index's order, or be ambiguous, is refused ahead")
    func refusals() throws {
        let (table, index) = (TreeRoot(5, .table), TreeRoot(6, .index))
        func refusal(_ tree: TreeRoot, _ columns: [ColumnPatch]) -> PatchRefusal? {
            do throws(PatchRefusal) {
                _ = try TreePatch(tree, columns)
                return nil
            } catch {
                return error
            }
        }
        let rising = try IntegerMap([0: 0, 2: 3, 3: 9, 300: 301], others: .refuse)
        let falling = try IntegerMap([2: 9, 3: 3], others: .refuse)
        let merging = try IntegerMap([2: 9, 3: 9], others: .refuse)
        let open = try IntegerMap([2: 3], others: .stay)
        let condition = ColumnPatch.Condition(column: 1, values: [1])
        #expect(refusal(index, [ColumnPatch(column: 0, map: rising), ColumnPatch(column: 2, map: rising)]) == nil)
        #expect(refusal(table, [ColumnPatch(column: 0, map: falling)]) == nil)
        #expect(refusal(index, [ColumnPatch(column: 0, map: falling)]) == .changesOrder(old: 2, next: 3))
        #expect(refusal(index, [ColumnPatch(column: 0, map: merging)]) == .changesOrder(old: 2, next: 3))
        #expect(refusal(index, [ColumnPatch(column: 3, map: open)]) == .openMapOfIndex(column: 3))
        #expect(
            refusal(index, [ColumnPatch(column: 0, map: rising, where: condition)]) == .conditionInIndex(column: 0))
        let twice = [ColumnPatch(column: 0, map: open), ColumnPatch(column: 0, map: open, where: condition)]
        #expect(refusal(table, twice) == .ambiguous(column: 0))
    }

    private static func error(_ store: NewStore, _ columns: [ColumnPatch]) -> PatchError? {
        let error = #expect(throws: PageCopyError.self) { try patch(store, columns) }
        guard case .record(let cause) = error else { return nil }
        return cause
    }

    @Test("a value without a new one is an error that names page, row and value")
    func unknownValues() throws {
        let map = try IntegerMap([5: 6], others: .refuse)
        for (value, named): (String, Int64?) in [
            ("4", 4), ("0", 0), ("1", 1), ("'5'", nil), ("5.5", nil), ("x'05'", nil),
        ] {
            let store = try NewStore(
                pageSize: 512, autoVacuum: 0,
                "CREATE TABLE t(a, b); INSERT INTO t(rowid, b) VALUES (-3, 5), (8, \(value))")
            let error = Self.error(store, [ColumnPatch(column: 1, map: map)])
            #expect(error?.code == .unknownValue)
            #expect(error?.rowid == 8)
            #expect(error?.value == named)
            #expect(error?.column == 1)
            #expect(try error?.root == store.root("t"))
            #expect(error?.page == error?.root)
        }
    }

    /// Many values and far ones: found by place, and by halving.
    @Test("large tables of values", arguments: [1, 1_000, 10_000_000_000] as [Int64])
    func manyValues(step: Int64) throws {
        let values = (0..<500).map { (Int64($0) + 40) * 256 * step }
        let map = try IntegerMap(Dictionary(uniqueKeysWithValues: values.map { ($0, $0 + 1) }), others: .stay)
        let store = try NewStore(
            pageSize: 4_096, autoVacuum: 2, "CREATE TABLE t(a, b); CREATE INDEX i ON t(b, a)")
        let connection = try store.open()
        var statement = try connection.prepare("INSERT INTO t VALUES (?, ?)")
        for (number, value) in (values + values.map { $0 - 1 } + [.min, .max, 0, 1]).enumerated() {
            try statement.bind(Int64(number), at: 1)
            try statement.bind(value, at: 2)
            try statement.run()
        }
        let (copy, counts) = try Self.patch(store, [ColumnPatch(column: 1, map: map)])
        #expect(counts.trees[0].columns[0].values == values.map { _ in 1 })
        #expect(counts.trees[0].columns[0].others == 504)
        let found = try copy.rows("SELECT b FROM t").map(\.[0])
        #expect(found.prefix(500).elementsEqual(values.map { .integer($0 + 1) }))
        #expect(found.dropFirst(500).prefix(500).elementsEqual(values.map { .integer($0 - 1) }))
    }

    @Test("index pages of all levels are patched, keys on overflow pages too", arguments: [0, 2], [512, 4_096])
    func indexes(autoVacuum: Int, pageSize: Int) throws {
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: autoVacuum,
            "CREATE TABLE t(a, b, c); CREATE INDEX i ON t(a DESC, b, c)")
        let connection = try store.open()
        try connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
                + "INSERT INTO t SELECT 2 + i % 97, zeroblob(i % 131 * \(pageSize / 50)), 2 + i % 70 FROM n")
        try connection.close()
        let map = try IntegerMap(Dictionary(uniqueKeysWithValues: (2...98).map { ($0, $0 + 5) }), others: .refuse)
        let columns = [ColumnPatch(column: 0, map: map), ColumnPatch(column: 2, map: map)]
        let (copy, counts) = try Self.patch(store, columns, index: columns)
        #expect(try copy.check() == "ok")
        #expect(counts.trees.map(\.records) == [900, 900])
        #expect(counts.trees.allSatisfy { $0.longRecords > 100 })
        #expect(try copy.rows("SELECT a, b, c FROM t") == store.rows("SELECT a + 5, b, c + 5 FROM t"))
    }

    /// Serial types on overflow pages, a column on the border of two pages, and the end of the record after it.
    @Test("records whose header, or whose integer, goes over the end of the page", arguments: [512, 1_024])
    func longRecords(pageSize: Int) throws {
        let names = (0..<900).map { "c\($0)" }
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: 1, "CREATE TABLE t(\(names.joined(separator: ", ")), x, y)")
        let connection = try store.open()
        for filler in 0..<300 {
            try connection.execute(
                "INSERT INTO t(c0, c1, c899, x, y) VALUES (zeroblob(\(filler * 7)), 7, 0, 1000001, 'end')")
        }
        try connection.close()
        let map = try IntegerMap([7: 8, 1_000_001: 2_000_002], others: .refuse)
        let (copy, counts) = try Self.patch(
            store, [ColumnPatch(column: 900, map: map), ColumnPatch(column: 1, map: map)])
        // All but some that just fit on a page.
        #expect(counts.trees[0].longRecords > 250)
        #expect(counts.trees[0].columns.map(\.values) == [[0, 300], [300, 0]])
        #expect(try copy.check() == "ok")
        let expected = try store.rows("SELECT c0, c1 + 1, c899, x + 1000001, y FROM t")
        #expect(try copy.rows("SELECT c0, c1, c899, x, y FROM t") == expected)
    }

    /// Every byte of the patched tree's pages is changed once: an error, or a copy; never a trap or a hang.
    @Test("any changed byte of a patched tree is an error or doesn't matter", arguments: [false, true])
    func everyByte(isIndex: Bool) throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(b, a); CREATE INDEX i ON t(b, a)")
        try store.open().execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 16) "
                + "INSERT INTO t SELECT zeroblob(i % 31 * 60), 2 + i FROM n")
        let root = try store.root(isIndex ? "i" : "t")
        let map = try IntegerMap(Dictionary(uniqueKeysWithValues: (2...98).map { ($0, $0 + 5) }), others: .refuse)
        let patch = try TreePatch(TreeRoot(root, isIndex ? .index : .table), [ColumnPatch(column: 1, map: map)])
        let bytes = Array(try store.bytes)
        let target = try NewStore(copying: store)
        let file = try store.file()
        var refused = 0
        for offset in 512..<bytes.count {
            let mask: UInt8 = offset % 2 == 0 ? 0xff : 0x01
            var changed = bytes[offset] ^ mask
            try unsafe withUnsafeBytes(of: changed) { try unsafe file.write($0, at: Int64(offset)) }
            let reading = try OpenFile(store.path, mode: .read)
            let layout = try DatabaseLayout(of: reading)
            let source = PageFile(reading, layout)
            do {
                let plan = try CopyPlan(of: source, keeping: [], patching: [patch])
                let copy = try DatabaseCopy.resume(source, plan, at: target.path, isClone: true)
                _ = try copy.copy(0)
                try copy.patchOverflow(0)
            } catch {
                refused += 1
            }
            changed = bytes[offset]
            try unsafe withUnsafeBytes(of: changed) { try unsafe file.write($0, at: Int64(offset)) }
        }
        #expect(refused > 100)
    }
}
