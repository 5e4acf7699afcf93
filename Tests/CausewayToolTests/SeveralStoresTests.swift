import Foundation
import Testing

/// `migrate` and `plan` with several stores in one call.
@Suite("Several stores", .timeLimit(.minutes(60)))
struct SeveralStoresTests {
    private let folder: WorkFolder

    init() throws {
        folder = try WorkFolder()
    }

    private static let orchard = URL(fileURLWithPath: OtherUser.orchard)
    private static let models = orchard.appendingPathComponent("Orchard.xcdatamodeld").path

    /// Makes a store with made-up rows.
    private func store(_ name: String, seed: Int) throws -> String {
        let path = folder.path(name)
        let made = try ToolProcess([
            "generate", Self.models, path, "--rows", "40", "--seed", String(seed), "--version", "v1",
        ])
        #expect(made.status == 0, "\(made.errors)")
        return path
    }

    private func migrate(_ stores: [String], _ options: [String] = []) throws -> ToolProcess {
        try ToolProcess(["migrate"] + stores + ["--models", Self.models] + options)
    }

    /// What a line of JSON says of itself.
    private struct Line: Decodable {
        struct Entry: Decodable {
            var store: String
            var result: String
            var exitCode: Int32
        }

        var event: String
        var store: String?
        var stores: [Entry]?
        var exitCode: Int32?
    }

