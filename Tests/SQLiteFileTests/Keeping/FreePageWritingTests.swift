import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("The writer fills free pages first", .timeLimit(.minutes(60))) struct FreePageWritingTests {
    private static let count = 300

    /// An empty table `t`, a full one `u` between two runs of free pages, and free pages at the end.
    private static func store(pageSize: Int = 512, autoVacuum: Int, freed: Int = count) throws -> NewStore {
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: autoVacuum,
            "CREATE TABLE t(a); CREATE TABLE u(a); CREATE TABLE first(a); CREATE TABLE last(a)")
        let connection = try store.open()
        for (table, rows) in [("first", freed), ("u", 50), ("last", freed)] {
            try connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) "
                    + "INSERT INTO \(table) SELECT zeroblob(\(pageSize - 60)) FROM n")
        }
        // The pages that hold the list are among the first ones freed.
        try connection.execute("DROP TABLE first")
        try connection.execute("DROP TABLE last")
        try connection.close()
        return store
    }

    private static func rows(_ count: Int, pageSize: Int = 512) -> [MadeRow] {
        (0..<count).map { MadeRow(Int64($0), payload: $0 % 20 == 3 ? pageSize * 5 : pageSize - 60) }
    }

    private static func check(_ store: NewStore, _ rows: [MadeRow], _ note: Comment? = nil) throws {
        let connection = try store.open()
        #expect(try NewStore.check(connection) == "ok", note)
        let found = try NewStore.rows("SELECT rowid, a FROM t ORDER BY rowid", on: connection)
        let isSame = found == rows.map { [.integer($0.rowid)] + $0.cells }
        #expect(isSame, note)
        #expect(try NewStore.integer("SELECT count(*) FROM u", on: connection) == 50)
    }

    /// Free pages are used up, and then the file grows.
    @Test("any number of pages", arguments: [0, 2], [0, 1, 2, 5, 100, 280, 400, 560, 600, 700])
    func fills(autoVacuum: Int, count: Int) throws {
        let store = try Self.store(autoVacuum: autoVacuum)
        let before = try store.bytes.count
        let rows = Self.rows(count)
        try store.build("t", rows, batch: 13)
        try Self.check(store, rows)
        // 20 rows take 24 pages.
        let pages = count + count / 20 * 5
        let after = try store.bytes.count
        if pages < 550 { #expect(after <= before) }
        if pages < 200 { #expect(after < before) }
        if pages > 620 { #expect(after > before) }
        let connection = try store.open()
        let left = try NewStore.integer("PRAGMA freelist_count", on: connection)
        #expect(left <= 620 - min(620, pages) || left < 20)
        try connection.execute(
            "INSERT INTO u SELECT a FROM t; PRAGMA incremental_vacuum(30); DELETE FROM t WHERE rowid % 3 = 0; VACUUM")
        #expect(try NewStore.check(connection) == "ok")
    }

    @Test("lists of many trunks, page sizes and cuts", arguments: [512, 4_096, 65_536], [0, 1, 2])
    func cuts(pageSize: Int, autoVacuum: Int) throws {
        for freed in [1, 2, 60, 125, 130] {
            let empty = try Self.store(pageSize: pageSize, autoVacuum: autoVacuum, freed: freed)
            for count in [0, 1, freed / 2, freed, freed * 2 - 1, freed * 2, freed * 2 + 1, freed * 3] {
                let store = try NewStore(copying: empty)
                let rows = Self.rows(count, pageSize: pageSize)
                try store.build("t", rows, batch: 7)
                try Self.check(store, rows, "\(freed) free twice, \(count) rows")
                let connection = try store.open()
                try connection.execute("PRAGMA incremental_vacuum; INSERT INTO t SELECT a FROM u")
                #expect(try NewStore.check(connection) == "ok", "\(freed) free twice, \(count) rows")
            }
        }
    }

    /// The state after some batches; then the run writes on, or to its end, and is lost. What is then in the file
    /// doesn't count.
    @Test("a run goes on from any state, wherever the earlier one ended", arguments: [0, 2], [20, 250, 480, 800])
    func resumes(autoVacuum: Int, count: Int) throws {
        let empty = try Self.store(autoVacuum: autoVacuum)
        let root = try empty.root("t")
        let rows = Self.rows(count)
        let undisturbed = try NewStore(copying: empty)
        try undisturbed.build("t", rows, batch: 40)
        let wanted = try undisturbed.bytes
        let batches = (count + 39) / 40
        for (stop, lost) in (0..<batches).flatMap({ stop in [stop, batches].map { (stop, $0) } }) {
            let store = try NewStore(copying: empty)
            let leaves = { try NewStore.pack(rows, pageSize: 512, batch: 40) }
            var writer = try DatabaseWriter(store.file())
            var tree = try TreeBuilder(.table, root: root, on: writer)
            var saved: (DatabaseWriter.State, TreeState)?
            for (number, leaves) in try leaves().enumerated() where number < max(stop, lost) {
                if number == stop { saved = (try writer.checkpoint(), tree.state) }
                try tree.add(leaves, to: &writer)
            }
            let (state, treeState) = try saved ?? (writer.checkpoint(), tree.state)
            if lost == batches {
                try tree.finish(with: &writer)
                try writer.finish(syncs: false)
            } else {
                _ = consume writer
            }
            var next = try DatabaseWriter(store.file(), resuming: state)
            if stop == 0 { try next.empty(root, .table) }
            var rest = try TreeBuilder(resuming: treeState, on: next)
            for leaves in try leaves().dropFirst(stop) { try rest.add(leaves, to: &next) }
            try rest.finish(with: &next)
            try next.finish(syncs: false)
            let isSame = try store.bytes == wanted
            #expect(isSame, "from batch \(stop), lost at \(lost)")
        }
        try Self.check(undisturbed, rows)
    }

    @Test("a list that is broken, or another one than the state's, is refused")
    func refusals() throws {
        let store = try Self.store(autoVacuum: 0)
        let trunk = try store.bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
        var writer = try DatabaseWriter(store.file())
        let state = try writer.checkpoint()
        _ = consume writer
        #expect(state.firstFreelistTrunk == trunk)
        #expect(state.freelistCount > 600)
        func code(_ state: DatabaseWriter.State) throws -> PageBuildError.Code? {
            let file = try store.file()
            do throws(PageBuildError) {
                _ = try DatabaseWriter(file, resuming: state)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try code(state) == nil)
        for change: (inout DatabaseWriter.State) -> Void in [
            { $0.firstFreelistTrunk += 1 }, { $0.firstFreelistTrunk = 0 }, { $0.freelistCount += 1 },
            { $0.freelistCount = 0 }, { $0.nextFreePage = -1 }, { $0.nextFreePage = 1 << 40 },
            { $0.firstFreelistTrunk = -1 }, { $0.firstFreelistTrunk = 1 << 40 },
        ] {
            var other = state
            change(&other)
            #expect(try code(other) == .badState, "\(other)")
        }
        // Used pages that are missing aren't free ones that were cut off.
        try store.file().truncate(to: 3 * 512)
        #expect(try code(state) == .badState)
        try unsafe [UInt8](repeating: 0xff, count: 8).withUnsafeBytes {
            try unsafe store.file().write($0, at: Int64(trunk - 1) * 512)
        }
        #expect(try code(state) == .badState)
        let broken = try Self.store(autoVacuum: 0)
        try unsafe [UInt8](repeating: 0xff, count: 8).withUnsafeBytes {
            try unsafe broken.file().write($0, at: Int64(trunk - 1) * 512)
        }
        let error = #expect(throws: PageBuildError.self) { _ = try DatabaseWriter(broken.file()) }
        #expect(error?.code == .unsuitable)
    }

    /// A file of over 1 GiB, almost all of it free: it is copied with its table freed, and filled again, over the page
    /// that SQLite never uses and behind it.
    @Test("free pages around the pending-byte page", arguments: PageNumberingTests.Place.all)
    func pendingByte(place: PageNumberingTests.Place) throws {
        let pageSize = place.pageSize
        let store = try NewStore(
            pageSize: pageSize, autoVacuum: place.autoVacuum, "CREATE TABLE t(a); CREATE TABLE u(a)")
        let (root, other) = (try store.root("t"), try store.root("u"))
        let pending = 0x4000_0000 / pageSize + 1
        let first = try PageNumberingTests.jump(store, to: pending - place.distance)
        var writer = try DatabaseWriter(store.file(), resuming: first.state)
        var tree = try TreeBuilder(.table, root: root, on: writer)
        let rows = (0..<90).map { MadeRow(Int64($0), payload: $0 % 3 == 0 ? 3 * pageSize + $0 : pageSize / 2) }
        for leaves in try NewStore.pack(rows, pageSize: pageSize, batch: 12) { try tree.add(leaves, to: &writer) }
        try tree.finish(with: &writer)
        try writer.finish(syncs: false)
        try PageNumberingTests.free(
            store, pages: first.count + 1..<pending - place.distance, isAutoVacuum: place.autoVacuum != 0)

        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        let source = PageFile(file, layout)
        // A million small pages take a while.
        for refills in pageSize < 4_096 ? [true] : [false, true] {
            let plan = try CopyPlan(
                of: source, keeping: [TreeRoot(other, .table)], freeing: [TreeRoot(root, .table)])
            let target = try NewStore(pageSize: 512, autoVacuum: 0, "")
            try FileManager.default.removeItem(atPath: target.path)
            let copy = try DatabaseCopy.begin(source, plan, at: target.path, sharing: false)
            for chunk in 0..<copy.chunkCount { _ = try copy.copy(chunk) }
            #expect(try target.check() == "ok", "copied")
            let pages = try target.integer("PRAGMA page_count")
            #expect(pages == Int64(layout.pageCount))
            // The state as if all free pages before were given: those around the page are left.
            var writer = try DatabaseWriter(target.file())
            var state = try writer.checkpoint()
            if refills { state.nextFreePage = pending - 3 }
            var next = try DatabaseWriter(target.file(), resuming: state)
            var tree = try TreeBuilder(.table, root: root, on: next)
            for leaves in try NewStore.pack(rows, pageSize: pageSize, batch: 12) { try tree.add(leaves, to: &next) }
            try tree.finish(with: &next)
            try next.finish(syncs: false)
            let connection = try target.open()
            if refills {
                // The pages that the state left out belong to nobody; all else is as it should be.
                let report = try NewStore.check(connection).split(separator: "; ")
                #expect(report.allSatisfy { $0.contains("never used") }, "\(report.prefix(3))")
                #expect(try NewStore.integer("SELECT count(*) FROM t", on: connection) == 90)
            } else {
                #expect(try NewStore.check(connection) == "ok", "filled")
                #expect(try NewStore.integer("PRAGMA page_count", on: connection) < pending / 2)
            }
            #expect(
                try NewStore.integer("SELECT sum(length(a)) FROM t", on: connection)
                    == store.integer("SELECT sum(length(a)) FROM t"))
        }
    }
}
