import Foundation
import Testing

/// Every output of every command as JSON, against `Sources/CausewayTool/Schema`: a field that isn't documented fails.
@Suite("JSON and its schema", .timeLimit(.minutes(60)))
struct JSONSchemaTests {
    private let schema: JSONSchema
    private let folder: WorkFolder
    private let store: String

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let models = fixture("Orchard/Orchard.xcdatamodeld")

    private static func fixture(_ name: String) -> String { root.appendingPathComponent("Fixtures/" + name).path }

    init() throws {
        schema = try JSONSchema()
        folder = try WorkFolder()
        // With the folder of its external files.
        try FileManager.default.copyItem(atPath: Self.fixture("Orchard"), toPath: folder.path("Orchard"))
        store = folder.path("Orchard/Orchard-v1.sqlite")
    }

    /// Runs a command whose whole output is one document.
    private func expectDocument(_ name: String, _ arguments: [String], status: Int32 = 0) throws {
        let run = try ToolProcess(arguments + ["--json"])
        #expect(run.status == status, "\(run.errors)")
        #expect(schema.faults(run.output, as: name) == [], "\(arguments)")
    }

    private func lines(_ run: ToolProcess) throws -> [JSONValue] {
        try run.output.split(separator: "\n").map { try JSONValue($0) }
    }

