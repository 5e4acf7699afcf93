import Foundation
import Testing

/// A running `causeway migrate`, with its events.
private final class RunningMigration {
    let process = Process()
    private let events = Pipe()
    private let errorFile: String
    private(set) var output = ""

    /// Migrates `others` after its own store. `wrapper` is a command that starts the tool;
    /// every batch is held for a moment, where the build can be: what is sent then isn't too late.
    init(
        _ folder: WorkFolder, environment: [String: String] = [:], others: [String] = [],
        wrapper: [String] = RunningMigration.defaultSignals
    ) throws {
        let store = try folder.copy(
            SharedStores.path("posts-and-colors/CoreDataMigration_Example_3.sqlite"), as: "Store.sqlite")
        let tool = try #require(ToolProcess.path)
        let command =
            wrapper + [tool, "migrate", store] + others
            + ["--models", Self.models, "--json", "--batch-size", "1", "--jobs", "1"]
        process.executableURL = URL(fileURLWithPath: command[0])
        // One row per batch: 15,990 chances to stop, and the run takes far longer than the signal.
        process.arguments = Array(command.dropFirst())
        // The tool keeps a setting that it finds; CI gives the test runner one.
        var inherited = ProcessInfo.processInfo.environment
        inherited["SWIFT_BACKTRACE"] = nil
        inherited["CAUSEWAY_HARNESS"] = "1"
        inherited["CAUSEWAY_PAUSE_AT"] = "batchWritten:2"
        process.environment = inherited.merging(environment) { $1 }
        errorFile = NSTemporaryDirectory() + "causeway-errors-" + UUID().uuidString
        try Data().write(to: URL(fileURLWithPath: errorFile))
        process.standardOutput = events
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorFile))
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: errorFile)
    }

    /// Who runs the tests with nohup ignores SIGHUP, and so would the tool.
    static var defaultSignals: [String] {
        #if os(Linux)
            ["/usr/bin/env", "--default-signal=HUP"]
        #else
            []
        #endif
    }

    static let models = SharedStores.path("posts-and-colors/CoreDataMigration_Example.xcdatamodeld")

    var errors: String { (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? "" }

    /// Waits for an event's name.
    func wait(for event: String) {
        while !output.contains("\"event\":\"\(event)\"") {
            let bytes = events.fileHandleForReading.availableData
            if bytes.isEmpty { return }
            output += String(decoding: bytes, as: UTF8.self)
        }
    }

    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
    }

    func waitUntilExit() {
        output += String(decoding: events.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
    }
}

