import CausewayPlatform
import CausewayReliabilityKit
import Foundation
import Testing

/// What a run may leave on the disk, and report, after an fsync that failed.
@Suite("Fsyncs that failed", .timeLimit(.minutes(60)))
struct SyncRecordTests {
    private static let store = "/data/Store.sqlite"
    private static let swap = TraceOperation(kind: .rename, inode: 7, path: "/data/work/step-1.sqlite", path2: store)

    private func sync(_ inode: UInt64, _ path: String, folder: Bool = false, failed: Bool = false) -> TraceOperation {
        TraceOperation(kind: .sync, failed: failed, inode: inode, flags: folder ? 1 : 0, path: path)
    }

    private func record(_ operations: [TraceOperation]) -> SyncRecord {
        SyncRecord(Trace(operations), store: Self.store)
    }

    @Test("a later fsync of the file doesn't help; a new file with its inode number has lost nothing")
    func files() {
        let failed = sync(7, "/data/work/step-1.sqlite", failed: true)
        #expect(record([failed, sync(7, "/data/work/step-1.sqlite")]).lostFiles == [7])
        let made = TraceOperation(kind: .create, inode: 7, path: "/data/work/step-1.sqlite")
        #expect(record([failed, made]).lostFiles.isEmpty)
        #expect(record([sync(2, "/data", folder: true, failed: true)]).lostFiles.isEmpty)
    }

    @Test("the swap is durable where the first fsync of the store's folder after it succeeds")
    func folders() {
        let (good, bad) = (sync(2, "/data", folder: true), sync(2, "/data", folder: true, failed: true))
        #expect(!record([good]).wasSwapped)
        #expect(!record([good, Self.swap]).isSwapDurable)
        #expect(!record([Self.swap, bad, good]).isSwapDurable)
        #expect(!record([Self.swap, sync(3, "/data/work", folder: true)]).isSwapDurable)
        // The cleanup may fail.
        #expect(record([bad, Self.swap, good, bad]).isSwapDurable)
    }

    @Test("success needs a durable swap, and no file may stay whose fsync failed")
    func faults() throws {
        let folder = try Folder()
        let (data, work) = (folder.path + "/data", folder.path + "/data/work")
        try Files.makeDirectory(data)
        try Files.makeDirectory(work)
        for name in [data + "/Store.sqlite", work + "/step-1.sqlite"] { try Files.writeFileDurably(name, [1]) }
        let store = data + "/Store.sqlite"
        func fault(_ ending: ChildRun.Ending, _ operations: [TraceOperation]) throws -> String? {
            try SyncRecord(Trace(operations), store: store).fault(after: ending, data: data, work: work)
        }
        let swap = TraceOperation(kind: .rename, path: work + "/step-1.sqlite", path2: store)
        let staging = try Files.linkStatus(of: work + "/step-1.sqlite").inode
        let placed = try Files.linkStatus(of: store).inode
        let durable = [swap, sync(2, data, folder: true)]
        #expect(try fault(.exited(0), durable) == nil)
        #expect(try fault(.exited(0), []) != nil)
        #expect(try fault(.exited(0), [swap]) != nil)
        #expect(try fault(.exited(0), [sync(placed, store, failed: true)] + durable) != nil)
        #expect(try fault(.exited(74), [sync(staging, work + "/step-1.sqlite", failed: true)]) != nil)
        // The old store, not yet replaced, is unchanged.
        #expect(try fault(.exited(74), [sync(placed, store, failed: true)]) == nil)
        #expect(try fault(.exited(74), [sync(placed, store, failed: true), swap]) != nil)
    }
}
