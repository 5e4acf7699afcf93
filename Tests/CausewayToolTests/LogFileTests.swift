import Foundation
import Testing

/// `--log-file`.
@Suite("Log file", .timeLimit(.minutes(60)))
struct LogFileTests {
    private let folder: WorkFolder
    private let store: String
    private let models: String

    init() throws {
        folder = try WorkFolder()
        store = try folder.addOrchard()
        models = folder.path("Orchard/Orchard.xcdatamodeld")
    }

    private struct Line: Decodable {
        var event: String
        var time: String
        var store: String
    }

    @Test("every event is appended with time and store, whatever is shown")
    func events() throws {
        let log = folder.path("log.jsonl")
        let run = try ToolProcess(["migrate", store, "--models", models, "--quiet", "--log-file", log])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "")
        #expect(run.errors == "")
        func lines() throws -> [Line] {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
        }
        let first = try lines()
        #expect(first.first?.event == "began")
        #expect(first.last?.event == "summary")
        #expect(Set(first.map(\.event)).isSuperset(of: ["planned", "stepBegan", "phaseBegan"]))
        #expect(first.allSatisfy { $0.store == store })
        #expect(first.allSatisfy { $0.time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil })
        #expect(first.map(\.time) == first.map(\.time).sorted())
        let missing = folder.path("Missing.sqlite")
        #expect(try ToolProcess(["migrate", missing, "--models", models, "--log-file", log]).status == 66)
        #expect(try lines().dropFirst(first.count).map(\.event) == ["began", "error"])
    }

    @Test("several stores share the file")
    func several() throws {
        let log = folder.path("log.jsonl")
        let missing = folder.path("Missing.sqlite")
        let run = try ToolProcess([
            "migrate", store, missing, "--models", models, "--log-file", log, "--parallel", "2",
        ])
        #expect(run.status == 66)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        #expect(lines.filter { $0.store == missing }.map(\.event) == ["began", "error"])
        #expect(lines.filter { $0.store == store }.last?.event == "summary")
    }

    @Test("what isn't a log is left alone, and a log that can't be opened stops the run before it begins")
    func refused() throws {
        let text = try folder.write(Array("a text".utf8), as: "text")
        let record = try folder.write(Array("{\"versions\":{}}\n".utf8), as: "shipped.json")
        let before = try folder.content()
        for path in [text, record, folder.path("missing/log.jsonl")] {
            let run = try ToolProcess(["migrate", store, "--models", models, "--log-file", path, "--json"])
            #expect(run.status == 73, "\(run.errors)")
            #expect(run.output.contains("\"event\":\"error\""))
        }
        #expect(try folder.content() == before)
    }

    @Test("a log whose only line a full disk has cut begins anew")
    func cut() throws {
        let log = try folder.write(Array(#"{"event":"be"#.utf8), as: "log.jsonl")
        for _ in 0..<2 {
            let run = try ToolProcess(["migrate", store, "--models", models, "--quiet", "--log-file", log])
            #expect(run.status == 0, "\(run.errors)")
        }
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.count(where: { $0.hasPrefix(#"{"event":"began""#) }) == 2)
        for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }

    @Test("a line that a full disk has cut is ended before the next one")
    func cutLater() throws {
        let log = folder.path("log.jsonl")
        let arguments = ["migrate", store, "--models", models, "--quiet", "--log-file", log]
        #expect(try ToolProcess(arguments).status == 0)
        let first = try String(contentsOfFile: log, encoding: .utf8)
        try Data(first.utf8.dropLast(20)).write(to: URL(fileURLWithPath: log))
        #expect(try ToolProcess(arguments).status == 0)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let cut = first.split(separator: "\n").count - 1
        #expect(lines.last == "" && lines[cut] == first.split(separator: "\n")[cut].dropLast(19))
        for (place, line) in lines.dropLast().enumerated() where place != cut {
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        }
        #expect(lines.count(where: { $0.hasPrefix(#"{"event":"began""#) }) == 2)
    }

    @Test("lines that are missing are the last line of JSON", arguments: [false, true])
    func missingLines(several: Bool) throws {
        let others = several ? [folder.path("Other.sqlite")] : []
        for other in others {
            let made = try ToolProcess(["generate", models, other, "--rows", "10", "--seed", "1", "--version", "v1"])
            #expect(made.status == 0, "\(made.errors)")
        }
        let run = try ToolProcess(
            ["migrate", store] + others + ["--models", models, "--json", "--log-file", "/dev/full"])
        #expect(run.status == 74, "\(run.errors)")
        let last = try #require(run.output.split(separator: "\n").last)
        #expect(last.contains(#""event":"error""#) && last.contains(#""exitCode":74"#), "\(last)")
        #expect(last.contains("the log file lacks lines") && run.errors.contains("/dev/full: the log file lacks lines"))
        #expect(last.contains(#""storeIsNew":true"#), "\(last)")
        #expect(last.contains(#""store":\#(several ? "null" : "\"\(store)\"")"#), "\(last)")
    }

    @Test("a dry run has no log")
    func dryRun() throws {
        let log = folder.path("log.jsonl")
        let run = try ToolProcess(["migrate", store, "--models", models, "--dry-run", "--log-file", log])
        #expect(run.status == 64 && run.errors.contains("--dry-run"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: log))
    }

    @Test("a dry run prints its plan, so it can't be quiet")
    func quietDryRun() throws {
        let run = try ToolProcess(["migrate", store, "--models", models, "--dry-run", "--quiet"])
        #expect(run.status == 64 && run.errors.contains("--quiet"), "\(run.errors)")
    }

    @Test("a file that the run makes itself is no log", arguments: ["--output", "--key-map"])
    func sameFile(option: String) throws {
        let before = try folder.content()
        let file = folder.path("New")
        let run = try ToolProcess(["migrate", store, "--models", models, "--log-file", file, option, file])
        #expect(run.status == 64)
        #expect(run.errors.contains("--log-file and \(option) name the same file"), "\(run.errors)")
        #expect(try folder.content() == before)
    }

    @Test(
        "a file of the store is no log, whatever the path is called",
        arguments: ["", "-wal", "-journal", "-shm"], [false, true])
    func storeFile(suffix: String, isNew: Bool) throws {
        let before = try folder.content()
        let new = folder.path("New.sqlite")
        // Another path of the same folder.
        let log = folder.path("Orchard") + "/.././" + (isNew ? "New.sqlite" : "Orchard/Orchard-v1.sqlite") + suffix
        let run = try ToolProcess(
            ["migrate", store, "--models", models, "--log-file", log] + (isNew ? ["--output", new] : []))
        #expect(run.status == 64, "\(run.errors)")
        #expect(run.errors.contains("--log-file"), "\(run.errors)")
        #expect(try folder.content() == before)
    }

    @Test("of several stores, models that can't be read are every store's failure, in the log and in the last line")
    func missingModels() throws {
        let other = try folder.copy(store, as: "Other.sqlite")
        let log = folder.path("log.jsonl")
        let run = try ToolProcess(
            ["migrate", store, other, "--models", folder.path("none.momd"), "--json", "--log-file", log])
        #expect(run.status == 66, "\(run.errors)")
        let last = try #require(run.output.split(separator: "\n").last)
        #expect(last.contains("\"event\":\"stores\"") && last.contains("\"failed\":2"), "\(last)")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.count { $0.contains("\"event\":\"error\"") } == 2, "\(lines)")
    }

    @Test("a stream that the caller has closed is no other file's", arguments: [1, 2])
    func closedStream(number: Int) throws {
        let tool = try #require(ToolProcess.path)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec \"$0\" inspect \"$1\" \(number)>&-", tool, store]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == (number == 1 ? 74 : 0))
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test("a log that mayn't be read is refused as one", .enabled(if: OtherUser.canRun, "needs root"))
    func unreadable() throws {
        let log = try folder.write(Array("{}\n".utf8), as: "log.jsonl")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: log)
        let run = try ToolProcess(
            ["migrate", store, "--models", models, "--log-file", log, "--json"], as: OtherUser.number)
        #expect(run.status == 73, "\(run.errors)")
        #expect(run.errors.contains("give another --log-file") && run.output.contains("\"event\":\"error\""))
    }

    #if os(Linux)
        @Test("a full disk doesn't stop the migration, and is reported at its end")
        func full() throws {
            let run = try ToolProcess(["migrate", store, "--models", models, "--log-file", "/dev/full"])
            #expect(run.status == 74)
            #expect(run.errors.contains("error: /dev/full: the log file lacks lines: "))
            #expect(run.errors.contains("the new store is in place"))
            #expect(try folder.content().keys.contains { $0.contains(".premigration-") })
        }
    #endif
}
