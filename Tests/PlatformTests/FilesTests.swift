import CausewayPlatform
import Foundation
import Testing

@Suite("Files", .timeLimit(.minutes(60))) struct FilesTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: folder(name)))
    }

    @Test("a durable write replaces the whole file and leaves nothing beside it")
    func durableWrite() throws {
        try Files.writeFileDurably(folder("plan.json"), Array("one".utf8), permissions: 0o640)
        try Files.writeFileDurably(folder("plan.json"), Array("second".utf8))
        #expect(try Files.readFile(folder("plan.json"), limit: 100) == Array("second".utf8))
        #expect(try Files.list(folder.path) == ["plan.json"])
        #expect(try Files.status(of: folder("plan.json")).mode == 0o600)
    }

    @Test("a stale temporary file, even a link to elsewhere, is not written through")
    func staleTemporary() throws {
        try write("victim", [1, 2, 3])
        try FileManager.default.createSymbolicLink(
            atPath: folder("plan.json.tmp"), withDestinationPath: folder("victim"))
        try Files.writeFileDurably(folder("plan.json"), [9])
        #expect(try Files.readFile(folder("victim"), limit: 10) == [1, 2, 3])
        #expect(try Files.linkStatus(of: folder("plan.json")).kind == .regular)
    }

    @Test("a durable write into a missing folder says so and leaves nothing")
    func durableWriteFails() throws {
        let error = #expect(throws: FileError.self) { try Files.writeFileDurably(folder("no/plan.json"), [1]) }
        #expect(error?.code == .notFound)
        #expect(try Files.list(folder.path).isEmpty)
    }

    @Test("a file over the limit is refused", arguments: [(5, true), (6, true), (4, false), (0, false)])
    func readLimit(limit: Int, isRead: Bool) throws {
        try write("five", [1, 2, 3, 4, 5])
        if isRead {
            #expect(try Files.readFile(folder("five"), limit: limit).count == 5)
        } else {
            let error = #expect(throws: FileError.self) { try Files.readFile(folder("five"), limit: limit) }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test("an endless device is not read past the limit")
    func readDevice() {
        let error = #expect(throws: FileError.self) { try Files.readFile("/dev/zero", limit: 3_000_000) }
        #expect(error?.code == .tooLarge)
    }

    @Test("a copy is equal, whatever its size around the buffer", arguments: [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])
    func copies(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try write("from", bytes)
        #expect(try Files.copyFile(from: folder("from"), to: folder("to")) == Int64(size))
        #expect(try Files.readFile(folder("to"), limit: size) == bytes)
    }

    @Test("a copy never replaces a file")
    func copyExists() throws {
        try write("from", [1])
        try write("to", [2])
        let error = #expect(throws: FileError.self) { try Files.copyFile(from: folder("from"), to: folder("to")) }
        #expect(error?.code == .exists)
        #expect(try Files.readFile(folder("to"), limit: 1) == [2])
    }

    @Test("a link is a second name of the same file, and takes no name that is used")
    func links() throws {
        try write("store", [1])
        try Files.link(folder("store"), as: folder("backup"))
        let status = try Files.status(of: folder("backup"))
        #expect(status.linkCount == 2)
        #expect(status.isSameFile(as: try Files.status(of: folder("store"))))
        let error = #expect(throws: FileError.self) { try Files.link(folder("store"), as: folder("backup")) }
        #expect(error?.code == .exists)
        let missing = #expect(throws: FileError.self) { try Files.link(folder("none"), as: folder("other")) }
        #expect(missing?.code == .notFound)
        #expect(missing?.path == folder("none"))
    }

    @Test("a rename replaces in one step, also across folders")
    func renames() throws {
        try Files.makeDirectory(folder("work"))
        #expect(try Files.status(of: folder("work")).kind == .directory)
        try write("work/new", [2])
        try write("store", [1])
        try Files.rename(folder("work/new"), to: folder("store"))
        #expect(try Files.readFile(folder("store"), limit: 9) == [2])
        #expect(try Files.removeDirectory(folder("work")))
        #expect(try !Files.removeDirectory(folder("work")))
    }

    @Test("removing returns whether there was something; a folder that holds files stays")
    func removes() throws {
        try write("file", [1])
        #expect(try Files.unlink(folder("file")))
        #expect(try !Files.unlink(folder("file")))
        try Files.makeDirectory(folder("full"))
        try write("full/file", [])
        let error = #expect(throws: FileError.self) { try Files.removeDirectory(folder("full")) }
        #expect(error?.code == .notEmpty)
        let exists = #expect(throws: FileError.self) { try Files.makeDirectory(folder("full")) }
        #expect(exists?.code == .exists)
    }

    @Test("a link to nothing exists, has no status, and is not followed where the caller forbids it")
    func danglingLink() throws {
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "nowhere")
        #expect(try Files.exists(folder("link")))
        #expect(try Files.linkStatus(of: folder("link")).kind == .symbolicLink)
        let error = #expect(throws: FileError.self) { try Files.status(of: folder("link")) }
        #expect(error?.code == .notFound)
        let open = #expect(throws: FileError.self) {
            _ = try OpenFile(folder("link"), mode: .create, followsLinks: false)
        }
        #expect(open?.code == .symbolicLink)
        #expect(try !Files.exists(folder("nothing")))
        #expect(try !Files.exists(folder("link/below")))
    }

    @Test("the real path has its links resolved")
    func realPath() throws {
        try write("real", [])
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "real")
        #expect(try Files.realPath(of: folder("link")) == Files.realPath(of: folder.path) + "/real")
        #expect(throws: FileError.self) { try Files.realPath(of: folder("none")) }
    }

    @Test("a folder with more names than allowed is refused")
    func listLimit() throws {
        for name in ["c", "a", "b"] { try write(name, []) }
        #expect(try Files.list(folder.path) == ["a", "b", "c"])
        #expect(try Files.list(folder.path, limit: 3).count == 3)
        let error = #expect(throws: FileError.self) { try Files.list(folder.path, limit: 2) }
        #expect(error?.code == .tooLarge)
    }

    @Test("an empty path and one with a NUL are refused", arguments: ["", "a\0b"])
    func badPaths(path: String) {
        let error = #expect(throws: FileError.self) { try Files.unlink(path) }
        #expect(error?.code == .badName)
        #expect(throws: FileError.self) { _ = try OpenFile(path, mode: .create) }
    }

    @Test("an error names the operation, the path and a remedy")
    func errorText() {
        let error = #expect(throws: FileError.self) { try Files.readFile(folder("a\u{1b}[31m"), limit: 1) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("can't open "))
        // Escaped once, by what shows it.
        #expect(text.contains("a\u{1b}[31m"))
        #expect(text.contains("check the path"))
    }

    @Test("reads and writes go to their position; the file's end ends a read")
    func positions() throws {
        let file = try OpenFile(folder("f"), mode: .createNew)
        let bytes: [UInt8] = [1, 2, 3, 4]
        try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, at: 10) }
        try file.sync()
        #expect(try file.status().size == 14)
        var buffer = [UInt8](repeating: 9, count: 8)
        let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe file.read(into: $0, at: 8) }
        #expect(count == 6)
        #expect(buffer == [0, 0, 1, 2, 3, 4, 9, 9])
        try file.truncate(to: 2)
        #expect(try file.status().size == 2)
        try Files.syncFile(folder("f"))
        try Files.syncDirectory(folder.path)
    }

    @Test(
        "paths are split as text",
        arguments: [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b/", "a", "b"), ("/", "/", ""),
            ("a//b", "a", "b"),
        ])
    func paths(path: String, parent: String, name: String) {
        #expect(Paths.parent(of: path) == parent)
        #expect(Paths.name(of: path) == name)
        #expect(Paths.join("/a", "b") == "/a/b")
        #expect(Paths.join("/", "b") == "/b")
    }
}
