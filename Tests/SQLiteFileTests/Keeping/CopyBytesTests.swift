import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("A copy's bytes follow from the source and the plan alone", .timeLimit(.minutes(60))) struct CopyBytesTests {
    private static func kept(_ seed: UInt64) throws -> KeptStore {
        var random = SeededNumbers(seed)
        return try KeptStore(
            pageSize: [512, 4_096, 65_536][Int(seed) % 3], autoVacuum: Int(seed) % 2 * 2,
            fates: [.patch, .replace, .keep, .refill, .patch], rows: 700, &random)
    }

    /// A new copy, its path.
    private static func copy(
        _ kept: KeptStore, chunkLength: Int = DatabaseCopy.chunkLength,
        _ body: (DatabaseCopy, PageFile, CopyPlan, String) throws -> Void
    ) throws -> Data {
        let source = try kept.source()
        let plan = try kept.plan(of: source)
        let target = try NewStore(copying: kept.store)
        try FileManager.default.removeItem(atPath: target.path)
        let copy = try DatabaseCopy.begin(source, plan, at: target.path, sharing: false, chunkLength: chunkLength)
        try body(copy, source, plan, target.path)
        return try target.bytes
    }

    @Test(
        "any order of chunks, any number of threads, chunks copied twice, a run that goes on",
        arguments: 1...6 as ClosedRange<UInt64>)
    func anyWay(seed: UInt64) throws {
        let kept = try Self.kept(seed)
        let whole = try Self.copy(kept) { copy, _, _, _ in
            for chunk in 0..<copy.chunkCount { _ = try copy.copy(chunk) }
        }
        let length = kept.pageSize * 7
        let backwards = try Self.copy(kept, chunkLength: length) { copy, _, _, _ in
            #expect(copy.chunkCount > 1)
            for chunk in (0..<copy.chunkCount).reversed() { _ = try copy.copy(chunk) }
        }
        let isSame = backwards == whole
        #expect(isSame)
        let threads = try Self.copy(kept, chunkLength: length) { copy, _, _, _ in
            DispatchQueue.concurrentPerform(iterations: copy.chunkCount) { _ = try? copy.copy($0) }
        }
        let isSameByThreads = threads == whole
        #expect(isSameByThreads)
        let resumed = try Self.copy(kept, chunkLength: length) { copy, source, plan, path in
            let half = copy.chunkCount / 2
            for chunk in 0..<half { _ = try copy.copy(chunk) }
            // The chunk at which the run ended is half written.
            let page = min(half * 7 + 2, source.layout.pageCount)
            let rubbish = [UInt8](repeating: 0xee, count: kept.pageSize)
            // Free pages aren't written into a new file.
            if !plan.freed.pages.contains(page) {
                let file = try OpenFile(path, mode: .readWrite)
                try unsafe rubbish.withUnsafeBytes { try unsafe file.write($0, at: source.layout.offset(of: page)) }
            }
            let next = try DatabaseCopy.resume(
                source, try kept.plan(of: source), at: path, isClone: false, chunkLength: length)
            for chunk in max(0, half - 1)..<next.chunkCount { _ = try next.copy(chunk) }
        }
        let isSameResumed = resumed == whole
        #expect(isSameResumed)
    }

    @Test("a clone gets the same bytes", arguments: 1...6 as ClosedRange<UInt64>)
    func clone(seed: UInt64) throws {
        let kept = try Self.kept(seed)
        let whole = try Self.copy(kept) { copy, _, _, _ in
            for chunk in 0..<copy.chunkCount { _ = try copy.copy(chunk) }
        }
        let source = try kept.source()
        let target = try NewStore(copying: kept.store)
        let copy = try DatabaseCopy.resume(source, try kept.plan(of: source), at: target.path, isClone: true)
        for chunk in 0..<copy.chunkCount { _ = try copy.copy(chunk) }
        let isSame = try target.bytes == whole
        #expect(isSame)
    }

    @Test("all kept: only the header differs, and WAL mode is off")
    func allKept() throws {
        let store = try NewStore(pageSize: 1_024, autoVacuum: 1, KeptStore.schema("t"))
        let connection = try store.open()
        try connection.execute("PRAGMA journal_mode = WAL; INSERT INTO t(p) VALUES (zeroblob(9000)), (1), (2)")
        try connection.close()
        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        let source = PageFile(file, layout)
        let kept = [
            TreeRoot(try store.root("t"), .table), TreeRoot(try store.root("te"), .index),
            TreeRoot(try store.root("tp"), .index),
        ]
        let plan = try CopyPlan(of: source, keeping: kept)
        let target = try NewStore(copying: store)
        try FileManager.default.removeItem(atPath: target.path)
        let copy = try DatabaseCopy.begin(source, plan, at: target.path, sharing: false)
        #expect(try copy.copy(0) == PatchCounts([]))
        var (before, after) = (try store.bytes, try target.bytes)
        #expect(Array(after[18..<20]) == [1, 1])
        #expect(Array(after[24..<28]) == [0, 0, 0, 1])
        #expect(Array(after[92..<96]) == [0, 0, 0, 1])
        // Incremental, until the copy is complete.
        #expect(Array(after[64..<68]) == [0, 0, 0, 1])
        for field in [18..<20, 24..<28, 64..<68, 92..<96] {
            before[field] = Data(count: field.count)
            after[field] = Data(count: field.count)
        }
        let isSame = before == after
        #expect(isSame)
        #expect(try target.check() == "ok")
    }

    @Test("a file system without shared extents says so, and the copy is a plain one")
    func sharing() throws {
        let kept = try Self.kept(1)
        let source = try kept.source()
        let target = try NewStore(copying: kept.store)
        try FileManager.default.removeItem(atPath: target.path)
        let copy = try DatabaseCopy.begin(source, try kept.plan(of: source), at: target.path, sharing: true)
        for chunk in 0..<copy.chunkCount { _ = try copy.copy(chunk) }
        let whole = try Self.copy(kept) { copy, _, _, _ in
            for chunk in 0..<copy.chunkCount { _ = try copy.copy(chunk) }
        }
        // Either way.
        let isSame = try target.bytes == whole
        #expect(isSame)
    }

    @Test("a copy of another length isn't gone on with; an existing file isn't replaced")
    func otherFile() throws {
        let kept = try Self.kept(1)
        let source = try kept.source()
        let plan = try kept.plan(of: source)
        let target = try NewStore(copying: kept.store)
        try target.file().truncate(to: 5_000)
        let error = #expect(throws: PageCopyError.self) {
            try DatabaseCopy.resume(source, plan, at: target.path, isClone: false)
        }
        #expect(error == .otherCopy(path: target.path))
        for sharing in [false, true] {
            let exists = #expect(throws: PageCopyError.self) {
                try DatabaseCopy.begin(source, plan, at: target.path, sharing: sharing)
            }
            guard case .copy(let cause) = exists else { return #expect(Bool(false), "\(String(describing: exists))") }
            #expect(cause.code == .exists)
        }
    }

    @Test("a source that became shorter is an error that names the page")
    func shorterSource() throws {
        let kept = try Self.kept(2)
        let source = try kept.source()
        let plan = try CopyPlan(of: source, keeping: [])
        let target = try NewStore(copying: kept.store)
        try FileManager.default.removeItem(atPath: target.path)
        let copy = try DatabaseCopy.begin(source, plan, at: target.path, sharing: false)
        try kept.store.file().truncate(to: Int64(kept.pageSize) * 3)
        let error = #expect(throws: PageCopyError.self) { try copy.copy(0) }
        guard case .source(let cause) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(cause.code == .missing)
        #expect(cause.page == 4)
    }
}
