import Foundation

/// The independent checkers in `shared/tools`.
public enum Checker {
    private static let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/tools")

    /// Whether the tools, and a way to run them, are there.
    public static let isThere =
        FileManager.default.fileExists(atPath: tools.appending(path: "expected-schema").path(percentEncoded: false))
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/env")
    /// Why tests that need them are skipped.
    public static let missing = "shared/tools is missing"

    /// What a tool said.
    public struct Output: Sendable {
        /// 0 where it found nothing.
        public let status: Int32
        /// What was printed, errors too.
        public let text: String
    }

    /// Runs a tool.
    public static func run(_ tool: String, _ arguments: [String]) throws -> Output {
        try python([tools.appending(path: tool).path(percentEncoded: false)] + arguments)
    }

    private static func python(_ arguments: [String]) throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Output(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    }

    /// `expected-schema check`, but that columns may have any order: a table that stays keeps its own, as Core Data
    /// leaves it.
    private static let schemaScript = """
        import importlib.machinery, importlib.util, sys
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader("oracle", sys.argv[1])
        oracle = importlib.util.module_from_spec(importlib.util.spec_from_loader("oracle", loader))
        loader.exec_module(oracle)

        def unordered(sql):
            if not sql.startswith("CREATE TABLE"): return sql
            head, body = sql.split("(", 1)
            parts, depth = [""], 0
            for letter in body.rpartition(")")[0]:
                depth += (letter == "(") - (letter == ")")
                if letter == "," and depth == 0: parts.append("")
                else: parts[-1] += letter
            return head, sorted(part.strip() for part in parts)

        found = oracle.compare(sys.argv[2])
        differing = [n for n in found["diff"] if unordered(found["E"][n]) != unordered(found["R"][n])]
        for name in differing: print("expected", found["E"][name], "\\nfound   ", found["R"][name])
        print({"missing": found["missing"], "extra": found["extra"], "diff": differing, "pk": found["pk"]})
        sys.exit(1 if found["missing"] or found["extra"] or differing or not found["pk"] else 0)
        """

    /// Whether the store has the tables, columns and indexes that Core Data gives its model.
    public static func schema(_ store: String) throws -> Output {
        try python(["-c", schemaScript, tools.appending(path: "expected-schema").path(percentEncoded: false), store])
    }

    /// Whether the version hashes in the store's metadata are those of its model.
    public static func hashes(_ store: String) throws -> Output { try run("version-hashes", ["store", store]) }

    /// One finding of `compare-stores`.
    public struct Difference: Decodable, CustomStringConvertible, Sendable {
        /// Such as `rows`, `table missing`.
        public let kind: String
        /// A table or a column.
        public let `where`: String
        /// What differs there.
        public let what: String
        /// All three.
        public var description: String { "\(kind) \(self.where) \(what)" }
    }

    /// What `compare-stores --rows` finds between a result and what Core Data made.
    public static func compare(
        _ produced: String, _ reference: String, ignoring columns: [String] = [], flags: [String] = []
    ) throws -> [Difference] {
        let output = try run(
            "compare-stores",
            [produced, reference, "--rows", "--json"] + flags + columns.flatMap { ["--ignore-column", $0] })
        return try JSONDecoder().decode([Difference].self, from: Data(output.text.utf8))
    }
}
