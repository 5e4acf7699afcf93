import Foundation
import Testing

#if os(Linux)
    /// Gives a command a terminal; of util-linux.
    private let script = "/usr/bin/script"

    /// Colours, as a terminal gets them: `script` gives one.
    @Suite(
        "Colours", .enabled(if: FileManager.default.isExecutableFile(atPath: script), "script is missing"),
        .timeLimit(.minutes(60)))
    struct ColourTests {
        /// What a call shows on a terminal; `settings` are assignments for `env`.
        private func shown(_ settings: [String]) throws -> String {
            let tool = try #require(ToolProcess.path)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: script)
            let call = (["env", "-u", "NO_COLOR", "TERM=xterm"] + settings + ["'\(tool)'", "inspect", "missing"])
                .joined(separator: " ")
            process.arguments = ["-q", "-e", "-c", call, "/dev/null"]
            process.environment = ProcessInfo.processInfo.environment.merging(["SHELL": "/bin/sh"]) { $1 }
            process.standardInput = FileHandle.nullDevice
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(process.terminationStatus == 66)
            return String(decoding: data, as: UTF8.self)
        }

        @Test("a terminal gets errors in red")
        func terminal() throws {
            #expect(try shown([]).contains("\u{1B}[31merror:\u{1B}[0m missing"))
        }

        @Test("NO_COLOR, and terminals that can't do it, get none", arguments: ["NO_COLOR=1", "TERM=dumb"])
        func plain(setting: String) throws {
            let text = try shown([setting])
            #expect(text.contains("error: missing") && !text.contains("\u{1B}"), "\(text)")
        }

        @Test("an empty NO_COLOR asks for nothing, and a file gets no colours")
        func neither() throws {
            #expect(try shown(["NO_COLOR="]).contains("\u{1B}[31m"))
            let file = try ToolProcess(["inspect", "missing"], environment: ["TERM": "xterm", "NO_COLOR": ""])
            #expect(!file.errors.contains("\u{1B}"))
        }
    }
#endif
