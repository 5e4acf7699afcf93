import CausewayEngine
import CausewayModel
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

/// `--no-fuse` is the reference: every cell of every property, the largest keys in Z_PRIMARYKEY, metadata and names.
@Suite("Steps that run as one give every cell that single steps give", .timeLimit(.minutes(60)))
struct FusedCellsTests {
    /// The cells that differ, or the error where only one of the two was refused.
    static func differences(
        _ scenario: Scenario, models: String? = nil, to target: String, framework: Int? = nil
    ) throws -> [String] {
        let results: [Result<String, any Error>] = [true, false].map { fuses in
            Result {
                var request = scenario.request(to: target, fuses: fuses, jobs: 1)
                request.frameworkVersion = framework
                request.endsLinks = true
                if let models { request.models = [models] }
                return try EngineRun.output(request, as: "fused-\(fuses).sqlite")
            }
        }
        switch (results[0], results[1]) {
        case (.success(let fused), .success(let single)):
            let history = try ModelHistory(reading: models ?? scenario.models, edges: [:])
            let model = try #require(history.versions.first { $0.name == target }).model
            let (a, b) = (try OwnedCells(fused, of: model).lines, try OwnedCells(single, of: model).lines)
            if a.count != b.count { return ["\(a.count) lines, \(b.count) lines"] }
            return zip(a, b).filter { $0 != $1 }.map { "fused: \($0)\nsingle: \($1)" }
        case (.failure(let a), .failure(let b)):
            // Both ways the plan must refuse the history; rows are never the reason here.
            let kinds = [a, b].map { ($0 as? EngineError)?.kind }
            return kinds == [.plan, .plan] ? [] : ["fused: \(a)\nsingle: \(b)"]
        case (.failure(let error), .success): return ["fused: \(error)"]
        case (.success, .failure(let error)): return ["single: \(error)"]
        }
    }

    /// Seeds of histories; `CAUSEWAY_HISTORIES=1000-2000` makes a longer search.
    static let seeds: [Int] = {
        let bounds = ProcessInfo.processInfo.environment["CAUSEWAY_HISTORIES"]?.split(separator: "-").compactMap {
            Int($0)
        }
        guard let bounds, bounds.count == 2 else { return Array(0..<24) }
        return Array(bounds[0]...bounds[1])
    }()

    @Test("on random histories with hierarchies", arguments: seeds)
    func random(seed: Int) throws {
        var random = Seeded(seed)
        let versions = try RandomModel.history(5, &random)
        let framework = seed % 2 == 0 ? 1509 : 866
        let layout = try StoreLayout(
            model: try ModelReader.model(source: Array(versions[0].utf8)), frameworkVersion: framework)
        var rows = RandomRows(layout)
        let scenario = try Scenario(versions: versions, framework: framework, rows: rows.statements(6, &random))
        let found = try Self.differences(scenario, to: "V5")
        #expect(found.isEmpty, "\(versions.joined(separator: "\n"))")
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let versions: [String]
        let rows: String
        let query: String
        let expected: [String]
    }

    private static func beasts(_ beast: String = "", _ subentities: String...) -> String {
        model(entity("Beast", attribute("sound"), beast), subentities.joined())
    }

    private static func kind(_ name: String, _ properties: String = "") -> String {
        entity(name, parent: "Beast", properties)
    }

    private static let size = attribute("size", "Integer 16", default: "5")

    private static let toys = toMany("toys", "Toy")

