import Foundation
import Testing

/// A command line that can't be parsed.
@Suite("Parsing errors", .timeLimit(.minutes(60)))
struct ParsingErrorTests {
    private struct Line: Decodable {
        var event: String
        var code: String
        var exitCode: Int32
        var message: String
        var remedy: String
        var storeIsNew: Bool
    }

    @Test(
        "it is JSON too where JSON is asked for",
        arguments: [
            ["migrate", "S.sqlite", "--json"], ["migrate", "S.sqlite", "--models", "M", "--frobnicate", "--json"],
            ["migrate", "S.sqlite", "--models", "M", "--jobs", "many", "--format", "json"],
            ["plan", "--format=json"], ["migrat", "S.sqlite", "--json"],
            ["migrate", "S.sqlite", "S.sqlite", "--models", "M", "--json"],
            ["migrate", "S.sqlite", "--models", "M", "--json", "--quiet", "-v"],
        ])
    func json(arguments: [String]) throws {
        let run = try ToolProcess(arguments)
        #expect(run.status == 64)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 1)
        let line = try JSONDecoder().decode(Line.self, from: Data(try #require(lines.first).utf8))
        #expect(line.event == "error")
        #expect(line.code == "usage")
        #expect(line.exitCode == 64)
        #expect(!line.message.isEmpty)
        #expect(run.errors.contains(line.message))
        #expect(!line.storeIsNew)
    }

    @Test("it is text alone otherwise", arguments: [["migrate", "S.sqlite"], ["migrate", "--", "--json"]])
    func text(arguments: [String]) throws {
        let run = try ToolProcess(arguments)
        #expect(run.status == 64)
        #expect(run.output == "")
        #expect(run.errors.contains("no store was touched; correct the command line, then run again\n"))
    }

    @Test(
        "errors look the same whoever finds them, and say once what became of the store",
        arguments: [
            ["migrate", "S.sqlite"], ["migrate", "S.sqlite", "--models", "M", "--frobnicate"],
            ["migrate", "S.sqlite", "--models", "M", "--jobs", "0"], ["migrat"],
            // Found by the library, not by the argument parser.
            ["export", "S.sqlite", "--output", "-", "--as", "csv"], ["export", "S.sqlite", "--output", "-"],
        ])
    func oneForm(arguments: [String]) throws {
        for options in [[], ["--json"]] {
            let run = try ToolProcess(arguments + options)
            #expect(run.status == 64)
            // Events of progress may come before what the library finds.
            let said = run.errors.split(separator: "\n").drop { $0.hasPrefix("{") }
            #expect(said.first?.hasPrefix("error: ") == true, "\(run.errors)")
            let outcomes = ["the store is untouched", "no store was touched"].flatMap { run.errors.ranges(of: $0) }
            #expect(outcomes.count == 1, "\(run.errors)")
            #expect(run.output.split(separator: "\n").count == options.count, "\(run.output)")
        }
    }

    @Test("a name that a terminal mustn't see is escaped once: in text for the eye, in JSON by JSON")
    func names() throws {
        let folder = try WorkFolder()
        let store = folder.path("Sto\u{1B}[31mre.sqlite")
        let run = try ToolProcess(["migrate", store, "--models", folder.path("M.momd"), "--json"])
        #expect(run.status == 66)
        #expect(!run.errors.contains("\u{1B}"))
        #expect(run.errors.contains("Sto\\u{1b}[31mre.sqlite"))
        let line = try JSONDecoder().decode(Line.self, from: Data(run.output.utf8))
        #expect(line.message.contains("Sto\u{1B}[31mre.sqlite"))
        #expect(!line.message.contains("\\u"))
        #expect(!run.output.contains("\u{1B}"))
    }
}