    private func expectLines(_ run: ToolProcess) throws -> [JSONValue] {
        let lines = try lines(run)
        for line in lines { #expect(schema.faults(line, as: "migrate") == [], "\(line)") }
        return lines
    }

    // MARK: - The validator

    @Test(
        "the validator finds what doesn't fit",
        arguments: [
            (#"{"from": "a", "to": "b"}"#, 0), (#"{"from": "a"}"#, 1), (#"{"from": 1, "to": "b"}"#, 1),
            (#"{"from": "a", "to": "b", "more": null}"#, 1), (#"["a", "b"]"#, 1),
        ])
    func validator(text: String, count: Int) throws {
        let found = try #require(schema.resolve("definitions.schema.json#/$defs/edge", in: "models"))
        #expect(found.file == "definitions")
        let wrapped = #"{"models": "m", "currentVersion": "v", "versions": [], "notices": [], "steps": [], "#
        #expect(schema.faults(wrapped + #""mappings": []}"#, as: "models") == [])
        let mapping = #"{"name": "n", "origin": "code", "differences": [], "lines": [], "fits": [\#(text)]}"#
        let faults = schema.faults(wrapped + #""mappings": [\#(mapping)]}"#, as: "models")
        #expect((faults.isEmpty ? 0 : 1) == count, "\(faults)")
    }

    @Test("a wrong time, name or number is found")
    func details() {
        let event = { (time: String, step: String, name: String) in
            #"{"event": "\#(name)", "phase": "check", "time": "\#(time)", "store": null, "pass": null, "step": \#(step)}"#
        }
        #expect(schema.faults(event("2026-11-25T23:13:05.123Z", "1", "phaseBegan"), as: "migrate") == [])
        #expect(schema.faults(event("2026-11-25T23:13:05Z", "1", "phaseBegan"), as: "migrate") != [])
        #expect(schema.faults(event("2026-11-25T23:13:05.123Z", "0", "phaseBegan"), as: "migrate") != [])
        #expect(schema.faults(event("2026-11-25T23:13:05.123Z", "1.5", "phaseBegan"), as: "migrate") != [])
        #expect(schema.faults(event("2026-11-25T23:13:05.123Z", "1", "phaseEnded"), as: "migrate") != [])
    }

    @Test("every reference of every schema leads somewhere, and every object says what it has")
    func closed() {
        for (file, root) in schema.files { expectClosed(root, in: file, at: file) }
    }

    private func expectClosed(_ value: JSONValue, in file: String, at place: String) {
        if let reference = value["$ref"]?.string { #expect(schema.resolve(reference, in: file) != nil, "\(place)") }
        if value["properties"] != nil, value["type"] != nil {
            #expect(value["additionalProperties"] == .bool(false), "\(place)")
            for (name, member) in value["properties"]?.object ?? [:] {
                let isTold = member["description"] != nil || member["$ref"] != nil
                #expect(isTold, "\(place).\(name) has no description")
            }
        }
        for (key, member) in value.object ?? [:] { expectClosed(member, in: file, at: "\(place).\(key)") }
        for element in value.array ?? [] { expectClosed(element, in: file, at: place) }
    }

    // MARK: - Commands

    @Test("models, with mapping models and alone")
    func modelsCommand() throws {
        try expectDocument("models", ["models", Self.models])
        for history in ["Staff", "Jumps", "ColourfulPosts", "Kennel", "Ledger", "Detour"] {
            let models = Self.fixture("\(history)/\(history).xcdatamodeld")
            try expectDocument("models", ["models", models, "--mappings"], status: history == "Detour" ? 78 : 0)
        }
        try expectDocument("mapping-model", ["models", Self.fixture("Staff/v1-v2.xcmappingmodel")])
    }

    @Test("plan, inspect, verify and status of a store")
    func readers() throws {
        try expectDocument("plan", ["plan", store, "--models", Self.models])
        try expectDocument("plan", ["plan", store, "--models", Self.models, "--engine", "statements"])
        try expectDocument("inspect", ["inspect", store])
        try expectDocument("inspect", ["inspect", store, "--models", Self.models])
        try expectDocument("inspect", ["inspect", store, "--models", Self.fixture("Ledger/Ledger.xcdatamodeld")])
        try expectDocument("verify", ["verify", store, "--models", Self.models])
        try expectDocument("verify", ["verify", store, "--quick"])
        try expectDocument("status", ["status", store])
    }

    @Test("generate, and a plan with a mapping model")
    func generation() throws {
        let made = folder.path("Made.sqlite")
        let models = Self.fixture("Ledger/Ledger.xcdatamodeld")
        let version = try #require(
            try JSONValue(try ToolProcess(["models", models, "--json"]).output)["versions"]?.array?.first?["name"]?
                .string)
        try expectDocument(
            "generate", ["generate", models, made, "--rows", "40", "--seed", "3", "--version", version])
        try expectDocument("plan", ["plan", made, "--models", models])
        let run = try ToolProcess(["migrate", made, "--models", models, "--json", "-vv"])
        #expect(run.status == 0, "\(run.errors)")
        _ = try expectLines(run)
    }

    @Test(
        "migrate: every line says when, of which store, in which step and pass",
        arguments: [["--engine", "statements"], ["--engine", "pages"], ["--verify", "full"]])
    func migration(flags: [String]) throws {
        let run = try ToolProcess(["migrate", store, "--models", Self.models, "--json", "-vv"] + flags)
        #expect(run.status == 0, "\(run.errors)")
        let lines = try expectLines(run)
        #expect(lines.first?["event"]?.string == "planned")
        #expect(lines.last?["event"]?.string == "summary")
        #expect(lines.allSatisfy { $0["store"]?.string == store })
        let times = lines.compactMap { $0["time"]?.string }
        #expect(times.count == lines.count && times == times.sorted())
        // From the first step on, up to the swap.
        let begin = try #require(lines.firstIndex { $0["event"]?.string == "stepBegan" })
        #expect(lines[begin]["step"]?.number == 1)
        #expect(lines[..<begin].allSatisfy { $0["step"] == .null })
        let passes = lines.filter { $0["event"]?.string == "passEnded" }
        #expect(!passes.isEmpty && passes.allSatisfy { $0["pass"] == $0["title"] && $0["step"] != .null })
        let fractions = lines.compactMap { $0["fraction"]?.number }
        #expect(fractions == fractions.sorted())
        try expectDocument("status", ["status", store])
    }

    @Test("rollback and purge-backup")
    func backups() throws {
        #expect(try ToolProcess(["migrate", store, "--models", Self.models, "-q"]).status == 0)
        try expectDocument("rollback", ["rollback", store])
        #expect(try ToolProcess(["migrate", store, "--models", Self.models, "-q"]).status == 0)
        try expectDocument("purge-backup", ["purge-backup", store])
        try expectDocument("purge-backup", ["purge-backup", store])
    }

    /// Commands with `--json`, whose outputs the tests here validate; a new one fails until it is among them.
    private static let commands: Set<String> = [
        "plan", "migrate", "status", "backups", "rollback", "purge-backup", "inspect", "compare", "verify", "models",
        "export", "generate",
    ]

    @Test("every command that prints JSON is validated here")
    func everyCommand() throws {
        let dump = try JSONValue(try ToolProcess(["--experimental-dump-help"]).output)
        let commands = dump["command"]?["subcommands"]?.array ?? []
        let printing = commands.filter { command in
            (command["arguments"]?.array ?? []).contains { argument in
                (argument["names"]?.array ?? []).contains { $0["name"]?.string == "json" }
            }
        }
        #expect(Set(printing.compactMap { $0["commandName"]?.string }) == Self.commands)
    }

    @Test("models --record and --check, sound and with every kind of reason")
    func modelsCheck() throws {
        let models = folder.path("Orchard/Orchard.xcdatamodeld")
        let record = folder.path("shipped.json")
        let check = ["models", models, "--check", record]
        try expectDocument("models-record", check + ["--record"])
        try expectDocument("models-record", check + ["--record"])
        try expectDocument("models-check", check + ["--store", store])
        try expectDocument("models-check", check + ["--store", folder.path("No.sqlite")], status: 3)
        try FileManager.default.removeItem(atPath: models + "/v2.xcdatamodel")
        try expectDocument("models-check", check, status: 3)
        try expectDocument("models-record", check + ["--record"], status: 3)
        try expectDocument(
            "models-check", ["models", Self.fixture("Detour/Detour.xcdatamodeld"), "--check", record], status: 3)
    }

    @Test("models --export")
    func modelExport() throws {
        try expectDocument("model-export", ["models", store, "--export", folder.path("Cached.xcdatamodel")])
        try expectDocument(
            "model-export", ["models", Self.models, "--version", "v2", "--export", folder.path("V2.xcdatamodel")])
    }

    @Test("backups, at every stage of a store's life, and purge-backup --all")
    func backupList() throws {
        try expectDocument("backups", ["backups", store])
        #expect(try ToolProcess(["migrate", store, "--models", Self.models, "-q"]).status == 0)
        try expectDocument("backups", ["backups", store])
        try expectDocument("backups", ["backups", store, "--models", Self.models])
        #expect(try ToolProcess(["rollback", store]).status == 0)
        #expect(try ToolProcess(["migrate", store, "--models", Self.models, "-q"]).status == 0)
        try expectDocument("backups", ["backups", store, "--models", Self.models])
        try expectDocument("purge-backup", ["purge-backup", store, "--all"])
        try expectDocument("backups", ["backups", store])
    }

    @Test("compare: equal, of two versions, by content")
    func comparisons() throws {
        try FileManager.default.copyItem(atPath: folder.path("Orchard"), toPath: folder.path("Other"))
        let other = folder.path("Other/Orchard-v1.sqlite")
        for options in [[], ["--modulo-keys"], ["--models", Self.models]] as [[String]] {
            try expectDocument("compare", ["compare", store, other] + options)
        }
        #expect(try ToolProcess(["migrate", other, "--models", Self.models, "-q"]).status == 0)
        for options in [[], ["--modulo-keys"], ["--models", Self.models]] as [[String]] {
            try expectDocument("compare", ["compare", store, other] + options, status: 1)
        }
    }

    @Test(
        "export, salvage, verify, compare and generate tell on standard error how far they are, as events of progress",
        arguments: [
            ["export", "STORE", "--output", "lines"],
            ["export", "STORE", "--output", "Readable.sqlite", "--as", "sqlite"],
            ["export", "STORE", "--output", "-", "--entity", "Plant"],
            ["export", "STORE", "--output", "saved", "--salvage"], ["verify", "STORE"], ["compare", "STORE", "STORE"],
            ["compare", "STORE", "STORE", "--modulo-keys"],
            ["generate", models, "Made.sqlite", "--rows", "20", "--seed", "1"],
        ])
    func progress(arguments: [String]) throws {
        let call = arguments.map { $0 == "STORE" ? store : $0 }
        let run = try ToolProcess(call + ["--json"], in: folder.url)
        #expect(run.status == 0)
        let events = run.errors.split(separator: "\n")
        #expect(!events.isEmpty)
        for event in events {
            #expect(schema.faults(event, as: "progress") == [], "\(event)")
            let store =
                switch call[0] {
                case "compare": JSONValue.null
                case "generate": JSONValue.string("Made.sqlite")
                default: JSONValue.string(store)
                }
            #expect(try JSONValue(event)["store"] == store)
        }
    }

    @Test("without --json nothing of progress is written where standard error is no terminal")
    func silence() throws {
        for call in [["verify", store], ["compare", store, store], ["export", store, "--output", "lines"]] {
            #expect(try ToolProcess(call, in: folder.url).errors == "")
        }
    }

    @Test("export in every format, and salvage of a sound and of a damaged store")
    func exports() throws {
        for (format, name) in [("jsonl", "lines"), ("csv", "tables"), ("sqlite", "Readable.sqlite")] {
            try expectDocument("export", ["export", store, "--as", format, "--output", folder.path(name)])
        }
        try expectDocument(
            "export", ["export", store, "--entity", "Plant", "--limit", "2", "--output", folder.path("few")])
        try expectDocument("salvage", ["export", store, "--salvage", "--output", folder.path("sound")])
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        for page in [9, 15, 20, 30] {
            bytes.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: Data(repeating: 0xFF, count: 4_096))
        }
        let damaged = try folder.write(Array(bytes), as: "Damaged.sqlite")
        try expectDocument("salvage", ["export", damaged, "--salvage", "--output", folder.path("saved")])
        try expectDocument("verify", ["verify", damaged], status: 65)
        try expectDocument("error", ["export", damaged, "--output", folder.path("none")], status: 65)
    }

    @Test("several stores, their plans, and the log file")
    func severalStores() throws {
        let log = folder.path("log.jsonl")
        let stores = [store, folder.path("No.sqlite"), try folder.write([1, 2, 3], as: "Bad.sqlite")]
        let call = stores + ["--models", Self.models]
        try expectDocument("plan-stores", ["plan"] + call, status: 66)
        try expectDocument("plan-stores", ["migrate", "--dry-run"] + call, status: 66)
        try expectDocument("plan", ["plan", store, "--models", Self.models, "--sql", "--all"])
        try expectDocument("plan", ["migrate", "--dry-run", store, "--models", Self.models])
        for parallel in ["1", "3"] {
            let run = try ToolProcess(["migrate"] + call + ["--json", "--parallel", parallel, "--log-file", log])
            #expect(run.status == 66, "\(run.errors)")
            let lines = try expectLines(run)
            #expect(lines.last?["event"]?.string == "stores")
            #expect(lines.count { $0["event"]?.string == "error" } == 2)
        }
        let logged = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        for line in logged { #expect(schema.faults(line, as: "migrate") == [], "\(line)") }
        #expect(logged.count { $0.contains("\"event\":\"began\"") } == 6)
    }

    @Test("a command line that can't be parsed, of every command", arguments: commands.sorted())
    func usage(command: String) throws {
        for arguments in [[command, "--json"], [command, "--json", "--nonsense"]] {
            let run = try ToolProcess(arguments)
            #expect(run.status == 64)
            #expect(schema.faults(run.output, as: "error") == [])
        }
    }

    @Test(
        "an error of any command is one line",
        arguments: [
            ["inspect"], ["verify"], ["status"], ["rollback"], ["purge-backup"], ["plan", "--models", models],
            ["migrate", "--models", models], ["backups"], ["export", "--output", "none"], ["compare", "none"],
            ["export", "--salvage", "--output", "none"],
        ])
    func errors(command: [String]) throws {
        let missing = folder.path("Missing.sqlite")
        let run = try ToolProcess([command[0], missing] + command.dropFirst() + ["--json"])
        #expect(run.status != 0)
        let line = try #require(run.output.split(separator: "\n").last)
        #expect(schema.faults(line, as: "error") == [])
        #expect(schema.faults(line, as: "migrate") == [])
        // Which of two it was says the message.
        #expect(try JSONValue(line)["store"] == (command[0] == "compare" ? JSONValue.null : .string(missing)))
    }

    @Test("errors about models")
    func modelErrors() throws {
        for arguments in [["models", folder.path("No.xcdatamodeld")], ["models", folder.path("No.xcmappingmodel")]] {
            let run = try ToolProcess(arguments + ["--json"])
            #expect(run.status != 0)
            #expect(schema.faults(run.output, as: "error") == [])
        }
    }

    #if DEBUG
        @Test("the status of a killed run, and the run that resumes it")
        func killed() throws {
            let migration = [
                "migrate", store, "--models", Self.models, "--json", "--batch-size", "1", "--checkpoint-interval", "0",
                "--engine", "statements",
            ]
            let run = try ToolProcess(migration, environment: ["CAUSEWAY_KILL_AT": "checkpointWritten:3"])
            #expect(run.status == 128 + SIGKILL)
            _ = try expectLines(run)
            let status = try ToolProcess(["status", store, "--json"])
            #expect(schema.faults(status.output, as: "status") == [])
            let found = try JSONValue(status.output)
            #expect(found["step"]?.number == 1)
            #expect(found["fraction"]?.number != nil)
            #expect(found["remainingSeconds"] == nil)
            let resumed = try expectLines(try ToolProcess(migration))
            #expect(resumed.contains { $0["event"]?.string == "resumed" && $0["step"]?.number == 1 })
        }
    #endif

    @Test(
        "stores that Core Data wrote", .enabled(if: SharedStores.exist, "shared/stores is missing"),
        arguments: [
            "wire/store2-101-0.wiredatabase", "colourful-posts/CoreDataMigration_Example_1.sqlite",
            "posts-and-colors/CoreDataMigration_Example_WAL.sqlite",
        ])
    func realStores(name: String) throws {
        let copy = try folder.copy(SharedStores.path(name), as: "Real.sqlite")
        try expectDocument("inspect", ["inspect", copy])
        let verified = try ToolProcess(["verify", copy, "--json"])
        #expect(schema.faults(verified.output, as: "verify") == [])
    }
}