    private static func lines(_ output: String) throws -> [Line] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// Fifty stores: number 7 is no database, number 20 is cut in half, number 33 isn't there.
    private func fifty() throws -> (stores: [String], bad: [Int: Int32]) {
        var stores: [String] = []
        for number in 0..<50 {
            let name = "Store-\(number).sqlite"
            switch number {
            case 7: stores.append(try folder.write(Array("no database".utf8), as: name))
            case 33: stores.append(folder.path(name))
            default: stores.append(try store(name, seed: number))
            }
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: stores[20]))
        _ = try folder.write(Array(whole.prefix(whole.count / 2)), as: "Store-20.sqlite")
        return (stores, [7: 65, 20: 65, 33: 66])
    }

    @Test("of 50 stores with 3 bad ones, 47 are migrated, and the first failure gives the exit status")
    func fiftyStores() throws {
        let (stores, bad) = try fifty()
        let before = try folder.content()
        let run = try migrate(stores, ["--parallel", "4"])
        #expect(run.status == 65, "\(run.errors)")
        let errors = run.errors.split(separator: "\n")
        for (number, store) in stores.enumerated() {
            let name = "Store-\(number).sqlite"
            let row = try #require(run.output.split(separator: "\n").first { $0.hasPrefix("  \(store) ") })
            if let status = bad[number] {
                #expect(row.contains("failed (\(status))"))
                #expect(errors.count { $0.hasPrefix("error: ") && $0.contains(name) } == 1)
                #expect(try folder.content()[name] == before[name])
            } else {
                #expect(row.contains("done") && row.contains("v3"))
                #expect(errors.count { $0.hasPrefix("done: ") && $0.contains("\(name): v1 → ") } == 1)
                #expect(try folder.backup(of: name) != nil)
            }
        }
        #expect(run.output.contains("\n47 migrated, 3 failed, "))
        #expect(try folder.content().keys.allSatisfy { !$0.contains(".migration") })
        let again = try migrate(stores, ["--json"])
        #expect(again.status == 65)
        let summary = try #require(try Self.lines(again.output).last)
        #expect(summary.event == "stores")
        #expect(summary.exitCode == 65)
        #expect(summary.stores?.map(\.store) == stores)
        #expect(summary.stores?.map(\.exitCode) == stores.indices.map { bad[$0] ?? 0 })
        #expect(summary.stores?.count { $0.result == "current" } == 47)
    }

    @Test("every event names its store, and the order given decides the exit status")
    func events() throws {
        let stores = [try store("A.sqlite", seed: 1), folder.path("Missing.sqlite"), try store("B.sqlite", seed: 2)]
        let damaged = try folder.write([1, 2, 3], as: "Damaged.sqlite")
        let run = try migrate(stores + [damaged], ["--json", "--parallel", "2"])
        #expect(run.status == 66)
        let lines = try Self.lines(run.output)
        #expect(lines.dropLast().allSatisfy { $0.store.map((stores + [damaged]).contains) == true })
        #expect(lines.count { $0.event == "summary" } == 2)
        #expect(lines.count { $0.event == "error" } == 2)
        #expect(lines.last?.stores?.map(\.result) == ["done", "failed", "done", "failed"])
        let quiet = try migrate(stores + [damaged], ["--json", "--quiet"])
        #expect(try Self.lines(quiet.output).map(\.event) == ["stores"])
        let silent = try migrate(stores, ["--quiet"])
        #expect(silent.output == "")
        #expect(silent.errors.contains("Missing.sqlite"))
        #expect(!silent.errors.contains("A.sqlite"))
    }

    @Test("options that name one file take a folder, with files named after the stores")
    func folders() throws {
        let stores = [try store("A.sqlite", seed: 1), try store("B.sqlite", seed: 2)]
        let before = try folder.content()
        let output = folder.path("new")
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: false)
        let run = try migrate(stores, ["--output", output, "--key-map", output, "--parallel", "2"])
        #expect(run.status == 0, "\(run.errors)")
        let after = try folder.content()
        for name in ["A.sqlite", "B.sqlite"] {
            #expect(after[name] == before[name])
            #expect(after["new/\(name)"] != nil)
        }
        let made = after.keys.filter { $0.hasPrefix("new/") }
        let own = ["A.sqlite", "B.sqlite", ".A_SUPPORT", ".B_SUPPORT"]
        #expect(made.allSatisfy { name in own.contains { name.hasPrefix("new/" + $0) } }, "\(made)")
    }

    @Test("a call that can't go well is refused before anything is started")
    func refusals() throws {
        let first = try store("A.sqlite", seed: 1)
        let second = try store("B.sqlite", seed: 2)
        let link = folder.path("Link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: first)
        let other = folder.path("Other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: first, toPath: other + "/A.sqlite")
        try FileManager.default.copyItem(atPath: first, toPath: other + "/A.db")
        let before = try folder.content()
        for (stores, options, reason) in [
            ([first, second, first], [], "is given twice"),
            ([first, second, link], [], "are the same file"),
            ([first, other + "/A.sqlite"], ["--output", other], "would write to the same file"),
            ([first, other + "/A.db"], ["--output", other], "would write to the same file"),
            ([first, second], ["--output", folder.path("New.sqlite")], "must be an existing folder"),
            ([first, second], ["--key-map", second], "must be an existing folder"),
            ([first, second], ["--parallel", "0"], "--parallel must be"),
        ] {
            let run = try migrate(stores, options)
            #expect(run.status == 64, "\(run.errors)")
            #expect(run.errors.contains(reason), "\(run.errors)")
            #expect(try folder.content() == before)
        }
        let shared = try ToolProcess(["migrate", first, second, "--models", second])
        #expect(shared.status == 64)
        #expect(shared.errors.contains("is --models too"))
        let missing = try ToolProcess(["migrate", first, second, "--models", folder.path("No.xcdatamodeld")])
        #expect(missing.status == 66)
        #expect(missing.errors.split(separator: "\n").count { $0.hasPrefix("error: ") } == 1)
        #expect(try folder.content() == before)
    }

    @Test("a store with a name of one letter is named in every message too")
    func shortNames() throws {
        for (seed, name) in [(1, "a"), (2, "e")] { _ = try store(name, seed: seed) }
        _ = try folder.write([1, 2, 3], as: "o")
        let run = try ToolProcess(
            ["migrate", "a", "e", "o", "i", "--models", Self.models], in: folder.url)
        #expect(run.status == 65, "\(run.errors)")
        let lines = run.errors.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("warning: a: ") } && lines.contains { $0.hasPrefix("e: v2 → v3: ") })
        #expect(lines.contains { $0.hasPrefix("error: i: ") && !$0.hasPrefix("error: i: i: ") }, "\(run.errors)")
        #expect(lines.contains { $0.hasPrefix("error: ") && $0.contains("/o: ") && !$0.hasPrefix("error: o: ") })
    }

    @Test("several plans are printed one after the other, and change nothing", arguments: [false, true])
    func plans(dryRun: Bool) throws {
        let stores = [try store("A.sqlite", seed: 1), folder.path("Missing.sqlite"), try store("B.sqlite", seed: 2)]
        let before = try folder.content()
        let command = dryRun ? ["migrate", "--dry-run"] : ["plan"]
        let run = try ToolProcess(command + stores + ["--models", Self.models])
        #expect(run.status == 66)
        #expect(run.output.split(separator: "\n").count { $0.hasPrefix("Store    ") } == 2)
        #expect(run.errors.contains("error: ") && run.errors.contains("Missing.sqlite"))
        #expect(run.output.contains("can't be planned (66)"))
        let markdown = try ToolProcess(command + stores + ["--models", Self.models, "--format", "markdown"])
        #expect(markdown.status == 66)
        #expect(markdown.output.hasSuffix(" MB |\n"))
        #expect(markdown.output.contains("| `\(folder.path("Missing.sqlite"))` | can't be planned (66) |  |\n"))
        let json = try ToolProcess(command + stores + ["--models", Self.models, "--json"])
        #expect(json.status == 66)
        let document = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let entries = try #require(document["stores"] as? [[String: Any]])
        #expect(entries.map { $0["plan"] != nil } == [true, false, true])
        #expect(document["exitCode"] as? Int == 66)
        #expect(try folder.content() == before)
    }

    @Test("line feeds and control characters in a store's name break no table or message, and are themselves in JSON")
    func lineFeed() throws {
        let path = try store("A\n\u{1B}B.sqlite", seed: 1)
        let stores = [path, try store("C.sqlite", seed: 2), folder.path("D\nE.sqlite")]
        let run = try migrate(stores)
        #expect(run.status == 66, "\(run.errors)")
        for text in ["A\\u{a}\\u{1b}B.sqlite", "D\\u{a}E.sqlite"] {
            #expect(run.output.split(separator: "\n").count { $0.contains(text) } == 1, "\(run.output)")
            #expect(run.errors.split(separator: "\n").contains { $0.contains(text) }, "\(run.errors)")
        }
        #expect(!(run.output + run.errors).contains("\nB.sqlite") && !(run.output + run.errors).contains("\nE.sqlite"))
        // The columns are as wide as what is printed.
        let rows = run.output.split(separator: "\n").prefix(3)
        let columns = rows.map { row in row.firstRange(of: /RESULT|done/).map { row[..<$0.lowerBound].count } }
        #expect(Set(columns).count == 1, "\(run.output)")
        for command in ["backups", "status"] {
            let look = try ToolProcess([command, path])
            #expect(look.status == 0 && look.output.contains("A\\u{a}\\u{1b}B.sqlite"), "\(look.output)")
            #expect(!look.output.contains("\n\\u{1b}B.sqlite"), "\(look.output)")
        }
        let json = try migrate(stores, ["--json"])
        #expect(json.output.contains(#"A\n\u001bB.sqlite"#) && !json.output.contains("u{a}"), "\(json.output)")
    }

    @Test("--dry-run of one store prints what plan prints")
    func dryRun() throws {
        let store = try store("A.sqlite", seed: 1)
        let before = try folder.content()
        for flags in [[], ["--json"], ["--format", "markdown"], ["--format", "json"]] as [[String]] {
            let plan = try ToolProcess(["plan", store, "--models", Self.models] + flags)
            let run = try migrate([store], ["--dry-run", "--verify", "full", "--restart"] + flags)
            #expect(run.status == plan.status)
            #expect(run.output == plan.output)
            #expect(run.errors == plan.errors)
        }
        for flags in [
            ["--format", "text"], ["--dry-run", "--format", "github"], ["--dry-run", "--json", "--format", "text"],
        ] {
            let refused = try migrate([store], flags)
            #expect(refused.status == 64 && refused.errors.contains("format"), "\(refused.errors)")
        }
        let missing = try ToolProcess(["migrate", folder.path("No.sqlite"), "--models", Self.models, "--dry-run"])
        #expect(missing.status == 66)
        #expect(try folder.content() == before)
    }
}
