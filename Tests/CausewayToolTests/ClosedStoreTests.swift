import Foundation
import Testing

/// Stores in WAL mode in folders where SQLite can make no files. The tests need root to change owners.
@Suite(
    "Closed stores", .timeLimit(.minutes(60)),
    .enabled(if: OtherUser.canRun, "needs root, setpriv, and a build that other users may run"))
struct ClosedStoreTests {
    private let owned: OwnedStore
    private var folder: WorkFolder { owned.folder }
    private var store: String { owned.store }

    init() throws { owned = try OwnedStore() }

    @Test(
        "a read-only store in WAL mode is neither replaced nor rolled back, and no -wal is left beside it",
        arguments: ["migrate", "rollback"])
    func readOnlyWAL(command: String) throws {
        try owned.give(OtherUser.number, OtherUser.number)
        if command == "rollback" { #expect(try owned.migrate(as: OtherUser.number).status == 0) }
        try close(.file)
        let before = try contentOfOrchard()
        let run = try look([command] + (command == "migrate" ? ["--models"] : []))
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("read-only") && run.errors.contains("chmod u+w"), "\(run.errors)")
        #expect(try contentOfOrchard() == before)
    }

    @Test("where the folder is closed, backups' commands say what helps, and not an option that they don't have")
    func closedFolder() throws {
        #expect(try owned.migrate(as: nil).status == 0)
        try owned.give(0, OtherUser.number)
        for command in [["purge-backup", "--all"], ["rollback"]] {
            let run = try look(command)
            #expect(run.status == 73, "\(run.errors)")
            #expect(run.errors.contains("get write access to") && !run.errors.contains("--output"), "\(run.errors)")
        }
    }

    /// Commands that only read the store; their output is elsewhere.
    static let looks = [
        ["inspect"], ["verify", "--models"], ["plan", "--models"], ["migrate", "--output", "--models"],
    ]

    /// Conditions in which SQLite can't make a -shm that it could remove.
    enum Closed: CaseIterable { case file, fileWithEmptyLog, folder }

    private func look(_ command: [String], pausing: String = "") throws -> ToolProcess {
        let mine = folder.path("mine")
        if !FileManager.default.fileExists(atPath: mine) {
            try FileManager.default.createDirectory(atPath: mine, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.ownerAccountID: OtherUser.number], ofItemAtPath: mine)
        }
        let values = ["--output": mine + "/New.sqlite", "--models": folder.path("Orchard/Orchard.xcdatamodeld")]
        return try ToolProcess(
            [command[0], store] + command.dropFirst().flatMap { [$0] + (values[$0].map { [$0] } ?? []) },
            environment: ["TMPDIR": mine, "CAUSEWAY_PAUSE_AT": pausing], as: OtherUser.number)
    }

    private func close(_ closed: Closed, log: Data? = nil) throws {
        try owned.setWAL(true)
        try owned.give(
            closed == .folder ? 0 : OtherUser.number, OtherUser.number, mode: closed == .folder ? 0o644 : 0o444)
        if let log { try log.write(to: URL(fileURLWithPath: store + "-wal")) }
    }

    private func contentOfOrchard() throws -> [String: Data] {
        try folder.content().filter { $0.key.hasPrefix("Orchard") }
    }

    @Test(
        "a closed store in WAL mode is read where no file can be made beside it, and none is left",
        arguments: looks, Closed.allCases)
    func closedWAL(command: [String], closed: Closed) throws {
        try close(closed, log: closed == .fileWithEmptyLog ? Data() : nil)
        let before = try contentOfOrchard()
        let run = try look(command)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try contentOfOrchard() == before)
    }

    @Test(
        "a -wal with content that can't be read is never ignored",
        arguments: looks + [["migrate", "--models"]], [Closed.file, .folder])
    func closedLog(command: [String], closed: Closed) throws {
        try close(closed, log: Data(repeating: 1, count: 100))
        let before = try contentOfOrchard()
        let run = try look(command)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("-wal holds data") && run.errors.contains("chmod u+w"), "\(run.errors)")
        #expect(try contentOfOrchard() == before)
    }

    /// Once a file exists, changes the store's modification time: until it is ended, or once before it interrupts the
    /// process that holds the work directory.
    private func writer(after path: String, interrupts: Bool = false) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "until [ -e \"$0\" ]; do sleep 0.01; done; "
                + (interrupts
                    ? "touch -m \"$1\"; kill -INT $(head -n 1 \"$(dirname \"$0\")/lock\")"
                    : "while touch -m \"$1\"; do :; done"),
            path, store,
        ]
        let before = try modified()
        try process.run()
        // A look at a small store may be over before the shell begins.
        while path == store, try modified() == before { usleep(1_000) }
        return process
    }

    private func modified() throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: store)[.modificationDate] as? Date
    }

    @Test("a store that is written to while it is read without locks is refused", arguments: looks, [false, true])
    func changed(command: [String], hasPlan: Bool) throws {
        guard !hasPlan || command[0] == "migrate" else { return }
        try close(.file)
        let writer = try writer(after: hasPlan ? folder.path("mine/.New.sqlite.migration/plan.json") : store)
        defer {
            // SIGTERM may be blocked where tests run, and the child inherits that.
            kill(writer.processIdentifier, SIGKILL)
            writer.waitUntilExit()
        }
        let run = try look(command, pausing: "planWritten:300")
        #expect(run.status == (hasPlan ? 76 : 75), "\(run.errors)")
        #expect(run.errors.contains(hasPlan ? "--restart" : "run again when no other program"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("mine/New.sqlite")))
    }

    @Test("an interrupt is reported as one, though the store was written to meanwhile")
    func interrupted() throws {
        try close(.file)
        let writer = try writer(after: folder.path("mine/.New.sqlite.migration/plan.json"), interrupts: true)
        defer { writer.waitUntilExit() }
        let run = try look(["migrate", "--output", "--models"], pausing: "planWritten:1000")
        #expect(run.status == 130, "\(run.errors)")
    }
}
