import CausewayReliabilityKit
import Testing

/// The states that the model of InsideCrashSafety §3.1 gives.
@Suite("Crash explorer: what a crash may leave", .timeLimit(.minutes(60)))
struct ExplorerModelTests {
    /// A folder with `a` that holds "old", and a folder `work`.
    private static let start = [
        DiskModel.StartFile(path: "a", inode: 1, mode: 0o644, bytes: Array("old".utf8)),
        DiskModel.StartFile(path: "work", inode: 2, mode: 0o700, isFolder: true),
    ]

    /// The files' texts in every state after some operations, by path.
    private func states(
        _ operations: [TraceOperation], splitsRenames: Bool = false, start: [DiskModel.StartFile] = Self.start
    ) throws -> Set<[String: String]> {
        var model = DiskModel(start, splitsRenames: splitsRenames)
        for (id, operation) in operations.enumerated() { try model.apply(operation, id: id) }
        return Set(
            model.everyState().map { state in
                Dictionary(
                    uniqueKeysWithValues: state.files.map {
                        ($0.path, String(decoding: $0.content.bytes, as: UTF8.self))
                    })
            })
    }

    private func create(_ path: String, _ inode: UInt64) -> TraceOperation {
        TraceOperation(kind: .create, inode: inode, flags: 0o600, path: path)
    }

    private func write(_ path: String, _ inode: UInt64, _ text: String, at offset: Int = 0) -> TraceOperation {
        TraceOperation(kind: .write, inode: inode, offset: offset, path: path, data: Array(text.utf8))
    }

    private func sync(_ path: String, _ inode: UInt64, failed: Bool = false) -> TraceOperation {
        TraceOperation(kind: .sync, failed: failed, inode: inode, path: path)
    }

    private func syncFolder(_ path: String, failed: Bool = false) -> TraceOperation {
        TraceOperation(kind: .sync, failed: failed, inode: 2, flags: 1, path: path)
    }

    private func rename(_ path: String, _ new: String) -> TraceOperation {
        TraceOperation(kind: .rename, path: path, path2: new)
    }

    @Test("a write that isn't synced may be lost, there, or only have made the file longer")
    func unsyncedWrite() throws {
        let found = try states([write("a", 1, "newer")])
        #expect(found == [["a": "old"], ["a": "newer"], ["a": "old\0\0"]])
    }

    @Test("a synced write is there in every state")
    func syncedWrite() throws {
        #expect(try states([write("a", 1, "newer"), sync("a", 1)]) == [["a": "newer"]])
    }

    @Test("writes to one file may come in another order")
    func order() throws {
        let found = try states([write("a", 1, "1"), write("a", 1, "2", at: 1)])
        #expect(found == [["a": "old"], ["a": "1ld"], ["a": "o2d"], ["a": "12d"]])
    }

    @Test("a long write may be torn at a sector")
    func torn() throws {
        let text = String(repeating: "x", count: 1_024)
        let found = try states([write("a", 1, text)]).compactMap { $0["a"] }
        let zeros = String(repeating: "\0", count: 512)
        #expect(found.contains(String(text.prefix(512))))
        #expect(found.contains("old" + zeros.dropFirst(3) + text.suffix(512)))
        #expect(found.contains("old" + zeros.dropFirst(3) + zeros))
    }

    @Test("a truncation that isn't synced may be lost")
    func truncation() throws {
        let cut = TraceOperation(kind: .truncate, inode: 1, offset: 0, path: "a")
        #expect(try states([cut]) == [["a": "old"], ["a": ""]])
        #expect(try states([cut, sync("a", 1)]) == [["a": ""]])
    }

    @Test("a write whose fsync failed may be lost although a later fsync succeeds")
    func failedSync() throws {
        let found = try states([write("a", 1, "new"), sync("a", 1, failed: true), sync("a", 1)])
        #expect(found == [["a": "old"], ["a": "new"]])
    }

