import Causeway
import Foundation
import Testing

/// Texts of `plan`, `models` and `migrate` in the columns of a terminal; `COLUMNS` stands for one.
@Suite("The width of texts", .timeLimit(.minutes(60)))
struct TerminalWidthTests {
    private static let columns = 60

    private let models: ModelFolder

    /// Three versions, of which the second drops what the first has, with a long path.
    init() throws {
        models = try ModelFolder()
        let names = (1...12).map { "attributeNumber\($0)" }
        let all = names.map { ModelFolder.attribute($0) }.joined()
        try models.bundle(
            "App",
            [
                ("AVersionOfTheModel 1", [ModelFolder.entity("Thing", all), ModelFolder.entity("Other")]),
                ("AVersionOfTheModel 2", [ModelFolder.entity("Thing", ModelFolder.attribute("attributeNumber1"))]),
                (
                    "AVersionOfTheModel 3",
                    [ModelFolder.entity("Thing", ModelFolder.attribute("attributeNumber1", "Integer 16"))]
                ),
            ], current: "AVersionOfTheModel 2")
    }

    private func run(_ arguments: [String], fits: Bool = true) throws -> ToolProcess {
        try ToolProcess(
            arguments, in: models.folder.url, environment: fits ? ["COLUMNS": String(Self.columns)] : [:])
    }

    /// Lines that are too long, without those that are a path.
    private func tooLong(_ text: String) -> [Substring] {
        text.split(separator: "\n").filter { line in
            line.count > Self.columns && !["Store ", "Models ", "Shipped "].contains { line.hasPrefix($0) }
        }
    }

    @Test("a plan fits the terminal, and its statements stay whole")
    func plan() throws {
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "AVersionOfTheModel 1")
        let arguments = ["plan", store, "--models", "App.xcdatamodeld", "--to", "AVersionOfTheModel 2"]
        let run = try run(arguments)
        #expect(run.status == 0, "\(run.errors)")
        #expect(tooLong(run.output) == [])
        #expect(run.output.contains("Version  AVersionOfTheModel 1 →"))
        let statements = try self.run(arguments + ["--sql"])
        #expect(statements.output.split(separator: "\n").contains { $0.hasPrefix("CREATE TABLE") && $0.count > 60 })
        // A pipe gets every line whole.
        let whole = try self.run(arguments, fits: false)
        #expect(whole.output.contains("Version  AVersionOfTheModel 1 → AVersionOfTheModel 2\n"))
    }

    @Test("models fits the terminal, with steps, reasons and hashes", arguments: [[], ["--hashes"], ["--mappings"]])
    func models(options: [String]) throws {
        let run = try run(["models", "App.xcdatamodeld"] + options)
        #expect(run.status == 0, "\(run.errors)")
        #expect(tooLong(run.output) == [])
        // Reasons are broken between words, and hang.
        #expect(run.output.contains("    - Thing.attributeNumber1: "))
        #expect(run.output.contains("\n      "))
        let whole = try self.run(["models", "App.xcdatamodeld"] + options, fits: false)
        #expect(!tooLong(whole.output).isEmpty)
        func words(_ text: String) -> Int { text.count { !$0.isWhitespace } }
        #expect(words(whole.output) == words(run.output))
    }

    @Test("models --check fits the terminal")
    func check() throws {
        let recorded = try run(["models", "App.xcdatamodeld", "--check", "shipped.json", "--record"])
        #expect(recorded.status == 0, "\(recorded.errors)")
        let run = try run(["models", "App.xcdatamodeld", "--check", "shipped.json"])
        #expect(run.status == 3, "\(run.errors)")
        #expect(run.output.contains("  - "))
        #expect(tooLong(run.output) == [])
    }

    @Test("warnings and losses of a migration fit the terminal; the commands that undo it stay whole")
    func migrate() throws {
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "AVersionOfTheModel 1")
        let run = try run(["migrate", store, "--models", "App.xcdatamodeld", "--to", "AVersionOfTheModel 2"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("AVersionOfTheModel 1 → AVersionOfTheModel 2: will drop"))
        #expect(tooLong(run.errors) == [])
        #expect(run.output.contains("AVersionOfTheModel 1 → AVersionOfTheModel 2: dropped"))
        #expect(run.output.contains(" rollback \(store) --backup "))
        let losses = tooLong(run.output).filter { $0.contains("dropped Thing.") || $0.contains("dropped entity") }
        #expect(losses == [])
    }
}
