import Causeway
import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Synchronization
import Testing

/// A run beside others: programs that write, paths that clash, failures at the very end, policies on several workers.
@Suite(.timeLimit(.minutes(60)))
struct ObjectRunTests {
    final class PlainPolicy: EntityMigrationPolicy {}

    // MARK: - A store that another program writes

    /// Writes its count into every row of two tables, in one transaction each time.
    private static let writing = """
        import sqlite3, sys, time
        connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
        n = 0
        while True:
            n += 1
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE ZALBUM SET ZLABEL = ?", (str(n),))
            connection.execute("UPDATE ZTAG SET ZNAME = ?", (str(n),))
            connection.execute("UPDATE ZNODE SET ZTITLE = ?", (str(n),))
            connection.execute("COMMIT")
            if n == 1:
                print("ready", flush=True)
            time.sleep(float(sys.argv[2]))
        """

    @Test("a run beside a program that writes all the time reads one snapshot", arguments: ["0.02", "0.05"])
    func live(_ interval: String) throws {
        let shelf = try Shelf()
        try StoreRows.execute(shelf.store, "PRAGMA journal_mode = WAL")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.writing, shelf.store, interval]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        defer {
            // The test runner may have blocked SIGTERM, and children inherit that.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        _ = output.fileHandleForReading.availableData
        let code = Shelf.code(["Album", "Tag"]) {
            TransformEntity("Album", policy: PlainPolicy.self)
            TransformEntity("Tag", policy: PlainPolicy.self)
        }
        for round in 1...3 {
            let result = try shelf.migrate(code, as: "result \(round)", .init(batchRows: 3, jobs: 4))
            #expect(
                try StoreRows.texts(
                    result,
                    """
                    SELECT count(*) FROM (SELECT ZLABEL FROM ZALBUM UNION SELECT ZNAME FROM ZTAG
                        UNION SELECT ZTITLE FROM ZNODE)
                    """) == ["1"])
            #expect(try Shelf.artists(result) == Shelf.artists(shelf.store))
            #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZNODE") == ["20"])
        }
    }

    // MARK: - Files beside the store

    @Test(
        "side files may not have the path of a store or its sidecars",
        arguments: [
            "result", "result-wal", "result-shm", "result-journal", "Store.sqlite", "Store.sqlite-wal",
            "Store.sqlite-journal", "Store.sqlite-shm", "./result", "other/../result",
        ], [true, false])
    func places(_ name: String, isKeyMap: Bool) throws {
        let shelf = try Shelf()
        try FileManager.default.createDirectory(atPath: shelf.folder.path("other"), withIntermediateDirectories: true)
        var request = shelf.request(Shelf.code([]) {})
        if isKeyMap { request.keyMap = shelf.folder.path(name) } else { request.rejects = shelf.folder.path(name) }
        #expect(try shelf.failure(request).kind == .usage)
    }

    @Test("two side files with the same path are refused")
    func sameFile() throws {
        let shelf = try Shelf()
        var request = shelf.request(Shelf.code([]) {})
        request.keyMap = shelf.folder.path("file")
        request.rejects = shelf.folder.path("file")
        #expect(try shelf.failure(request).kind == .usage)
    }

    /// Puts a file where the new store is to be, in the last hook.
    final class BlockingPolicy: EntityMigrationPolicy {
        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            guard case .string(let path)? = mapping.userInfo["path"] else { return }
            try Data("blocked".utf8).write(to: URL(filePath: path))
        }
    }

    @Test("a new store that can't be published or swapped in is kept with its side files", arguments: [true, false])
    func failingSwap(isInPlace: Bool) throws {
        let shelf = try Shelf()
        let path = isInPlace ? shelf.store + "-wal" : shelf.folder.path("result")
        let code = Shelf.code(["Artist"]) {
            TransformEntity("Artist", policy: BlockingPolicy.self) { UserInfo("path", .string(path)) }
        }
        var request = shelf.request(code, as: isInPlace ? nil : "result")
        request.keyMap = shelf.folder.path("keys.jsonl")
        request.rejects = shelf.folder.path("rejects.jsonl")
        request.violations = .reject
        let error = #expect(throws: EngineError.self) { _ = try Migration(request).run() }
        #expect(error?.state == (isInPlace ? .settled("it is in rollback-journal mode") : .untouched))
        // SQLite takes an empty -wal for a change of the store.
        #expect(error?.kind == (isInPlace ? .undecided : .cannotCreate))
        let files = ["keys.jsonl", "rejects.jsonl"]
        #expect(files.allSatisfy { FileManager.default.fileExists(atPath: shelf.folder.path($0)) })
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        if isInPlace {
            request.resume = .restart
            request.code = Shelf.code([]) {}
        }
        var steps = 0
        let outcome = try Migration(request, events: { if case .stepBegan = $0 { steps += 1 } }).run()
        #expect(steps == (isInPlace ? 1 : 0), "an output that is made needs only be published")
        #expect(files.allSatisfy { FileManager.default.fileExists(atPath: shelf.folder.path($0)) })
        #expect(try StoreRows.texts(outcome.store, "PRAGMA quick_check") == ["ok"])
    }

    // MARK: - Independent policies

    /// Counts the calls of `begin` and `end` for each policy object. Records calls outside of a pair, and repeated
    /// ones.
    final class PairingPolicy: EntityMigrationPolicy {
        struct Calls {
            var begun = 0
            var ended = 0
            var wrong: [String] = []
        }

        static let calls = Mutex<[String: Calls]>([:])
        private var isOpen = false

        override class var isIndependent: Bool { true }

        private func note(_ mapping: EntityMapping, _ change: (inout Calls) -> Void) {
            guard case .string(let run)? = mapping.userInfo["run"] else { return }
            Self.calls.withLock { change(&$0[run, default: Calls()]) }
        }

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            note(mapping) { [isOpen] calls in
                calls.begun += 1
                if isOpen { calls.wrong.append("begin twice") }
            }
            isOpen = true
        }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            note(mapping) { [isOpen] calls in
                if !isOpen { calls.wrong.append("row without begin") }
            }
            if sInstance.objectID.key == 25, mapping.userInfo["fails"] != nil {
                throw PolicyError.nothingMade("row 25")
            }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            note(mapping) { [isOpen] calls in
                calls.ended += 1
                if !isOpen { calls.wrong.append("end without begin") }
            }
            isOpen = false
        }
    }

    @Test("an independent policy gets begin and end in pairs on every worker", arguments: Shelf.allWorks)
    func pairs(_ work: PoliciesExample.Work) throws {
        let shelf = try Shelf()
        let run = "pairs \(work.testDescription)"
        let code = Shelf.code(["Album"]) {
            TransformEntity("Album", policy: PairingPolicy.self) { UserInfo("run", .string(run)) }
        }
        let result = try shelf.migrate(code, as: "result", work)
        try Shelf.expectLinks(result, like: shelf.store)
        let calls = try #require(PairingPolicy.calls.withLock { $0[run] })
        #expect(calls.begun == calls.ended)
        #expect(calls.begun >= 1 && calls.begun <= work.jobs + 1)
        #expect(calls.wrong.isEmpty)
    }

    @Test("a row that fails on a worker is reported, and no file is left", arguments: Shelf.works)
    func failing(_ work: PoliciesExample.Work) throws {
        let shelf = try Shelf()
        let code = Shelf.code(["Album"]) {
            TransformEntity("Album", policy: PairingPolicy.self) { UserInfo("fails", .string("yes")) }
        }
        let error = try shelf.failure(shelf.request(code, as: "result", work))
        #expect("\(error)".contains("/Album/p25: "), "\(error)")
    }
}
