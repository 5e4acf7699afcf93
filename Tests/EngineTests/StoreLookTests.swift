import CausewayPlatform
import CausewaySQLite
import CausewayStores
import Foundation
import Synchronization
import Testing

@testable import CausewayEngine

/// Looks at a store's files while another process writes to them.
@Suite("Looking at a store from outside", .timeLimit(.minutes(60)))
struct StoreLookTests {
    private struct Folder: ~Copyable {
        let path = NSTemporaryDirectory() + "causeway-look-\(UUID().uuidString)"

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private final class Writer: Sendable {
        private let thread: WorkerThread

        /// Until told to end: opens, adds rows, deletes them, shrinks the file and closes, which checkpoints the -wal.
        init(_ path: String, journal: String, ending: Flag, rounds: Rounds) throws {
            thread = try WorkerThread(name: "writer") {
                while !ending.isSet {
                    rounds.add()
                    guard let connection = try? Connection(path: path, mode: .readWrite, hardening: .own) else {
                        continue
                    }
                    try? connection.setPragma("journal_mode", to: journal)
                    try? connection.setPragma("synchronous", to: "OFF")
                    try? connection.execute("INSERT INTO t SELECT zeroblob(9000) FROM (VALUES (1), (2), (3))")
                    try? connection.execute("DELETE FROM t")
                    try? connection.execute("VACUUM")
                    try? connection.close()
                }
            }
        }

        func join() { thread.join() }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    private final class Rounds: Sendable {
        private let value = Atomic(0)
        var count: Int { value.load(ordering: .relaxed) }
        func add() { value.add(1, ordering: .relaxed) }
    }

    @Test("a store that grows and shrinks meanwhile is never called truncated", arguments: ["WAL", "DELETE"])
    func growing(_ journal: String) throws {
        let folder = try Folder()
        let path = folder.path + "/Store.sqlite"
        do {
            let connection = try Connection(path: path, mode: .create, hardening: .own)
            try connection.execute("CREATE TABLE t (a)")
            try connection.close()
        }
        let location = try StoreLocation(existing: path)
        let (ending, rounds) = (Flag(), Rounds())
        let writer = try Writer(path, journal: journal, ending: ending, rounds: rounds)
        defer {
            ending.set()
            writer.join()
        }
        let start = MonotonicClock.seconds()
        var looks = 0
        while looks < 3_000 || rounds.count < 200 {
            looks += 1
            do throws(EngineError) {
                _ = try StoreFile(checking: location)
                _ = try StoreTrace(location)
            } catch {
                Issue.record("look \(looks): \(error)")
                return
            }
            guard MonotonicClock.seconds() - start < 60 else { break }
        }
        #expect(rounds.count > 20)
    }

    @Test("a journal that is removed between two looks counts as empty")
    func goneJournal() throws {
        let folder = try Folder()
        let path = folder.path + "/Store.sqlite"
        for file in [path, path + "-journal"] { try Data([1]).write(to: URL(fileURLWithPath: file)) }
        let location = try StoreLocation(existing: path)
        let status = try Files.status(of: location.journal)
        #expect(try !location.isSpent(location.journal, status))
        try FileManager.default.removeItem(atPath: location.journal)
        #expect(try location.isSpent(location.journal, status))
    }

    @Test("a file that stays shorter than its header says is truncated, unless a journal has the pages")
    func truncated() throws {
        let folder = try Folder()
        let path = folder.path + "/Store.sqlite"
        do {
            let connection = try Connection(path: path, mode: .create, hardening: .own)
            try connection.execute("CREATE TABLE t (a)")
            try connection.execute("INSERT INTO t VALUES (zeroblob(9000))")
            try connection.close()
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 4_096)
        try file.close()
        let location = try StoreLocation(existing: path)
        let error = #expect(throws: EngineError.self) { try StoreFile(checking: location) }
        #expect(error?.kind == .sourceData)
        #expect(error?.message.contains("the file is truncated") == true)
        for sidecar in [location.wal, location.journal] {
            try Data([0]).write(to: URL(fileURLWithPath: sidecar))
            _ = try StoreFile(checking: location)
            try FileManager.default.removeItem(atPath: sidecar)
        }
    }
}
