import Causeway
import Foundation
import Testing

/// The tool's help texts; `SNAP_UPDATE=1` rewrites the golden texts.
@Suite("Help", .timeLimit(.minutes(60)))
struct HelpTests {
    static let commands = [
        "", "inspect", "models", "plan", "migrate", "status", "verify", "compare", "export", "backups", "rollback",
        "purge-backup", "generate",
    ]

    private static let snapshots = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Snapshots")

    private static func help(_ command: String) throws -> ToolProcess {
        try ToolProcess(command.isEmpty ? ["--help"] : [command, "--help"])
    }

    @Test("the help is the golden text", arguments: commands)
    func golden(command: String) throws {
        let help = try Self.help(command)
        #expect(help.status == 0)
        #expect(help.errors == "")
        let file = Self.snapshots.appendingPathComponent((command.isEmpty ? "causeway" : command) + ".txt")
        if ProcessInfo.processInfo.environment["SNAP_UPDATE"] == "1" {
            try Data(help.output.utf8).write(to: file)
        }
        #expect(help.output == String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test("every help has every exit status, and fits a terminal", arguments: commands)
    func exitStatuses(command: String) throws {
        let lines = try Self.help(command).output.split(separator: "\n")
        let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        for (code, meaning) in MigrationError.Code.table {
            #expect(words.contains(" \(code.exitCode) \(meaning)"))
        }
        #expect(lines.contains("    0  done, or nothing to do"))
        #expect(lines.filter { $0.count > 80 } == [])
    }

    @Test("the usage comes first, the exit statuses last", arguments: commands)
    func order(command: String) throws {
        let help = try Self.help(command).output
        #expect(help.hasPrefix("USAGE: causeway"))
        let titles = help.split(separator: "\n").filter { $0.wholeMatch(of: /[A-Z][A-Z ]*:( .*)?/) != nil }
        #expect(titles[1].hasPrefix("OVERVIEW: "))
        #expect(titles.last == "EXIT STATUS:")
        #expect(titles.count { $0 == "EXIT STATUS:" } == 1)
        if !command.isEmpty { #expect(try ToolProcess(["help", command]).output == help) }
    }

    @Test("there is a man page for every command")
    func manual() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".ci/manual").path
        let folder = try WorkFolder()
        func run(_ command: [String]) throws -> Int32 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
        // The script needs Python, the command doesn't.
        guard try run(["python3", "--version"]) == 0 else { return }
        #expect(try run([script, try #require(ToolProcess.path), folder.url.path]) == 0)
        for command in Self.commands {
            let name = command.isEmpty ? "causeway" : "causeway-" + command
            let page = String(decoding: try #require(try folder.content()[name + ".1"]), as: UTF8.self)
            for part in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
                #expect(page.contains("\n.SH \(part)\n"), "\(name) lacks \(part)")
            }
            #expect(page.contains("143"))
        }
    }

    /// As `--experimental-dump-help` gives it.
    private struct Dump: Decodable {
        var command: Command

        struct Command: Decodable {
            var commandName: String
            var abstract: String?
            var subcommands: [Command]?
            var arguments: [Argument]?
        }

        struct Argument: Decodable {
            var kind: String
            var abstract: String?
            var valueName: String?
            var names: [Name]?
        }

        struct Name: Decodable {
            var kind: String
            var name: String
        }
    }

    /// An article of the library's catalog.
    private static func article(_ name: String) throws -> String {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Causeway/Documentation.docc")
        return String(decoding: try Data(contentsOf: sources.appendingPathComponent(name + ".md")), as: UTF8.self)
    }

    @Test("the article on failures has every exit status")
    func documentedStatuses() throws {
        let article = try Self.article("ExitCodesAndFailures")
        for (code, _) in MigrationError.Code.table {
            #expect(article.contains("| \(code.exitCode) | `\(code.name)` |"), "\(code.name)")
        }
    }

    @Test("every command, argument and flag is explained in its command's help and in the article")
    func everythingIsExplained() throws {
        let article = try Self.article("CommandLine")
        let dump = try ToolProcess(["--experimental-dump-help"])
        let root = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command
        let commands = (root.subcommands ?? []).filter { $0.commandName != "help" }
        #expect(commands.map(\.commandName).sorted() == Self.commands.dropFirst().sorted())
        for command in commands {
            #expect(command.abstract?.isEmpty == false)
            #expect(article.contains("`\(command.commandName) "))
            let help = try Self.help(command.commandName).output
            for argument in command.arguments ?? [] {
                #expect(argument.abstract?.isEmpty == false, "\(command.commandName): \(argument.valueName ?? "?")")
                for name in argument.names ?? [] {
                    #expect(help.contains((name.kind == "short" ? "-" : "--") + name.name))
                    if name.kind == "long" { #expect(article.contains("--" + name.name), "--\(name.name)") }
                }
            }
        }
    }

    @Test("--version shows the release")
    func version() throws {
        let version = try ToolProcess(["--version"])
        #expect(version.status == 0)
        #expect(version.output == "0.1.0\n")
    }

    @Test("the completion script parses", arguments: ["bash"])
    func completions(shell: String) throws {
        let script = try ToolProcess(["--generate-completion-script", shell])
        #expect(script.status == 0)
        let folder = try WorkFolder()
        let path = try folder.write(Array(script.output.utf8), as: "completion")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [shell, "-n", path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test(
        "for a mistyped command the right one is suggested",
        arguments: [
            ("inspct", "inspect"), ("migrat", "migrate"), ("paln", "plan"), ("genrate", "generate"),
            ("rolback", "rollback"), ("purge-bakup", "purge-backup"),
        ])
    func suggestion(typed: String, meant: String) throws {
        let answer = try ToolProcess([typed, "--json"])
        #expect(answer.status == 64)
        #expect(answer.errors.hasPrefix("error: no command \"\(typed)\"; did you mean \"\(meant)\"?\n"))
        #expect(answer.output.contains("\"code\":\"usage\""))
    }

    @Test("a word that is similar to no command gets no suggestion")
    func noSuggestion() throws {
        let answer = try ToolProcess(["frobnicate"])
        #expect(answer.status == 64)
        #expect(answer.errors.hasPrefix("error: no command \"frobnicate\"\n"))
    }
}
