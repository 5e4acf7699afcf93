import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Whether a file's pages can be read directly", .timeLimit(.minutes(60)))
struct DatabaseLayoutTests {
    private static let sound: [UInt8] = {
        var bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 85)
        bytes[16] = 0x10
        (bytes[18], bytes[19]) = (1, 1)
        (bytes[21], bytes[22], bytes[23]) = (64, 32, 32)
        bytes[31] = 3
        (bytes[47], bytes[59]) = (4, 1)
        bytes[100] = 13
        return bytes
    }()

    private static func layout(
        length: Int64 = 3 * 4_096, _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws(SourceRefusal) -> DatabaseLayout {
        var bytes = sound
        change(&bytes)
        return try DatabaseLayout(firstBytes: bytes, fileLength: length)
    }

    @Test("files that are read: also with more pages than the header counts, and without a table")
    func readable() throws {
        #expect(try Self.layout().pageCount == 3)
        #expect(try Self.layout(length: 10 * 4_096).pageCount == 3)
        // The freelist, WAL mode, application numbers, an interior page.
        for (offset, value) in [(18, UInt8(2)), (35, 2), (39, 1), (63, 9), (71, 9), (100, 5)] {
            #expect(try Self.layout { $0[offset] = value }.pageCount == 3)
        }
        #expect(try Self.layout { ($0[47], $0[59]) = (0, 0) }.header.textEncoding == nil)
    }

    @Test("files that aren't read, and why")
    func refused() {
        func expect(_ refusal: SourceRefusal, length: Int64 = 3 * 4_096, _ change: (inout [UInt8]) -> Void) {
            #expect(throws: refusal) { try Self.layout(length: length, change) }
            #expect(!refusal.description.isEmpty)
        }
        expect(.notADatabase) { $0[0] = 0 }
        expect(.notADatabase) { $0.removeLast() }
        expect(.notADatabase) { $0.removeAll() }
        for offset in [18, 19, 44, 47, 21, 22, 23] { expect(.unknownFormat) { $0[offset] = 7 } }
        for value in [UInt8(0), 2, 3, 4] { expect(.notUTF8) { ($0[47], $0[58], $0[59]) = (4, 1, value) } }
        expect(.notUTF8) { $0[59] = 2 }
        expect(.reservedBytes(32)) { $0[20] = 32 }
        expect(.unknownPageCount) { $0[31] = 0 }
        expect(.unknownPageCount) { $0[27] = 1 }
        expect(.truncated(pages: 3, present: 2), length: 2 * 4_096) { _ in }
        expect(.truncated(pages: 3, present: 2), length: 3 * 4_096 - 1) { _ in }
        expect(.partialPage, length: 3 * 4_096 + 1) { _ in }
        for kind in [UInt8(0), 2, 10, 255] { expect(.noSchema) { $0[100] = kind } }
    }

    @Test("files that SQLite made: of every text encoding, page size and vacuum mode")
    func made() throws {
        for pageSize in TableReaderTests.pageSizes {
            for (mode, expected) in [DatabaseHeader.AutoVacuum.none, .full, .incremental].enumerated() {
                let fixture = try PageFixture(
                    TableReaderTests.start(pageSize, autoVacuum: mode) + ["INSERT INTO t VALUES(zeroblob(70000), 1, 2)"]
                )
                var layout = try fixture.pages().layout
                #expect(layout.pageSize == pageSize)
                #expect(layout.header.autoVacuum == expected)
                #expect(layout.header.textEncoding == .utf8)
                #expect(layout.header.reservedBytes == 0)
                #expect(layout.header.schemaFormat == 4)
                #expect(layout.header.changeCounter == layout.header.versionValidFor)
                #expect(try layout.header.largestRootPage == (mode == 0 ? 0 : fixture.root(of: "u")))
                #expect(try Int64(layout.pageCount) == fixture.connection().pragmaInteger("page_count"))
                try fixture.run(["DELETE FROM t"])
                layout = try fixture.pages().layout
                let free = try fixture.connection().pragmaInteger("freelist_count")
                #expect(Int64(layout.header.freelistCount) == free)
                #expect((layout.header.firstFreelistTrunk > 0) == (free > 0))
            }
        }
        for encoding in ["UTF-16le", "UTF-16be"] {
            let fixture = try PageFixture(["PRAGMA encoding = '\(encoding)'", "CREATE TABLE t(a)"])
            #expect(throws: SourceRefusal.notUTF8) { try fixture.pages() }
        }
    }

    @Test("pointer-map pages are where SQLite's file format says", arguments: TableReaderTests.pageSizes)
    func pointerMaps(pageSize: Int) throws {
        var bytes = Self.sound
        (bytes[16], bytes[17]) = pageSize == 65_536 ? (0, 1) : (UInt8(pageSize >> 8), 0)
        bytes.replaceSubrange(28..<32, with: [0, 64, 0, 0])
        let pending = (1 << 30) / pageSize + 1
        #expect(try !DatabaseLayout(firstBytes: bytes, fileLength: 1 << 40).isPointerMap(2))
        bytes[55] = 4
        let layout = try DatabaseLayout(firstBytes: bytes, fileLength: 1 << 40)
        #expect(layout.pendingBytePage == pending)
        #expect(!layout.mayHoldContent(pending))
        // "Page 2, then every J+1 pages, J = U/5"; if that is the pending-byte page, the next page.
        var expected: Set<Int> = []
        for page in stride(from: 2, to: pending + 20_000, by: pageSize / 5 + 1) {
            expected.insert(page == pending ? page + 1 : page)
        }
        for page in 1..<min(pending + 10_000, 40_000) {
            #expect(layout.isPointerMap(page) == expected.contains(page))
        }
        for page in pending - 1_000..<pending + 1_000 {
            #expect(layout.isPointerMap(page) == expected.contains(page), "\(page)")
        }
        for page in [0, 1, -1, layout.pageCount + 1] { #expect(!layout.mayHoldContent(page)) }
    }

    @Test("a tree with pages on both sides of the pending-byte page at 1 GiB", arguments: [512, 65_536], [0, 1])
    func pendingByte(pageSize: Int, autoVacuum: Int) throws {
        let fixture = try PageFixture(
            TableReaderTests.start(pageSize, autoVacuum: autoVacuum) + ["CREATE INDEX i ON t(b)"])
        let pending = (1 << 30) / pageSize + 1
        // SQLite adds new pages at the end: the file is extended without content to shortly before the byte.
        var header = try fixture.bytes
        let count = pending - 9
        header.replaceSubrange(28..<32, with: (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) })
        do {
            let file = try OpenFile(fixture.path, mode: .readWrite)
            try file.truncate(to: Int64(count) * Int64(pageSize))
            try unsafe header.withUnsafeBytes { try unsafe file.write($0, at: 0) }
        }
        var numbers = SeededNumbers(6)
        let rows = (0..<40).map { row in
            PlainRow(
                rowid: Int64(row),
                cells: [.blob(numbers.bytes(pageSize * (row % 3) / 2 + 90)), .integer(Int64(row % 7))])
        }
        try fixture.insert(rows, into: "t", columns: "rowid, a, b")
        let file = try fixture.pages()
        #expect(file.layout.pageCount > pending + 5)
        let claims = PageClaims(pageCount: file.layout.pageCount)
        let found = try read(table: fixture.root(of: "t"), of: file, claims: claims)
        #expect(found.map { PlainRow(rowid: $0.rowid, cells: Array($0.cells.prefix(2))) } == rows)
        let entries = try read(index: fixture.root(of: "i"), of: file, claims: claims)
        #expect(try entries == fixture.select("SELECT 0, b, rowid FROM t INDEXED BY i ORDER BY b, rowid"))
    }
}
