internal import CausewayPlatform
internal import CausewaySQLite
internal import Foundation

/// A run of harnesses with what is needed to repeat it; the reliability page is made from its file.
package struct RunReport: Sendable, Codable {
    /// As `git rev-parse` prints it; with `+` if the tree has changes.
    package var commit: String
    /// ISO 8601, UTC.
    package var date: String
    package var command: String
    package var seed: UInt64
    package var scale: Double
    package var isQuick: Bool
    package var system: String
    package var sqlite: String
    package var harnesses: [HarnessReport] = []

    package init(_ settings: HarnessSettings, command: [String]) {
        commit = Self.commit(settings)
        date = ISO8601DateFormatter().string(from: Date())
        self.command = command.joined(separator: " ")
        seed = settings.seed
        scale = settings.scale
        isQuick = settings.isQuick
        system = "\(ProcessInfo.processInfo.operatingSystemVersionString), \(ProcessFacts.processorCount) cores"
        sqlite = SQLiteLibrary.version
    }

    package var isClean: Bool { harnesses.allSatisfy(\.result.isClean) }

    /// The report as a file, with sorted keys, so that two reports can be compared.
    package func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        var bytes = Array(try encoder.encode(self))
        bytes.append(UInt8(ascii: "\n"))
        try Files.writeFileDurably(path, bytes, permissions: 0o644)
    }

    private static func commit(_ settings: HarnessSettings) -> String {
        let git = "/usr/bin/git"
        func ask(_ arguments: [String]) -> String? {
            let output = settings.scratch + "/git.txt"
            let call = ChildRun.Command(git, ["-C", Package.root] + arguments, output: output)
            // There is no git, or no clone: the commit is unknown.
            guard (try? ChildRun.run(call)) == .exited(0) else { return nil }
            return ChildRun.tail(of: output, bytes: 1 << 20).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        guard let head = ask(["rev-parse", "--short=12", "HEAD"]) else { return "unknown" }
        return head + (ask(["status", "--porcelain"]) == "" ? "" : "+")
    }
}
