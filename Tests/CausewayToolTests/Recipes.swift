import Foundation
import Testing

/// The shell scripts of an article, so that tests run what people copy.
struct Recipes {
    private let sections: [String: [String]]

    /// Every block of an article by its section's heading, in order.
    init(article name: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Causeway/Documentation.docc")
        let text = try String(contentsOf: folder.appendingPathComponent(name + ".md"), encoding: .utf8)
        var sections: [String: [String]] = [:]
        var (heading, block): (String, [Substring]?) = ("", nil)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let lines = block { sections[heading, default: []].append(lines.joined(separator: "\n")) }
                block = block == nil ? [] : nil
            } else if block != nil {
                block?.append(line)
            } else if line.hasPrefix("## ") {
                heading = String(line.dropFirst(3))
            }
        }
        self.sections = sections
    }

    var headings: Set<String> { Set(sections.keys) }

    /// The scripts of a section.
    func scripts(_ heading: String) throws -> [String] { try #require(sections[heading], "no section \(heading)") }
}

/// A folder in which recipes run: `Library.sqlite` of version v1, its models, and `causeway` in the path.
final class RecipeFolder {
    let folder: WorkFolder
    private let path: String

    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Note">
        <attribute name="text" attributeType="String" optional="NO"/>%@</entity></model>
        """

    init(rows: Int = 40) throws {
        folder = try WorkFolder()
        let tool = try #require(ToolProcess.path)
        let bin = folder.path("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: bin + "/causeway", withDestinationPath: tool)
        path = bin + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        for (name, attributes) in [("v1", []), ("v2", ["rank"]), ("v3", ["rank", "more"])] {
            let version = folder.path("App.xcdatamodeld/\(name).xcdatamodel")
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            let added = attributes.map { "<attribute name=\"\($0)\" attributeType=\"Integer 16\" optional=\"YES\"/>" }
            let text = Self.model.replacingOccurrences(of: "%@", with: added.joined())
            try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
        }
        let current = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>_XCCurrentVersionName</key><string>v3.xcdatamodel</string></dict></plist>
            """
        try Data(current.utf8).write(to: URL(fileURLWithPath: folder.path("App.xcdatamodeld/.xccurrentversion")))
        try generate("Library.sqlite", rows: rows)
    }

    func generate(_ name: String, version: String = "v1", rows: Int = 40) throws {
        let made = try ToolProcess([
            "generate", folder.path("App.xcdatamodeld"), folder.path(name), "--rows", "\(rows)", "--seed", "1",
            "--version", version,
        ])
        #expect(made.status == 0, "\(made.errors)")
    }

    /// 50 copies of the store in `Stores`, of which three can't be migrated: cut off, no database, not there.
    func makeFleet() throws {
        let stores = folder.path("Stores")
        try FileManager.default.createDirectory(atPath: stores, withIntermediateDirectories: true)
        let store = try Data(contentsOf: URL(fileURLWithPath: folder.path("Library.sqlite")))
        for number in 1...50 {
            let content: Data =
                switch number {
                case 11: store.prefix(store.count / 2)
                case 23: Data(repeating: UInt8(ascii: "x"), count: 8_192)
                case 42: Data()
                default: store
                }
            let name = "s" + (number < 10 ? "0" : "") + "\(number).sqlite"
            try content.write(to: URL(fileURLWithPath: stores + "/" + name))
        }
    }

    static let bad = ["s11", "s23", "s42"]

    /// The version that a store has; empty where it can't be read.
    func version(of name: String) throws -> String {
        let run = try ToolProcess([
            "inspect", folder.path(name), "--models", folder.path("App.xcdatamodeld"), "--json",
        ])
        guard run.status == 0 else { return "" }
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        return (document?["versions"] as? [String])?.first ?? ""
    }

    /// Runs a script in the folder. `setup` comes before it: functions in place of commands, limits.
    @discardableResult
    func run(
        _ script: String, setup: String = "", environment: [String: String] = [:],
        until: (Process) throws -> Void = { _ in }
    ) throws -> (status: Int32, output: String) {
        let output = folder.path("output-\(UUID().uuidString)")
        try Data().write(to: URL(fileURLWithPath: output))
        defer { try? FileManager.default.removeItem(atPath: output) }
        let process = Process()
        // Other tests of this process ignore SIGHUP at times, and a child would inherit that, as under nohup.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["--default-signal=HUP", "/bin/bash", "-c", setup + "\n" + script]
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .merging(["PATH": path, "CAUSEWAY_HARNESS": "1"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = process.standardOutput
        try process.run()
        try until(process)
        process.waitUntilExit()
        let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        return (status, (try? String(contentsOfFile: output, encoding: .utf8)) ?? "")
    }
}
