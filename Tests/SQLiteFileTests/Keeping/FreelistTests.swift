import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Broken lists of free pages and damaged freed trees are refused", .timeLimit(.minutes(60)))
struct FreelistTests {
    /// A database with free pages, more than one trunk of them, and a tree to free.
    private static func store(autoVacuum: Int = 0) throws -> NewStore {
        let store = try NewStore(pageSize: 512, autoVacuum: autoVacuum, "CREATE TABLE t(a); CREATE TABLE u(a)")
        let connection = try store.open()
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
        try connection.execute(
            "\(rows) INSERT INTO t SELECT zeroblob(100 + i % 9 * 200) FROM n; "
                + "\(rows) INSERT INTO u SELECT zeroblob(450) FROM n; DELETE FROM u")
        try connection.close()
        return store
    }

    private static func plan(_ store: NewStore, freeing table: Bool = true) throws -> CopyPlan {
        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        let (t, u) = (TreeRoot(try store.root("t"), .table), TreeRoot(try store.root("u"), .table))
        return try CopyPlan(
            of: PageFile(file, layout), keeping: table ? [u] : [t, u], freeing: table ? [t] : [])
    }

    /// Four bytes of the file.
    private static func word(_ store: NewStore, at offset: Int) throws -> Int {
        try store.bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func write(_ value: Int, _ store: NewStore, at offset: Int) throws {
        let word = UInt32(truncatingIfNeeded: value).bigEndian
        let file = try store.file()
        try unsafe withUnsafeBytes(of: word) { try unsafe file.write($0, at: Int64(offset)) }
    }

    private static func error(_ store: NewStore) -> PageReadError? {
        #expect(throws: PageReadError.self) { try plan(store) }
    }

    /// Where the first trunk page begins.
    private static func trunk(_ store: NewStore) throws -> Int {
        (try word(store, at: 32) - 1) * 512
    }

    @Test("free pages before and those of the freed tree are all of the file's but the kept ones", arguments: [0, 2])
    func all(autoVacuum: Int) throws {
        let store = try Self.store(autoVacuum: autoVacuum)
        let plan = try Self.plan(store)
        let maps = autoVacuum == 0 ? 0 : try (store.bytes.count / 512 - 2) / 103 + 1
        // The schema and two roots stay.
        #expect(try plan.freed.pages.count == store.bytes.count / 512 - 3 - maps)
        #expect(try plan.freed.pages.count - plan.freed.treePageCount == Self.word(store, at: 36))
        #expect(try plan.freed.roots == [TreeRoot(store.root("t"), .table)])
    }

    @Test("lists that are too short, too long, run in a circle or leave the file")
    func lists() throws {
        func code(_ change: (NewStore, Int) throws -> Void) throws -> PageReadError.Code? {
            let store = try Self.store()
            try change(store, try Self.trunk(store))
            return Self.error(store)?.code
        }
        #expect(try code { store, _ in try Self.write(Self.word(store, at: 36) + 1, store, at: 36) } == .badFreeCount)
        #expect(try code { store, _ in try Self.write(Self.word(store, at: 36) - 1, store, at: 36) } == .badFreeCount)
        #expect(try code { store, _ in try Self.write(0, store, at: 32) } == .badFreeCount)
        #expect(try code { store, _ in try Self.write(1, store, at: 32) } == .badPageNumber)
        #expect(try code { store, _ in try Self.write(99_999, store, at: 32) } == .badPageNumber)
        #expect(try code { store, trunk in try Self.write(trunk / 512 + 1, store, at: trunk) } == .usedTwice)
        #expect(try code { store, trunk in try Self.write(0, store, at: trunk) } == .badFreeCount)
        #expect(try code { store, trunk in try Self.write(127, store, at: trunk + 4) } == .badFreeTrunk)
        #expect(try code { store, trunk in try Self.write(-1, store, at: trunk + 4) } == .badFreeTrunk)
        #expect(try code { store, trunk in try Self.write(0, store, at: trunk + 8) } == .badPageNumber)
        #expect(
            try code { store, trunk in
                try Self.write(Self.word(store, at: trunk + 8), store, at: trunk + 12)
            } == .usedTwice)
    }

