import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

/// Every kind of damage, and the message about it.
@Suite("Damage of a page is named", .timeLimit(.minutes(60)))
struct PageDamageTests {
    /// A table whose root is page 2: an interior page above leaves; the row 1000 has a chain of overflow pages.
    private static func fixture() throws -> PageFixture {
        try PageFixture([
            "PRAGMA page_size = 512", "CREATE TABLE t(a)",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
            INSERT INTO t SELECT 'a row of some length' FROM n
            """,
            "INSERT INTO t(rowid, a) VALUES(1000, zeroblob(1800))",
        ])
    }

    /// A file's bytes with pages by number, 512 bytes each.
    private struct Pages {
        var bytes: [UInt8]

        subscript(page: Int, offset: Int) -> UInt8 {
            get { bytes[(page - 1) * 512 + offset] }
            set { bytes[(page - 1) * 512 + offset] = newValue }
        }

        func word(_ page: Int, _ offset: Int) -> Int { Int(self[page, offset]) << 8 | Int(self[page, offset + 1]) }

        mutating func set(_ page: Int, _ offset: Int, _ value: Int) {
            self[page, offset] = UInt8(truncatingIfNeeded: value >> 8)
            self[page, offset + 1] = UInt8(truncatingIfNeeded: value)
        }

        /// The child of an interior page's cell.
        func child(_ page: Int, _ cell: Int) -> Int { word(page, word(page, 12 + cell * 2) + 2) }
        /// The last child.
        func lastChild(_ page: Int) -> Int { word(page, 10) }
        /// Where a leaf's cell begins.
        func cell(_ page: Int, _ index: Int) -> Int { word(page, 8 + index * 2) }
    }

    private func error(root: Int = 2, _ damage: (inout Pages) -> Void) throws -> PageReadError? {
        let fixture = try Self.fixture()
        var pages = Pages(bytes: try fixture.bytes)
        damage(&pages)
        try fixture.overwrite(pages.bytes)
        do {
            let rows = try read(table: root, of: fixture.pages())
            #expect(rows.count == 41)
            return nil
        } catch let error as PageReadError {
            #expect(error.description.contains("page \(error.page)"))
            #expect(error.description.contains("integrity_check"))
            return error
        }
    }

    private func expect(
        _ code: PageReadError.Code, page: Int? = nil, root: Int = 2, _ damage: (inout Pages) -> Void
    ) throws {
        let error = try error(root: root, damage)
        #expect(error?.code == code)
        if let page { #expect(error?.page == page) }
    }

    @Test("a sound file has no damage")
    func sound() throws {
        #expect(try error { _ in } == nil)
    }

    @Test("pages of another kind, and pages that aren't b-tree pages")
    func kinds() throws {
        try expect(.badKind, page: 2) { $0[2, 0] = 2 }
        try expect(.badKind, page: 2) { $0[2, 0] = 77 }
        try expect(.badKind) { $0[$0.child(2, 1), 0] = 10 }
        try expect(.badPageNumber, root: 0) { _ in }
        try expect(.badPageNumber, root: 900) { _ in }
        try expect(.badPageNumber, page: 2) { $0.set(2, 10, 900) }
        try expect(.badPageNumber, page: 2) { $0.set(2, 10, 1) }
        try expect(.badPageNumber, page: 2) { $0.set(2, $0.word(2, 12) + 2, 0) }
    }

    @Test("trees that loop, or use a page twice")
    func loops() throws {
        try expect(.usedTwice, page: 2) { $0.set(2, 10, 2) }
        try expect(.usedTwice) { $0.set(2, 10, $0.child(2, 0)) }
    }

    @Test("leaves that aren't equally deep, and pages without cells")
    func depth() throws {
        // An interior page above the last leaf takes the leaf's place.
        try expect(.unequalDepth) { pages in
            let last = pages.lastChild(2)
            for offset in 0..<512 { pages[last, offset] = pages[2, offset] }
        }
        try expect(.empty, page: 2) { $0.set(2, 3, 0) }
        try expect(.empty) { pages in
            let leaf = pages.child(2, 0)
            pages.set(leaf, 3, 0)
        }
    }

    @Test("a tree with more levels than SQLite reads")
    func tooDeep() throws {
        let fixture = try Self.fixture()
        var pages = Pages(bytes: try fixture.bytes)
        let first = pages.bytes.count / 512 + 1
        // Each page's first child is the next one.
        for page in first..<first + 30 {
            pages.bytes += [UInt8](repeating: 0, count: 512)
            pages[page, 0] = 5
            pages.set(page, 3, 1)
            pages.set(page, 5, 507)
            pages.set(page, 10, 3)
            pages.set(page, 12, 507)
            pages.set(page, 509, page + 1)
            pages[page, 511] = 50
        }
        pages.set(1, 30, pages.bytes.count / 512)
        try fixture.overwrite(pages.bytes)
        let found = #expect(throws: PageReadError.self) { try read(table: first, of: fixture.pages()) }
        #expect(found?.code == .tooDeep)
        #expect(found?.page == first + 19)
    }

    @Test("cells and free blocks that leave the page or overlap, and bytes between them")
    func cells() throws {
        try expect(.badHeader) { $0.set($0.child(2, 0), 5, 8) }
        try expect(.badHeader) { $0.set($0.child(2, 0), 5, 513) }
        try expect(.badCell) { $0.set($0.child(2, 0), 8, 510) }
        try expect(.badCell) { $0.set($0.child(2, 0), 8, 20) }
        try expect(.badCell) { $0[$0.child(2, 0), $0.cell($0.child(2, 0), 0)] = 100 }
        try expect(.overlap) { $0.set($0.child(2, 0), 8, $0.cell($0.child(2, 0), 1)) }
        try expect(.unaccounted) { $0[$0.child(2, 0), 7] = 1 }
        try expect(.badFreeblock) { $0.set($0.child(2, 0), 1, 10) }
        try expect(.badFreeblock) { $0.set($0.child(2, 0), 1, 510) }
        try expect(.overlap) { pages in
            let leaf = pages.child(2, 0)
            let cell = pages.cell(leaf, 0)
            // A free block of four bytes within the first cell.
            for (offset, byte) in [UInt8(0), 0, 0, 4].enumerated() { pages[leaf, cell + 6 + offset] = byte }
            pages.set(leaf, 1, cell + 6)
        }
    }

    @Test("rowids out of order, or outside the range that the page above gives")
    func order() throws {
        try expect(.rowidOutOfOrder) { $0[$0.child(2, 0), $0.cell($0.child(2, 0), 3) + 1] = 1 }
        try expect(.rowidOutOfOrder) { $0[$0.child(2, 1), $0.cell($0.child(2, 1), 0) + 1] = 2 }
        try expect(.rowidOutOfOrder, page: 2) { $0[2, $0.word(2, 12) + 4] = 127 }
        try expect(.rowidOutOfOrder) { $0[2, $0.word(2, 12) + 4] = 3 }
    }

    @Test("overflow chains that are too short or too long, loop or leave the file")
    func chains() throws {
        let fixture = try Self.fixture()
        let pages = Pages(bytes: try fixture.bytes)
        let leaf = pages.lastChild(2)
        // The largest row is the leaf's last; its local part ends with the chain's first page.
        let cell = pages.cell(leaf, pages.word(leaf, 3) - 1)
        let local = 39 + (1_803 - 39) % 508
        let pointer = cell + 4 + (local <= 477 ? local : 39) + 2
        let first = pages.word(leaf, pointer)
        try expect(.chainTooShort, page: leaf) { $0.set(leaf, pointer, 0) }
        try expect(.badPageNumber, page: leaf) { $0.set(leaf, pointer, 999) }
        try expect(.chainTooShort, page: first) { $0.set(first, 2, 0) }
        try expect(.usedTwice, page: first) { $0.set(first, 2, first) }
        try expect(.usedTwice, page: 2) { $0.set(first, 2, 2) }
        try expect(.badPageNumber, page: first) { $0[first, 0] = 1 }
        var last = first
        while pages.word(last, 2) != 0 { last = pages.word(last, 2) }
        try expect(.chainTooLong, page: last) { $0.set(last, 2, first) }
        try expect(.tooLong, page: leaf) { pages in
            for (offset, byte) in [UInt8(0x87), 0xff, 0xff, 0xff, 0x70].enumerated() {
                pages[leaf, cell + offset] = byte
            }
        }
        try expect(.tooLong, page: leaf) { pages in
            for (offset, byte) in [UInt8(0x88), 0x80, 0x80, 0x80, 0x00].enumerated() {
                pages[leaf, cell + offset] = byte
            }
        }
    }

    @Test("two trees that share a page")
    func crossLinked() throws {
        let fixture = try Self.fixture()
        try fixture.run(["CREATE TABLE u AS SELECT rowid AS id, a FROM t"])
        let root = try fixture.root(of: "u")
        var pages = Pages(bytes: try fixture.bytes)
        pages.set(root, pages.word(root, 12) + 2, pages.child(2, 0))
        try fixture.overwrite(pages.bytes)
        let file = try fixture.pages()
        let claims = PageClaims(pageCount: file.layout.pageCount)
        #expect(try read(table: 2, of: file, claims: claims).count == 41)
        let error = #expect(throws: PageReadError.self) { try read(table: root, of: file, claims: claims) }
        #expect(error?.code == .usedTwice)
    }

    @Test("an error is repeated, and no rows follow it")
    func staysFailed() throws {
        let fixture = try Self.fixture()
        var pages = Pages(bytes: try fixture.bytes)
        pages[pages.child(2, 1), 7] = 3
        try fixture.overwrite(pages.bytes)
        let file = try fixture.pages()
        var reader = TableReader(file, root: 2, claims: PageClaims(pageCount: file.layout.pageCount))
        let batch = RowBatch()
        #expect(try reader.fill(batch, rows: 1, bytes: 1))
        var errors: [PageReadError] = []
        for _ in 0..<60 {
            batch.removeAll()
            do throws(PageReadError) { _ = try reader.fill(batch, rows: 1, bytes: 1) } catch { errors.append(error) }
        }
        #expect(errors.count > 10)
        #expect(Set(errors).count == 1)
    }

    /// The last leaf but one ends with the largest rowid, and the root says so too.
    @Test("leaves after the largest rowid, wherever a batch ends", arguments: [1, 2, 5, 1_000])
    func afterLargest(rows: Int) throws {
        let fixture = try PageFixture([
            "PRAGMA page_size = 512", "CREATE TABLE t(a)",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
            INSERT INTO t(rowid, a) SELECT 4611686018427387904 + i, 'a row of some length' FROM n
            """,
        ])
        var pages = Pages(bytes: try fixture.bytes)
        let last = pages.word(2, 3) - 1
        let leaf = pages.child(2, last)
        // The cell's rowid comes after a length of one byte, the interior page's after a child of four.
        let places = [
            (leaf, pages.cell(leaf, pages.word(leaf, 3) - 1) + 1), (2, pages.word(2, 12 + last * 2) + 4),
        ]
        for (page, place) in places {
            for offset in 0..<9 { pages[page, place + offset] = offset == 0 ? 0xbf : 0xff }
        }
        try fixture.overwrite(pages.bytes)
        var rowid: Int64 = 0
        let error = #expect(throws: PageReadError.self) {
            _ = try read(table: 2, of: fixture.pages(), ReadingLimits(rows: rows)) { batch in
                rowid = batch.rowid(at: batch.count - 1)
            }
        }
        #expect(error?.code == .rowidOutOfOrder)
        #expect(error?.page == 2)
        if rows == 1 { #expect(rowid == .max) }
    }

    @Test("pages are claimed once, whatever the number of threads")
    func claims() throws {
        let fixture = try Self.fixture()
        let file = try fixture.pages()
        let claims = PageClaims(pageCount: file.layout.pageCount)
        let outcomes = UnsafeMutableBufferPointer<Bool>.allocate(capacity: 8)
        defer { unsafe outcomes.deallocate() }
        unsafe outcomes.initialize(repeating: false)
        nonisolated(unsafe) let results = unsafe outcomes
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            unsafe results[index] = (try? read(table: 2, of: file, claims: claims)) != nil
        }
        #expect(unsafe outcomes.count { $0 } == 1)
    }
}
