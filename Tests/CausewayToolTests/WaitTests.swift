import CausewaySQLite
import Foundation
import Testing

/// `--wait`, and the names of programs that use a store. This process is the other program.
@Suite("Waiting for a busy store", .timeLimit(.minutes(60)))
struct WaitTests {
    private let folder: WorkFolder
    private let store: String
    private let models: String

    init() throws {
        folder = try WorkFolder()
        store = try folder.addOrchard()
        models = folder.path("Orchard/Orchard.xcdatamodeld")
    }

    /// Opens the store as an app does, and holds the lock of a writer.
    private func writer() throws -> Connection {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute("BEGIN IMMEDIATE")
        return connection
    }

    private var me: String { "(process \(getpid()))" }

    @Test("every command that only reads names the program, too", arguments: ["inspect", "export", "compare", "check"])
    func readers(command: String) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        let record = folder.path("shipped.json")
        var arguments = [command, store]
        switch command {
        case "export": arguments += ["--output", folder.path("out")]
        case "compare": arguments += [try folder.copy(OtherUser.orchard + "/Orchard-v1.sqlite", as: "Other.sqlite")]
        case "check":
            #expect(try ToolProcess(["models", models, "--check", record, "--record"]).status == 0)
            arguments = ["models", models, "--check", record, "--store", store]
        default: break
        }
        let run = try ToolProcess(arguments)
        #expect(run.status == 75, "\(run.errors)")
        #if os(Linux)
            #expect(run.errors.contains(me), "\(run.errors)")
        #endif
        try connection.execute("ROLLBACK")
        try connection.close()
    }

    @Test("the busy error names the program that uses the store")
    func named() throws {
        let connection = try writer()
        let run = try ToolProcess(["migrate", store, "--models", models, "--json"])
        #expect(run.status == 75, "\(run.errors)")
        #if os(Linux)
            #expect(run.errors.contains("  - used by ") && run.errors.contains(me), "\(run.errors)")
            #expect(run.output.contains(me))
        #endif
        try connection.execute("ROLLBACK")
        try connection.close()
    }

    @Test("a busy store is waited for until it is free")
    func wait() throws {
        let connection = try writer()
        let run = try RunningTool(["migrate", store, "--models", models, "--wait", "600"])
        run.wait(for: "waiting for ")
        #expect(run.errors.contains("the store is in use by "))
        #if os(Linux)
            #expect(run.errors.contains(me), "\(run.errors)")
        #endif
        #expect(run.process.isRunning)
        try connection.execute("ROLLBACK")
        try connection.close()
        #expect(run.end() == 0, "\(run.errors)")
        #expect(run.errors.components(separatedBy: "waiting for ").count == 2)
    }

    @Test("when the time is over, the store is busy")
    func timeout() throws {
        let connection = try writer()
        let run = try ToolProcess(["migrate", store, "--models", models, "--wait", "0.5", "--json"])
        #expect(run.status == 75, "\(run.errors)")
        #expect(run.output.contains("\"event\":\"waiting\""))
        try connection.execute("ROLLBACK")
        try connection.close()
    }

    #if os(Linux)
        @Test("a lost terminal ends a command that only reads with SIGTERM's status, unless the signal is ignored")
        func lostTerminal() throws {
            let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
            // With a -wal, readers wait for nobody.
            try connection.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
            for setting in ["default", "ignore"] {
                let run = try RunningTool(
                    ["verify", store, "--models", models, "--wait", "600"],
                    wrapper: ["/usr/bin/env", "--\(setting)-signal=HUP"])
                run.wait(for: "waiting for ")
                kill(run.process.processIdentifier, SIGHUP)
                if setting == "ignore" {
                    usleep(100_000)
                    #expect(run.process.isRunning)
                    kill(run.process.processIdentifier, SIGINT)
                    _ = run.end()
                } else {
                    #expect(run.end() == 143, "\(run.errors)")
                    #expect(run.process.terminationReason == .exit)
                }
            }
            try connection.execute("ROLLBACK")
            try connection.close()
        }
    #endif

    @Test("a signal ends the wait, and nothing was started")
    func stop() throws {
        // Read before the lock is taken: closing the file would drop it.
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let connection = try writer()
        let run = try RunningTool(["migrate", store, "--models", models, "--wait", "600"])
        run.wait(for: "waiting for ")
        kill(run.process.processIdentifier, SIGINT)
        #expect(run.end() == 130, "\(run.errors)")
        #expect(run.errors.contains("nothing was started"))
        try connection.execute("ROLLBACK")
        try connection.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test("a rollback waits too")
    func rollback() throws {
        #expect(try ToolProcess(["migrate", store, "--models", models]).status == 0)
        let connection = try writer()
        let run = try RunningTool(["rollback", store, "--wait", "600"])
        run.wait(for: "waiting for ")
        #expect(run.process.isRunning, "\(run.errors)")
        try connection.execute("ROLLBACK")
        try connection.close()
        #expect(run.end() == 0, "\(run.errors)")
    }
}
