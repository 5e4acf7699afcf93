import CausewayPlatform
import Foundation
import Testing

@testable import CausewaySQLiteFile

/// Every page of a database belongs to something, and to nothing else.
@Suite("Owners of pages", .timeLimit(.minutes(60)))
struct PageOwnershipTests {
    /// Three trees with overflow pages, and free pages.
    private static func store(_ autoVacuum: Int) throws -> (store: NewStore, trees: [TreeRoot]) {
        let store = try NewStore(
            pageSize: 512, autoVacuum: autoVacuum,
            """
            CREATE TABLE t(a, b); CREATE INDEX ta ON t(a); CREATE TABLE u(a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
            INSERT INTO t SELECT printf('%.*c', i % 300, 'x'), zeroblob(i % 7 * 400) FROM n;
            INSERT INTO u SELECT b FROM t;
            DELETE FROM u WHERE rowid % 3;
            """)
        let trees = [
            TreeRoot(try store.root("t"), .table), TreeRoot(try store.root("ta"), .index),
            TreeRoot(try store.root("u"), .table),
        ]
        return (store, trees)
    }

    private static func pages(_ store: NewStore) throws -> PageFile {
        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        return PageFile(file, layout)
    }

    @Test("all are found", arguments: [0, 1, 2])
    func sound(autoVacuum: Int) throws {
        let (store, trees) = try Self.store(autoVacuum)
        let pages = try Self.pages(store)
        let claims = PageClaims(pageCount: pages.layout.pageCount)
        for tree in trees { try pages.claim(tree, claims) }
        try pages.checkOwnership(claims)
    }

    @Test("a tree that nobody names, or two do, is an error", arguments: [0, 1, 2])
    func unsound(autoVacuum: Int) throws {
        let (store, trees) = try Self.store(autoVacuum)
        let pages = try Self.pages(store)
        func code(_ trees: [TreeRoot]) -> PageReadError.Code? {
            let claims = PageClaims(pageCount: pages.layout.pageCount)
            let error = #expect(throws: PageReadError.self) {
                for tree in trees { try pages.claim(tree, claims) }
                try pages.checkOwnership(claims)
            }
            return error?.code
        }
        for missing in trees.indices {
            var others = trees
            others.remove(at: missing)
            #expect(code(others) == .unowned)
        }
        #expect(code(trees + [trees[1]]) == .usedTwice)
    }

    @Test("every page of a tree has the entry in the pointer map that it should have", arguments: [1, 2])
    func pointerMap(autoVacuum: Int) throws {
        let (store, trees) = try Self.store(autoVacuum)
        let file = try Self.pages(store)
        func claim() throws(PageReadError) -> PageSet {
            let pages = file
            let claims = PageClaims(pageCount: pages.layout.pageCount, checksPointerMap: true)
            let walk = TreePages(pages, claims: claims)
            for tree in trees { try walk.claim(tree) }
            return claims.pages
        }
        let owned = try claim()
        #expect(owned.count > 300)
        for page in owned where page % 7 == 0 {
            let map = file.layout.numbering.mapPage(of: page)
            for byte in [0, 4] {
                let offset = (map - 1) * 512 + 5 * (page - map - 1) + byte
                let old = try store.bytes[offset]
                let changed = try store.file()
                func write(_ byte: UInt8) throws {
                    try unsafe withUnsafeBytes(of: byte) { try unsafe changed.write($0, at: Int64(offset)) }
                }
                try write(old ^ 1)
                let error = #expect(throws: PageReadError.self) { try claim() }
                #expect(error?.code == .badMapEntry && error?.page == page)
                try write(old)
            }
        }
    }
}