    @Test("a page that is free and in a freed tree, or a root of a kept one")
    func usedTwice() throws {
        let store = try Self.store()
        let trunk = try Self.trunk(store)
        try Self.write(try store.root("t"), store, at: trunk + 8)
        #expect(Self.error(store)?.code == .usedTwice)
        try Self.write(try store.root("u"), store, at: trunk + 8)
        #expect(Self.error(store)?.code == .usedTwice)
        #expect(try Self.error(store)?.page == store.root("u"))
    }

    @Test("the pointer map must agree")
    func pointerMap() throws {
        let store = try Self.store(autoVacuum: 2)
        let free = try Self.word(store, at: Self.trunk(store) + 8)
        let map = (free - 2) / 103 * 103 + 2
        let offset = (map - 1) * 512 + 5 * (free - map - 1)
        var word = try Self.word(store, at: offset)
        word = word & 0xffffff | 5 << 24
        try Self.write(word, store, at: offset)
        let error = Self.error(store)
        #expect(error?.code == .badMapEntry)
        #expect(error?.page == free)
        #expect(error?.value == 5)
    }

    @Test("a tree that is freed twice, kept and freed, or page 1")
    func trees() throws {
        let store = try Self.store()
        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        let source = PageFile(file, layout)
        let (t, u) = (TreeRoot(try store.root("t"), .table), TreeRoot(try store.root("u"), .table))
        func code(_ kept: [TreeRoot], _ freed: [TreeRoot]) -> PageReadError.Code? {
            let error = #expect(throws: PageReadError.self) { try CopyPlan(of: source, keeping: kept, freeing: freed) }
            return error?.code
        }
        #expect(code([u], [t, t]) == .usedTwice)
        #expect(code([u, t], [t]) == .usedTwice)
        #expect(code([], [t, TreeRoot(1, .table)]) == .badPageNumber)
        #expect(code([], [t, TreeRoot(0, .table)]) == .badPageNumber)
        #expect(code([], [TreeRoot(u.page, .index)]) == .badKind)
        #expect(code([TreeRoot(99_999, .table)], [t]) == .badPageNumber)
    }

    /// Every byte of the freed tree's pages and of the list is changed once: an error or the same plan, no trap or
    /// hang.
    @Test("any changed byte of the list or of a freed tree is an error or doesn't matter")
    func everyByte() throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 2, "CREATE TABLE t(a); CREATE INDEX i ON t(a)")
        let connection = try store.open()
        try connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14) "
                + "INSERT INTO t SELECT zeroblob(80 + i * 60) FROM n; DELETE FROM t WHERE rowid % 4 = 0")
        try connection.close()
        let (table, index) = (try store.root("t"), try store.root("i"))
        let bytes = Array(try store.bytes)
        let file = try store.file()
        var refused = 0
        for offset in 0..<bytes.count {
            var changed = bytes[offset] ^ (offset % 2 == 0 ? 0xff : 0x01)
            try unsafe withUnsafeBytes(of: changed) { try unsafe file.write($0, at: Int64(offset)) }
            let reading = try OpenFile(store.path, mode: .read)
            if let layout = try? DatabaseLayout(of: reading) {
                let source = PageFile(reading, layout)
                do throws(PageReadError) {
                    let plan = try CopyPlan(
                        of: source, keeping: [], freeing: [TreeRoot(table, .table), TreeRoot(index, .index)])
                    #expect(plan.freed.pages.count <= bytes.count / 512)
                } catch {
                    refused += 1
                }
            }
            changed = bytes[offset]
            try unsafe withUnsafeBytes(of: changed) { try unsafe file.write($0, at: Int64(offset)) }
        }
        #expect(refused > 200)
    }
}
