import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Foundation

/// Real stores and models; see shared/stores/CATALOG.md. Read-only: tests open copies of the stores. The lists have
/// the project's own too, so that the tests also work in a clone without shared/stores.
enum SharedStores {
    private static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let shared = project.deletingLastPathComponent().appending(path: "shared")
    static let folder = shared.appending(path: "stores")
    static let oracle = shared.appending(path: "tools/expected-schema")
    static let areThere = FileManager.default.fileExists(atPath: folder.path)

    /// Whether the independent generator can be run.
    static let hasOracle: Bool = {
        guard areThere, FileManager.default.fileExists(atPath: oracle.path) else { return false }
        return (try? Oracle.run(["-c", "pass"])) != nil
    }()

    /// Paths below `folder`.
    static let stores = files { $0.hasSuffix(".sqlite") || $0.hasSuffix(".wiredatabase") || $0.hasSuffix(".moody") }
    static let sources = files { $0.hasSuffix(".xcdatamodel/contents") }
    static let compiled = files { $0.hasSuffix(".mom") }

    /// One version of Detour can't be read, on purpose.
    private static func files(_ isWanted: (String) -> Bool) -> [String] {
        let own = FileManager.default.subpaths(atPath: project.appending(path: "Fixtures").path) ?? []
        return (FileManager.default.subpaths(atPath: folder.path) ?? []).filter(isWanted).sorted()
            + own.filter { isWanted($0) && !$0.hasPrefix("Detour/") }.sorted().map { "Fixtures/\($0)" }
    }

    static func path(_ name: String) -> String {
        (name.hasPrefix("Fixtures/") ? project : folder).appending(path: name).path
    }

    static func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path(name)))) }

    /// Opens a copy.
    static func withStore<Result>(_ name: String, _ body: (borrowing Connection) throws -> Result) throws -> Result {
        let work = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let copy = work.appending(path: "store").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path(name) + suffix) {
            try FileManager.default.copyItem(atPath: path(name) + suffix, toPath: copy + suffix)
        }
        return try body(try Connection(path: copy, mode: .readWrite, hardening: .untrusted))
    }

    static func cachedModel(_ connection: borrowing Connection) throws -> ManagedObjectModel {
        var statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE")
        return try ModelReader.model(cache: try statement.step() ? statement.bytes(at: 0) : nil)
    }
}

/// `expected-schema`, a generator of the same statements written independently in another language.
enum Oracle {
    struct Failure: Error { let text: String }

    struct Answer: Decodable {
        let statements: [String]
        let house: [String]
        let history: [String]
        let primaryKeys: [[String]]
    }

    /// Takes `[kind, path, framework version]` lists from standard input and answers all in one process.
    private static let script = """
        import importlib.machinery, importlib.util, json, sys
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader("oracle", sys.argv[1])
        oracle = importlib.util.module_from_spec(importlib.util.spec_from_loader("oracle", loader))
        loader.exec_module(oracle)
        answers = []
        for kind, path, version in json.load(sys.stdin):
            if kind == "xml":
                model = oracle.from_xml(path)
                for entity in model.ents.values(): entity.cidx = []
            else: model = oracle.from_cache(open(path, "rb").read())
            answers.append(dict(
                statements=[x[2] for x in oracle.generate(model, version)],
                house=[x[2] for x in oracle.HOUSE if version >= oracle.FW_MODELCACHE or x[1] != "Z_MODELCACHE"],
                history=[x[2] for x in oracle.history(model, version)],
                primaryKeys=[[str(y) for y in x] for x in oracle.prime(model)]))
        json.dump(answers, sys.stdout)
        """

    static func answers(_ questions: [(kind: String, name: String, version: Int)]) throws -> [Answer] {
        let list = questions.map { [$0.kind, SharedStores.path($0.name), $0.version] as [Any] }
        let output = try run(
            ["-c", script, SharedStores.oracle.path], input: try JSONSerialization.data(withJSONObject: list))
        return try JSONDecoder().decode([Answer].self, from: output)
    }

    static func run(_ arguments: [String], input: Data = Data()) throws -> Data {
        let work = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        // Files, not pipes: then neither process can block the other.
        let (question, answer) = (work.appending(path: "in"), work.appending(path: "out"))
        try input.write(to: question)
        try Data().write(to: answer)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardInput = try FileHandle(forReadingFrom: question)
        process.standardOutput = try FileHandle(forWritingTo: answer)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(text: "python3 ended with an error") }
        return try Data(contentsOf: answer)
    }
}