    @Test("a new file's name may be lost although its data is synced, until its folder is")
    func names() throws {
        let made = [create("b", 3), write("b", 3, "data"), sync("b", 3)]
        #expect(try states(made) == [["a": "old"], ["a": "old", "b": "data"]])
        #expect(try states(made + [syncFolder("")]) == [["a": "old", "b": "data"]])
    }

    @Test("a name whose fsync failed doesn't come back over a newer one that is durable")
    func failedFolderSync() throws {
        let made = [create("b", 3), write("b", 3, "first"), sync("b", 3), syncFolder("", failed: true)]
        #expect(try states(made) == [["a": "old"], ["a": "old", "b": "first"]])
        let again = [
            TraceOperation(kind: .unlink, inode: 3, path: "b"), create("b", 4), write("b", 4, "second"), sync("b", 4),
        ]
        #expect(try states(made + again + [syncFolder("")]) == [["a": "old", "b": "second"]])
    }

    @Test("a rename that isn't synced may be lost; the name always belongs to one of the two files")
    func renames() throws {
        let made = [create("work/n", 3), write("work/n", 3, "new"), sync("work/n", 3), syncFolder("work")]
        let found = try states(made + [rename("work/n", "a")])
        #expect(found == [["a": "old", "work/n": "new"], ["a": "new"]])
        #expect(try states(made + [rename("work/n", "a"), syncFolder("")]) == [["a": "new"]])
    }

    @Test("a rename that isn't atomic may leave both names, or neither")
    func splitRenames() throws {
        let made = [create("work/n", 3), write("work/n", 3, "new"), sync("work/n", 3), syncFolder("work")]
        let found = try states(made + [rename("work/n", "b")], splitsRenames: true)
        #expect(
            found == [
                ["a": "old", "work/n": "new"], ["a": "old", "b": "new"], ["a": "old"],
                ["a": "old", "work/n": "new", "b": "new"],
            ])
        let durable = try states(made + [rename("work/n", "b"), syncFolder("")], splitsRenames: true)
        #expect(durable == [["a": "old", "b": "new"], ["a": "old", "work/n": "new", "b": "new"]])
    }

    @Test("removals may come in another order")
    func removals() throws {
        let made = ["x", "y"].enumerated().flatMap { [create($0.element, UInt64($0.offset) + 3)] } + [syncFolder("")]
        let gone = ["x", "y"].map { TraceOperation(kind: .unlink, path: $0) }
        let found = try states(made + gone).map { $0.keys.sorted() }
        #expect(Set(found) == [["a", "x", "y"], ["a", "x"], ["a", "y"], ["a"]])
    }

    @Test("two names of a file share what is written through one")
    func links() throws {
        let link = TraceOperation(kind: .link, path: "a", path2: "b")
        let found = try states([link, syncFolder(""), write("a", 1, "NEW"), sync("a", 1)])
        #expect(found == [["a": "NEW", "b": "NEW"]])
    }

    @Test("what lies in a folder that is lost is lost")
    func lostFolder() throws {
        let made = [
            TraceOperation(kind: .makeDirectory, inode: 9, flags: 0o700, path: "d"), create("d/f", 3),
            syncFolder("d"),
        ]
        #expect(try states(made) == [["a": "old"], ["a": "old", "d/f": ""]])
    }

    @Test("an operation on a file that the model doesn't know is an error")
    func unknown() {
        #expect(throws: HarnessError.self) { try states([write("?", 77, "x")]) }
    }

    @Test("a choice's text replays it", arguments: ["d:all,n:first3", "d:front7,n:none", "d:bits101,n:allbut0"])
    func texts(_ text: String) throws {
        #expect(try PersistenceChoice(text: text).description == text)
    }

    @Test(
        "texts that aren't a choice are refused",
        arguments: ["", "d:all", "d:some,n:all", "d:all,n:first", "n:all,d:all"])
    func foreignTexts(_ text: String) {
        #expect(throws: HarnessError.self) { try PersistenceChoice(text: text) }
    }
}
