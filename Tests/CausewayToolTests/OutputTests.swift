import Causeway
import Foundation
import Testing

/// The command's output: valid for every name. Where it can't be printed, the error says what was done.
@Suite("Output", .timeLimit(.minutes(60)))
struct OutputTests {
    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Note">
        <attribute name="text" attributeType="String" optional="NO"/>%@</entity></model>
        """
    private static let more = "<attribute name=\"more\" attributeType=\"String\" optional=\"YES\"/>"

    private let folder: WorkFolder
    private let models: String

    /// Two versions of a model.
    init() throws {
        folder = try WorkFolder()
        models = folder.path("Notes.xcdatamodeld")
        for (name, extra) in [("V1", ""), ("V2", Self.more)] {
            let version = "\(models)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            let text = Self.model.replacingOccurrences(of: "%@", with: extra)
            try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
        }
    }

    private func generate(_ name: String, rows: Int = 3) throws -> String {
        let path = folder.path(name)
        let run = try ToolProcess([
            "generate", models, path, "--rows", "\(rows)", "--seed", "1", "--version", "V1",
        ])
        #expect(run.status == 0, "\(run.errors)")
        return path
    }

    private struct Named: Decodable {
        var store: String
    }

    private struct Failure: Decodable {
        var event: String
        var message: String
    }

    private static let names = [
        "zero\u{200C}width", "soft\u{AD}hyphen", "right\u{202E}left", "line\u{2028}feed", "\u{FEFF}mark",
        "tag\u{E0041}s", "bell\u{7}", "new\nline", "quote\"back\\slash", "emoji👩\u{200D}💻",
    ]

    @Test("JSON is valid, and holds the name, for every name of a file", arguments: names)
    func named(_ name: String) throws {
        let store = try generate(name + ".sqlite")
        let steps: [[String]] = [
            ["inspect", store, "--models", models], ["verify", store], ["status", store],
            ["plan", store, "--models", models],
        ]
        for arguments in steps {
            let run = try ToolProcess(arguments + ["--json"])
            #expect(run.status == 0, "\(run.errors)")
            let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            #expect((document?["store"] as? String).map { $0.hasSuffix(name + ".sqlite") } ?? true)
            #expect(document != nil)
        }
        #expect(!(try ToolProcess(["inspect", store]).output.contains("\u{202E}")))
        let run = try ToolProcess(["migrate", store, "--models", models, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        for line in run.output.split(separator: "\n") {
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        }
        let missing = try ToolProcess(["migrate", folder.path("no" + name), "--models", models, "--json"])
        #expect(missing.status == 66)
        let line = try JSONDecoder().decode(Failure.self, from: Data(missing.output.utf8))
        #expect(line.event == "error" && line.message.contains("no" + name))
    }

    @Test(
        "a plan shows a query only where a query reads the rows", arguments: [("statements", true), ("pages", false)])
    func queries(engine: String, isRead: Bool) throws {
        let store = try generate("Store.sqlite")
        let run = try ToolProcess(["plan", store, "--models", models, "--sql", "--engine", engine])
        #expect(run.status == 0, "\(run.errors)")
        let made = run.output.split(separator: "\n").filter { line in
            ["kept:", "patched:", "rebuilt from pages:"].contains { line.hasPrefix("  Tables \($0)") }
        }
        #expect(made.contains { $0.contains("ZNOTE") } == !isRead)
        #expect(run.output.contains("-- rows of Note") == isRead)
    }

    @Test("JSON is valid where a name isn't valid UTF-8", arguments: ["inspect", "verify", "status"])
    func brokenName(command: String) throws {
        let process = Process()
        let output = folder.path("output")
        try Data().write(to: URL(fileURLWithPath: output))
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "exec \"$0\" \(command) \"$(printf '/no/\\377\\200.sqlite')\" --json",
            try #require(ToolProcess.path),
        ]
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 66)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: output))
        #expect(String(validating: bytes, as: UTF8.self) != nil)
        #expect(try JSONDecoder().decode(Failure.self, from: bytes).event == "error")
    }

    /// Runs with standard output on a device that is always full.
    private func runOnFullDevice(_ arguments: [String]) throws -> (status: Int32, errors: String) {
        let process = Process()
        let errors = folder.path("errors-\(UUID().uuidString)")
        try Data().write(to: URL(fileURLWithPath: errors))
        process.executableURL = URL(fileURLWithPath: try #require(ToolProcess.path))
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOfFile: errors, encoding: .utf8))
    }

    @Test(
        "where the summary can't be written, the error says that the store is new",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")), arguments: [[], ["--json"]])
    func fullOutput(flags: [String]) throws {
        let store = try generate("Store.sqlite")
        let run = try runOnFullDevice(["migrate", store, "--models", models] + flags)
        #expect(run.status == 74)
        #expect(run.errors.contains("error: the result can't be written to standard output: "))
        #expect(run.errors.contains("the new store is in place: \(store); the original is at \(store).premigration-"))
        let versions = try ToolProcess(["inspect", store, "--models", models]).output
        #expect(versions.contains("V2"))
        let again = try runOnFullDevice(["migrate", store, "--models", models] + flags)
        #expect(again.status == 74 && again.errors.contains("the store is untouched: it has the version already"))
        let back = try runOnFullDevice(["rollback", store] + flags)
        #expect(back.status == 74 && back.errors.contains("the original is back"))
        #expect(try ToolProcess(["inspect", store, "--models", models]).output.contains("V1"))
    }

    @Test(
        "help, the version and a completion script that can't be written are a failure",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: ["--help", "--version", "--generate-completion-script=zsh"])
    func helpOnFullDevice(argument: String) throws {
        let run = try runOnFullDevice([argument])
        #expect(run.status == 74)
        #expect(run.errors.contains("error: the result can't be written to standard output: "))
        #expect(try ToolProcess([argument]).status == 0)
    }

    @Test(
        "where an export's summary can't be written, the error says that the export is there",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")), arguments: [[], ["--json"], ["--salvage"]])
    func exportOnFullDevice(flags: [String]) throws {
        let store = try generate("Store.sqlite")
        let output = folder.path("Out")
        let run = try runOnFullDevice(["export", store, "--output", output] + flags)
        #expect(run.status == 74 && FileManager.default.fileExists(atPath: output))
        #expect(run.errors.contains("\(output) is written, and complete"), "\(run.errors)")
    }

    /// A journal of a transaction that had changed nothing yet (sqlite.org/fileformat, 3).
    private func leaveHotJournal(beside store: String) throws {
        let header = try Data(contentsOf: URL(fileURLWithPath: store)).prefix(32)
        // Its magic, no page, any number, the pages that the store has, and the sizes of a sector and a page.
        var journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 0, 1, 2, 3, 4]
        journal.append(contentsOf: header[28..<32])
        journal.append(contentsOf: [0, 0, 2, 0, 0, 0])
        journal.append(contentsOf: header[16..<18])
        journal.append(contentsOf: [UInt8](repeating: 0, count: 512 - journal.count))
        try Data(journal).write(to: URL(fileURLWithPath: store + "-journal"))
    }

    @Test(
        "a run that only rolls a transaction back says so, whether it can print or not",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func rolledBack() throws {
        let store = try generate("Store.sqlite")
        let arguments = ["migrate", store, "--models", models, "--to", "V1"]
        try leaveHotJournal(beside: store)
        let run = try runOnFullDevice(arguments)
        #expect(run.status == 74)
        #expect(run.errors.contains("but an unfinished transaction of another program was rolled back"))
        #expect(!run.errors.contains("untouched"))
        try leaveHotJournal(beside: store)
        let text = try ToolProcess(arguments)
        #expect(text.output.contains("nothing to do, but an unfinished transaction"), "\(text.output)\(text.errors)")
    }

    #if DEBUG
        @Test(
            "a run that only restores the journal mode says so, whether it can print or not",
            .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
        func modeGivenBack() throws {
            let store = try generate("Store.sqlite")
            var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
            bytes.replaceSubrange(18..<20, with: [2, 2])
            try bytes.write(to: URL(fileURLWithPath: store))
            let arguments = ["migrate", store, "--models", models, "--to"]
            func kill() throws {
                let run = try ToolProcess(arguments + ["V2"], environment: ["CAUSEWAY_KILL_AT": "storeOwned"])
                #expect(run.status == 128 + SIGKILL)
            }
            try kill()
            let run = try runOnFullDevice(arguments + ["V1"])
            #expect(run.status == 74)
            #expect(run.errors.contains("it is in WAL mode again") && !run.errors.contains("untouched"))
            try kill()
            let text = try ToolProcess(arguments + ["V1"])
            #expect(text.output.contains("nothing to do, but it is in WAL mode again"), "\(text.output)")
        }
    #endif

    @Test("help for an unknown command is a usage error", arguments: ["nope", "migrat"])
    func helpOfNothing(word: String) throws {
        let run = try ToolProcess(["help", word])
        #expect(run.status == 64)
        #expect(run.errors.hasPrefix("error: no command \"\(word)\""))
        #expect(run.output == "")
    }

    @Test("`help` with a command's name prints that command's help")
    func helpOfCommand() throws {
        for arguments in [["help"], ["help", "migrate"], ["help", "--help"]] {
            #expect(try ToolProcess(arguments).status == 0, "\(arguments)")
        }
        let long = try ToolProcess(["migrate", "--help"]).output
        #expect(try ToolProcess(["help", "migrate"]).output == long)
    }

    @Test(
        "an interrupted generate leaves no file",
        arguments: [(SIGINT, Int32(130), "Interrupted"), (SIGTERM, 143, "Terminated")])
    func interrupted(signal: Int32, status: Int32, word: String) throws {
        let process = Process()
        let (store, errors) = (folder.path("Store.sqlite"), folder.path("errors"))
        try Data().write(to: URL(fileURLWithPath: errors))
        process.executableURL = URL(fileURLWithPath: try #require(ToolProcess.path))
        process.arguments = ["generate", models, store, "--rows", "100000000", "--seed", "1"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        process.standardInput = FileHandle.nullDevice
        try process.run()
        while ((try? FileManager.default.attributesOfItem(atPath: store)[.size]) as? Int ?? 0) == 0, process.isRunning {
            usleep(10_000)
        }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == status)
        let said = try String(contentsOfFile: errors, encoding: .utf8)
        #expect(said.hasPrefix("\(word): stopped; the partial store is removed\n"), "\(said)")
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path)) == [
                "Notes.xcdatamodeld", "errors",
            ])
    }
}
