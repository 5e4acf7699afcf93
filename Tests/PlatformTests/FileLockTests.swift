import CausewayPlatform
import Foundation
import Testing

@Suite("File locks", .timeLimit(.minutes(60))) struct FileLockTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func holds(_ path: String) -> Bool {
        do throws(FileError) {
            _ = try FileLock(path)
            return true
        } catch {
            #expect(error.code == .busy)
            return false
        }
    }

    @Test("a second taker is refused until the first lets go")
    func excludes() throws {
        do {
            let lock = try FileLock(folder("lock"))
            try lock.write("pid 1, host a, a long line")
            try lock.write("pid 2")
            #expect(!holds(folder("lock")))
            #expect(try Files.readFile(folder("lock"), limit: 100) == Array("pid 2".utf8))
        }
        #expect(holds(folder("lock")))
    }

    /// As in a process that was just forked and isn't another program yet.
    @Test("it is released although a copy of its descriptor is open")
    func releasesCopies() throws {
        var copies: [Int32] = []
        defer { for copy in copies { _ = close(copy) } }
        do {
            let lock = try FileLock(folder("lock"))
            let file = try #require(try Files.statusIfExists(lock.path))
            for descriptor in 0..<Int32(1_024) {
                var status = stat()
                guard unsafe fstat(descriptor, &status) == 0, UInt64(status.st_ino) == file.inode,
                    UInt64(status.st_dev) == file.device
                else { continue }
                copies.append(dup(descriptor))
            }
            #expect(!copies.isEmpty && !holds(folder("lock")))
        }
        #expect(holds(folder("lock")))
    }

    @Test("it is removed and released in one call")
    func removes() throws {
        let lock = try FileLock(folder("lock"))
        try lock.removeAndRelease()
        #expect(try !Files.exists(folder("lock")))
        #expect(holds(folder("lock")))
    }

    @Test("a link in the lock's place is refused")
    func refusesLink() throws {
        try FileManager.default.createSymbolicLink(atPath: folder("lock"), withDestinationPath: folder("other"))
        let error = #expect(throws: FileError.self) { _ = try FileLock(folder("lock")) }
        #expect(error?.code == .symbolicLink)
        #expect(try !Files.exists(folder("other")))
    }

    #if os(Linux) || os(macOS)
        @Test("another process is refused, and a killed holder's lock is free at once")
        func processes() async throws {
            let path = folder("lock")
            try FileLock(path).write("parent")
            do {
                let lock = try FileLock(path)
                await #expect(processExitsWith: .exitCode(75)) { [path = path as String] in
                    do throws(FileError) {
                        _ = try FileLock(path)
                        exit(0)
                    } catch {
                        exit(error.code == .busy ? 75 : 1)
                    }
                }
                try lock.write("still held")
            }
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let lock = try FileLock(path)
                try lock.write("child")
                kill(getpid(), SIGKILL)
            }
            #expect(holds(path))
        }
    #endif
}