    static let cases = [
        Case(
            testDescription: "an attribute goes up, and down again",
            versions: [
                beasts("", kind("Cat", size), kind("Dog")), beasts(size, kind("Cat"), kind("Dog")),
                beasts(attribute("more"), kind("Cat", size), kind("Dog")),
            ],
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT, ZSIZE) VALUES (1, 2, 1, 8), (2, 3, 1, 9);",
            // What is left in the dog's row belongs to none of its attributes.
            query: "SELECT Z_PK, ZSIZE FROM ZBEAST WHERE Z_ENT = 2", expected: ["1|8"]),
        Case(
            testDescription: "an added attribute becomes mandatory",
            versions: [
                beasts("", kind("Cat"), kind("Dog")),
                beasts("", kind("Cat", attribute("size", "Integer 16")), kind("Dog")),
                beasts("", kind("Cat", attribute("size", "Integer 16", optional: false, default: "5")), kind("Dog")),
            ],
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1);",
            query: "SELECT Z_PK, ZSIZE FROM ZBEAST ORDER BY 1", expected: ["1|5", "2|NULL"]),
        Case(
            testDescription: "an entity that comes on the way gains an attribute with a default",
            versions: [
                beasts("", kind("Dog")), beasts("", kind("Cat"), kind("Dog")),
                beasts("", kind("Cat", size), kind("Dog")),
            ],
            rows: "INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);",
            query: "SELECT Z_PK, ZSIZE FROM ZBEAST ORDER BY 1", expected: ["1|5", "2|5"]),
        Case(
            testDescription: "an entity that comes on the way leaves its hierarchy",
            versions: [beasts(), beasts("", kind("Cat")), model(entity("Beast", attribute("sound")), entity("Cat"))],
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 100;
                """,
            query: "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1", expected: ["'Beast'|100", "'Cat'|100"]),
        Case(
            testDescription: "a to-many without inverse goes down, and up again",
            versions: [
                beasts(toys, kind("Cat"), kind("Dog"), entity("Toy")),
                beasts("", kind("Cat", toys), kind("Dog"), entity("Toy")),
                beasts(toys + attribute("more"), kind("Cat"), kind("Dog"), entity("Toy")),
            ],
            rows: """
                INSERT INTO ZBEAST (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1), (3, 1, 1);
                INSERT INTO ZTOY (Z_PK, Z_ENT, Z_OPT, Z1TOYS) VALUES (1, 4, 1, 1), (2, 4, 1, 2), (3, 4, 1, 3);
                """,
            query: "SELECT Z_PK, Z1TOYS FROM ZTOY ORDER BY 1", expected: ["1|1", "2|NULL", "3|NULL"]),
    ]

    @Test("where one step undoes or completes the change of another", arguments: cases)
    func small(_ example: Case) throws {
        let scenario = try Scenario(versions: example.versions, rows: example.rows)
        #expect(try Self.differences(scenario, to: "V3") == [])
        #expect(try Database.rows(example.query, in: scenario.folder + "/fused-true.sqlite") == example.expected)
    }

    /// A stretch of a real app's history.
    struct Stretch: CustomTestStringConvertible, Sendable {
        let models: String
        let versions: Range<Int>
        var testDescription: String { "\(URL(filePath: models).lastPathComponent) \(versions)" }
    }

    static let shared = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../shared/stores")
        .standardizedFileURL.path
    static let wire = "wire/zmessaging.xcdatamodeld"
    static let stretches: [Stretch] = {
        let isThorough = ProcessInfo.processInfo.environment["CAUSEWAY_EVERY_PAIR"] != nil
        return stride(from: 0, to: 84, by: isThorough ? 5 : 21).map {
            Stretch(models: Self.wire, versions: $0..<($0 + 7))
        }
    }()

    @Test(
        "on real histories, with something in every cell",
        .enabled(if: FileManager.default.fileExists(atPath: shared), "shared/stores is missing"), arguments: stretches)
    func real(_ stretch: Stretch) throws {
        let history = try ModelHistory(reading: Self.shared + "/" + stretch.models, edges: [:])
        let versions = Array(history.versions[stretch.versions.clamped(to: history.versions.indices)])
        let first = try #require(versions.first)
        let layout = try StoreLayout(model: first.model, frameworkVersion: 1509)
        for seed in 0..<2 {
            var (random, rows) = (Seeded(seed), RandomRows(layout))
            let scenario = try Scenario(model: first.model, rows: rows.statements(20, &random))
            let target = try #require(versions.last?.name)
            let found = try Self.differences(scenario, models: history.path, to: target, framework: 1509 - seed * 643)
            #expect(found.isEmpty)
            #expect(FileManager.default.fileExists(atPath: scenario.folder + "/fused-true.sqlite"))
        }
    }
}
