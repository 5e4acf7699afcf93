import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Pages get valid numbers", .timeLimit(.minutes(60))) struct PageNumberingTests {
    /// One pointer-map page for 102 pages of 512 bytes: every page of a chain comes before and after one.
    @Test("overflow chains skip pointer-map pages, wherever they start", arguments: [1, 2])
    func chainsOverMaps(autoVacuum: Int) throws {
        let empty = try NewStore(pageSize: 512, autoVacuum: autoVacuum, "CREATE TABLE t(a)")
        for start in 0..<104 {
            let store = try NewStore(copying: empty)
            var rows = (0..<start).map { MadeRow(Int64($0), payload: 450) }
            for row in 0..<6 { rows.append(MadeRow(Int64(1_000 + row), payload: [508 * 3, 508 * 101, 600][row % 3])) }
            try store.build("t", rows, batch: 3)
            #expect(try store.check() == "ok", "\(start)")
        }
    }

    struct Place: Sendable, CustomTestStringConvertible {
        let pageSize: Int
        let autoVacuum: Int
        /// Pages before the pending-byte page at which the tree's pages start.
        let distance: Int

        var testDescription: String { "\(pageSize) bytes, auto_vacuum \(autoVacuum), \(distance) before" }

        static let all: [Place] = [
            Place(pageSize: 65_536, autoVacuum: 0, distance: 0), Place(pageSize: 65_536, autoVacuum: 0, distance: 1),
            Place(pageSize: 65_536, autoVacuum: 2, distance: 0), Place(pageSize: 65_536, autoVacuum: 2, distance: 1),
            Place(pageSize: 65_536, autoVacuum: 1, distance: 3), Place(pageSize: 65_536, autoVacuum: 2, distance: 30),
            Place(pageSize: 4_096, autoVacuum: 2, distance: 5),
            // The pending-byte page would be a pointer-map page, which then comes one later.
            Place(pageSize: 1_024, autoVacuum: 1, distance: 4),
        ]
    }

    @Test("the pending-byte page stays unused, in a file of over 1 GiB", arguments: Place.all)
    func pendingByte(place: Place) throws {
        let pageSize = place.pageSize
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: place.autoVacuum, "CREATE TABLE t(a); CREATE TABLE u(a)")
        let root = try store.root("t")
        let pending = 0x4000_0000 / pageSize + 1
        let first = try Self.jump(store, to: pending - place.distance)
        var writer = try DatabaseWriter(store.file(), resuming: first.state)
        var tree = try TreeBuilder(.table, root: root, on: writer)
        let rows = (0..<90).map { MadeRow(Int64($0), payload: $0 % 3 == 0 ? 3 * pageSize + $0 : pageSize / 2) }
        for leaves in try NewStore.pack(rows, pageSize: pageSize, batch: 12) { try tree.add(leaves, to: &writer) }
        try tree.finish(with: &writer)
        try writer.finish(syncs: false)
        try Self.free(store, pages: first.count + 1..<pending - place.distance, isAutoVacuum: place.autoVacuum != 0)

        let connection = try store.open()
        #expect(try NewStore.check(connection) == "ok")
        #expect(try NewStore.integer("SELECT count(*) FROM t", on: connection) == 90)
        try Self.expectZeros(store, page: pending, pageSize: pageSize)
        // SQLite continues in the file.
        try connection.execute(
            """
            INSERT INTO u SELECT a FROM t; DELETE FROM t WHERE rowid % 5 = 1; PRAGMA incremental_vacuum(20);
            INSERT INTO u SELECT zeroblob(100000) FROM t;
            """)
        #expect(try NewStore.check(connection) == "ok")
    }

    /// The state of a writer that has used all pages before `page`, and the file's earlier pages; the file has a hole.
    static func jump(_ store: NewStore, to page: Int) throws -> (state: DatabaseWriter.State, count: Int) {
        var writer = try DatabaseWriter(store.file())
        let count = writer.pageCount
        var state = try writer.checkpoint()
        state.nextPage = page
        try store.file().truncate(to: Int64(page - 1) * Int64(state.pageSize))
        return (state, count)
    }

    /// Puts the pages of the hole on the freelist (https://www.sqlite.org/fileformat2.html#the_freelist), so that every
    /// page is accounted for.
    static func free(_ store: NewStore, pages: Range<Int>, isAutoVacuum: Bool) throws {
        let pageSize = Int(try store.integer("PRAGMA page_size"))
        let file = try store.file()
        func write(_ words: [UInt32], at offset: Int64) throws {
            try unsafe words.map(\.bigEndian).withUnsafeBytes { try unsafe file.write($0, at: offset) }
        }
        let group = isAutoVacuum ? pageSize / 5 + 1 : .max
        if isAutoVacuum { try setFree(pages, group, pageSize, of: file) }
        var free: [UInt32] = []
        for page in pages where (page - 2) % group != 0 || !isAutoVacuum { free.append(UInt32(page)) }
        let perTrunk = pageSize / 4 - 7
        for trunk in stride(from: 0, to: free.count, by: perTrunk) {
            let end = min(trunk + perTrunk, free.count)
            let next = end < free.count ? free[end] : 0
            let words = [next, UInt32(end - trunk - 1)] + free[trunk + 1..<end]
            try write(words, at: Int64(free[trunk] - 1) * Int64(pageSize))
        }
        try write([free.first ?? 0, UInt32(free.count)], at: 32)
    }

    /// Entries of free pages.
    private static func setFree(
        _ pages: Range<Int>, _ group: Int, _ pageSize: Int, of file: borrowing OpenFile
    ) throws {
        for map in stride(from: 2, to: pages.upperBound, by: group) {
            var bytes = [UInt8](repeating: 0, count: pageSize)
            let offset = Int64(map - 1) * Int64(pageSize)
            _ = try unsafe bytes.withUnsafeMutableBytes { try unsafe file.read(into: $0, at: offset) }
            for page in max(map + 1, pages.lowerBound)..<max(map + 1, min(map + group, pages.upperBound)) {
                bytes[5 * (page - map - 1)] = 2
            }
            try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, at: offset) }
        }
    }

    private static func expectZeros(_ store: NewStore, page: Int, pageSize: Int) throws {
        var bytes = [UInt8](repeating: 1, count: pageSize)
        let file = try store.file()
        let count = try unsafe bytes.withUnsafeMutableBytes { bytes in
            try unsafe file.read(into: bytes, at: Int64(page - 1) * Int64(pageSize))
        }
        #expect(count == pageSize)
        #expect(bytes.allSatisfy { $0 == 0 })
    }

    @Test("a file has at most as many pages as SQLite allows")
    func full() throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a)")
        let root = try store.root("t")
        let state = try Self.jump(store, to: 4_294_967_290).state
        var writer = try DatabaseWriter(store.file(), resuming: state)
        var tree = try TreeBuilder(.table, root: root, on: writer)
        let rows = (0..<10).map { MadeRow(Int64($0), payload: 450) }
        let packed = try NewStore.pack(rows, pageSize: 512, batch: 5)
        try tree.add(packed[0], to: &writer)
        do throws(PageBuildError) {
            try tree.add(packed[1], to: &writer)
            Issue.record("too many pages")
        } catch {
            #expect(error.code == .full)
        }
    }

    @Test("files that can't be extended page by page are refused")
    func refusals() throws {
        func code(_ change: (NewStore) throws -> Void) throws -> PageBuildError.Code? {
            let store = try NewStore(pageSize: 1_024, autoVacuum: 0, "CREATE TABLE t(a)")
            try change(store)
            let file = try store.file()
            do throws(PageBuildError) {
                _ = try DatabaseWriter(file)
                return nil
            } catch {
                return error.code
            }
        }
        func write(_ bytes: [UInt8], at offset: Int64) -> (NewStore) throws -> Void {
            { store in try unsafe bytes.withUnsafeBytes { try unsafe store.file().write($0, at: offset) } }
        }
        #expect(try code { _ in } == nil)
        #expect(try code(write([0], at: 0)) == .unsuitable)
        #expect(try code(write([2, 2], at: 18)) == .unsuitable)
        #expect(try code(write([8], at: 20)) == .unsuitable)
        #expect(try code(write([0, 0, 0, 9], at: 32)) == .unsuitable)
        #expect(try code(write([0, 0, 0, 1], at: 36)) == .unsuitable)
        #expect(try code(write([0, 0, 0, 9], at: 28)) == .unsuitable)
        #expect(try code { try $0.file().truncate(to: 1_024) } == .unsuitable)
        #expect(try code { try $0.file().truncate(to: 0) } == .unsuitable)
        #expect(try code(write([1], at: 4_000)) == .unsuitable)
        #expect(try code { try $0.open().execute("CREATE TABLE u(a); DROP TABLE u") } == nil)
    }

    @Test("errors of the file system are reported with their reason")
    func fails() throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a)")
        let root = try store.root("t")
        var writer = try DatabaseWriter(OpenFile(store.path, mode: .read))
        var tree = try TreeBuilder(.table, root: root, on: writer)
        let packed = try NewStore.pack((0..<9).map { MadeRow($0, payload: 450) }, pageSize: 512, batch: 9)
        do throws(PageBuildError) {
            try tree.add(packed[0], to: &writer)
            Issue.record("a file that can't be written was written")
        } catch {
            #expect(error.code == .file)
            #expect(error.cause?.operation == "write")
            #expect(error.description.contains(store.path))
        }
    }

    @Test("only the root of an empty tree of the same kind is filled")
    func roots() throws {
        let store = try NewStore(
            pageSize: 512, autoVacuum: 1,
            "CREATE TABLE t(a); CREATE INDEX i ON t(a); CREATE TABLE u(a); INSERT INTO u VALUES (1)")
        let (table, index, full) = (try store.root("t"), try store.root("i"), try store.root("u"))
        let writer = try DatabaseWriter(store.file())
        _ = try TreeBuilder(.table, root: table, on: writer)
        _ = try TreeBuilder(.index, root: index, on: writer)
        for (kind, root): (TreeKind, Int) in [
            (.index, table), (.table, index), (.table, full), (.table, 0), (.table, 1), (.table, 2), (.table, 99),
        ] {
            let error = #expect(throws: PageBuildError.self) { _ = try TreeBuilder(kind, root: root, on: writer) }
            #expect(error?.code == .unsuitable)
        }
    }

    @Test("rows that don't ascend are refused, in a batch and between batches")
    func order() throws {
        for rowids: [Int64] in [[1, 1], [2, 1], [.max, .min], [-1, -2]] {
            let error = #expect(throws: PageBuildError.self) {
                _ = try NewStore.pack(rowids.map { MadeRow($0, payload: 5) }, pageSize: 512, batch: 9)
            }
            #expect(error?.code == .outOfOrder)
            let store = try NewStore(pageSize: 512, autoVacuum: 1, "CREATE TABLE t(a)")
            let error2 = #expect(throws: PageBuildError.self) {
                try store.build("t", rowids.map { MadeRow($0, payload: 5) }, batch: 1)
            }
            #expect(error2?.code == .outOfOrder)
        }
    }
}