/// SIGINT, SIGTERM and SIGUSR1 while rows are moved.
@Suite("Signals", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct SignalTests {
    @Test(
        "a signal stops the migration, the store stays as it was, and running again resumes it",
        arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(143))])
    func stop(signal: Int32, status: Int32) throws {
        let folder = try WorkFolder()
        let run = try RunningMigration(folder)
        run.wait(for: "passBegan")
        run.send(signal)
        run.waitUntilExit()
        #expect(run.process.terminationReason == .exit)
        #expect(run.process.terminationStatus == status)
        #expect(run.output.contains("\"exitCode\":\(status)"))
        #expect(run.output.contains("\"isResumable\":true"))
        #expect(run.errors.contains("the store is untouched; the next run resumes"))
        #expect(run.errors.contains(status == 143 ? "Terminated; progress saved" : "Interrupted; progress saved"))
        let store = folder.path("Store.sqlite")
        let original = SharedStores.path("posts-and-colors/CoreDataMigration_Example_3.sqlite")
        #expect(FileManager.default.contentsEqual(atPath: store, andPath: original))
        let again = try ToolProcess(["migrate", store, "--models", RunningMigration.models, "--json"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("\"event\":\"resumed\""))
        let backup = try #require(try folder.backup(of: "Store.sqlite"))
        #expect(try Set(folder.content().keys) == ["Store.sqlite", backup])
    }

    @Test("one signal stops all stores; those that weren't begun are reported as that")
    func several() throws {
        let folder = try WorkFolder()
        let others = try ["B.sqlite", "C.sqlite"].map { name in
            try folder.copy(SharedStores.path("posts-and-colors/CoreDataMigration_Example_3.sqlite"), as: name)
        }
        let run = try RunningMigration(folder, others: others)
        run.wait(for: "passBegan")
        run.send(SIGINT)
        run.waitUntilExit()
        #expect(run.process.terminationStatus == 130)
        let last = try #require(run.output.split(separator: "\n").last)
        #expect(last.contains("\"event\":\"stores\""))
        #expect(last.contains("\"notBegun\":2"))
        #expect(last.contains("\"failed\":1"))
        let original = SharedStores.path("posts-and-colors/CoreDataMigration_Example_3.sqlite")
        for store in others { #expect(FileManager.default.contentsEqual(atPath: store, andPath: original)) }
    }

    #if os(Linux)
        @Test("a migration that nohup has started outlives its terminal")
        func ignoredHangup() throws {
            let folder = try WorkFolder()
            let run = try RunningMigration(folder, wrapper: ["/usr/bin/nohup"])
            run.wait(for: "passBegan")
            run.send(SIGHUP)
            run.waitUntilExit()
            #expect(run.process.terminationStatus == 0, "\(run.errors)")
        }
    #endif

    @Test(
        "a command that only reads says as JSON, too, that a signal ended it",
        arguments: [(SIGINT, Int32(130), "interrupted"), (SIGTERM, 143, "terminated"), (SIGHUP, 143, "terminated")])
    func reading(signal: Int32, status: Int32, code: String) throws {
        let folder = try WorkFolder()
        let models = ChangesTests.root.appendingPathComponent(ChangesTests.orchard).path
        let store = folder.path("Large.sqlite")
        let made = try ToolProcess(["generate", models, store, "--rows", "60000", "--seed", "3"])
        #expect(made.status == 0, "\(made.errors)")
        let run = try RunningTool(
            ["verify", store, "--models", models, "--json"], wrapper: RunningMigration.defaultSignals)
        run.wait(for: "\"event\":\"progress\"")
        kill(run.process.processIdentifier, signal)
        #expect(run.end() == status)
        #expect(run.errors.contains("a signal ended the command"), "\(run.errors)")
        let line = try #require(run.output.split(separator: "\n").last)
        let error = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(error["event"] as? String == "error" && error["code"] as? String == code)
        #expect(error["exitCode"] as? Int == Int(status) && error["store"] as? String == store)
    }

    @Test("the first signal ends a command whose reader has stopped reading")
    func stoppedReader() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: try #require(ToolProcess.path))
        // A quarter of a megabyte: far more than a pipe holds.
        process.arguments = ["models", SharedStores.path("wire/zmessaging.xcdatamodeld"), "--json"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        // Time to fill the pipe again; a process that isn't so far yet ends all the same.
        usleep(300_000)
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    }

    @Test("SIGUSR1 prints a status line and doesn't stop the run")
    func status() throws {
        let folder = try WorkFolder()
        let run = try RunningMigration(folder)
        run.wait(for: "progress")
        run.send(SIGUSR1)
        run.waitUntilExit()
        #expect(run.process.terminationStatus == 0)
        #expect(run.errors.contains("step 1 of 1 ("), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(run.output.contains("\"event\":\"summary\""))
    }

    #if DEBUG
        @Test("a second signal ends the process at once, even a hanging one, and the store is complete")
        func second() throws {
            let folder = try WorkFolder()
            // It hangs far longer than the test, as soon as the plan has its name, and doesn't check for a stop request
            // in between: nothing but the second signal can end the process.
            let run = try RunningMigration(
                folder, environment: ["CAUSEWAY_HARNESS": "1", "CAUSEWAY_PAUSE_AT": "planWritten:600000"])
            let plan = folder.path(".Store.sqlite.migration/plan.json")
            while !FileManager.default.fileExists(atPath: plan), run.process.isRunning { usleep(10_000) }
            run.send(SIGTERM)
            while !run.errors.contains("stopping: saving progress"), run.process.isRunning {
                usleep(10_000)
            }
            run.send(SIGINT)
            run.waitUntilExit()
            #expect(run.process.terminationReason == .exit)
            #expect(run.process.terminationStatus == 128 + SIGINT)
            #expect(run.errors.contains("ended at once: the store is complete, old or new"))
            let original = SharedStores.path("posts-and-colors/CoreDataMigration_Example_3.sqlite")
            #expect(FileManager.default.contentsEqual(atPath: folder.path("Store.sqlite"), andPath: original))
        }
    #endif

    #if os(Linux)
        @Test(
            "a crash ends the process without printing memory, in the background of a script too",
            arguments: [[], ["/bin/sh", "-c", "trap '' QUIT; exec \"$@\"", "sh"]])
        func crash(wrapper: [String]) throws {
            let folder = try WorkFolder()
            let run = try RunningMigration(folder, wrapper: wrapper)
            run.wait(for: "passBegan")
            run.send(SIGILL)
            run.waitUntilExit()
            #expect(run.process.terminationReason == .uncaughtSignal)
            #expect(run.process.terminationStatus == SIGILL)
            #expect(run.errors == "")
            let again = try ToolProcess(
                ["migrate", folder.path("Store.sqlite"), "--models", RunningMigration.models, "--quiet"])
            #expect(again.status == 0, "\(again.errors)")
        }
    #endif
}
