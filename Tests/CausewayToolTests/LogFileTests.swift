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
        let before = try folder.content()
        for path in [store, folder.path("missing/log.jsonl")] {
            let run = try ToolProcess(["migrate", store, "--models", models, "--log-file", path, "--json"])
            #expect(run.status == 73, "\(run.errors)")
            #expect(run.output.contains("\"event\":\"error\""))
        }
        #expect(try folder.content() == before)
    }

    @Test("a dry run has no log")
    func dryRun() throws {
        let log = folder.path("log.jsonl")
        let run = try ToolProcess(["migrate", store, "--models", models, "--dry-run", "--log-file", log])
        #expect(run.status == 64 && run.errors.contains("--dry-run"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: log))
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
