import CausewayEngine
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Chains of mapping models: steps that run together make the same store as steps that run one by one.
@Suite("Steps with mapping models that run together", .timeLimit(.minutes(60)))
struct FusedMappingTests {
    private static func version(_ line: String = "", _ maker: String = "", code: String = attribute("code")) -> String {
        model(
            entity(
                "Line", code, attribute("quantity", "Integer 32"), attribute("price", "Double"),
                attribute("day", "Date"), toOne("maker", "Maker", inverse: "lines"), line),
            entity(
                "Maker", attribute("name"), attribute("rank", "Integer 16"), toMany("lines", "Line", inverse: "maker"),
                maker))
    }

    private static func rows(_ count: Int) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 20))
        INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRANK)
        SELECT i * 3, 2, 1 + i % 4, iif(i % 7, 'maker ' || i, NULL), iif(i % 5, i % 100, NULL) FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZQUANTITY, ZPRICE, ZDAY, ZMAKER)
        SELECT i * 2, 1, 1, printf('%08d-%040x', i, i * 7919), iif(i % 11, i % 100, NULL), i % 9 / 2.0, i * 1000.5,
            iif(i % 13, (i * 31 % \(count / 20) + 1) * iif(i % 17, 3, 2), NULL)
        FROM n;
        """
    }

    /// A history with its mapping models.
    struct Chain: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let versions: [String]
        /// For every step but the first: whether it runs together with the one before it.
        let together: [Bool]
        var rows: @Sendable (Int) -> String = FusedMappingTests.rows
        /// Whether rows turn out to need the stores between.
        var fallsBack = false
        let mappings: @Sendable () -> [SwiftMappingModel]
    }

    static let chains = [
        Chain(
            testDescription: "numbers, texts and defaults",
            versions: [
                version(), version(attribute("half", "Integer 16") + attribute("note", default: "n/a")),
                version(attribute("half", "Double") + attribute("note") + attribute("size")),
                version(attribute("half", "Double") + attribute("upper"), attribute("title")),
            ], together: [true, true]
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") {
                        Compute("half", "$source.quantity / 2")
                        Compute("price", "$source.price * 1.1")
                    }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line") {
                        Compute("half", "$source.half / 4.0")
                        Compute("size", "TERNARY($source.half > 20, 'large', $source.note)")
                        Compute("quantity", "$source.quantity + 1")
                    }
                    TransformEntity("Maker") { Compute("rank", "$source.rank + 1") }
                },
                SwiftMappingModel(from: "V3", to: "V4") {
                    TransformEntity("Line") { Compute("upper", "uppercase:($source.size)") }
                    TransformEntity("Maker") { Compute("title", "$source.name") }
                },
            ]
        },
        Chain(
            testDescription: "key paths in the first step, filters in all of them, links that end",
            versions: [
                version(toOne("peer", "Maker")), version(attribute("makerName")), version(attribute("makerName")),
                version(attribute("makerName") + attribute("more")),
            ], together: [true, true], rows: { rows($0) + "UPDATE ZLINE SET ZPEER = (Z_PK % 20 + 1) * 3;" }
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") {
                        Filter("maker == nil OR quantity != 3")
                        Compute("makerName", "$source.peer.name")
                    }
                    TransformEntity("Maker") { Filter("rank != 7") }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line") { Filter("quantity < 90 OR quantity == nil") }
                    TransformEntity("Maker") { Filter("NOT (name CONTAINS '11')") }
                },
                SwiftMappingModel(from: "V3", to: "V4") {
                    TransformEntity("Line") { Filter("makerName != 'maker 5'") }
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "entities that are renamed, removed and added",
            versions: [
                version(),
                model(
                    entity("Extra", attribute("word")),
                    entity(
                        "Item", attribute("code"), attribute("count", "Integer 64"),
                        toOne("by", "Maker", inverse: "items")),
                    entity("Maker", attribute("name"), toMany("items", "Item", inverse: "by"))),
                model(
                    entity("Extra", attribute("word")),
                    entity("Product", attribute("code"), attribute("count", "Integer 64"))),
            ], together: [true]
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line", to: "Item") {
                        Compute("count", "$source.quantity * 10")
                        Link("by", from: "maker", through: "MakerToMaker")
                    }
                    TransformEntity("Maker")
                    AddEntity("Extra")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Item", to: "Product")
                    RemoveEntity("Maker")
                    TransformEntity("Extra")
                },
            ]
        },
        Chain(
            testDescription: "subentities in one table, and an entity that two mappings read",
            versions: [family(), family(attribute("years", "Integer 32")), split],
            together: [false], rows: familyRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Adult") { Compute("years", "$source.age + 1") }
                    TransformEntity("Child") { Filter("age < 15") }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Adult", to: "Name", fillsUnmentioned: false) { Copy("name") }
                    TransformEntity("Adult", to: "Years", fillsUnmentioned: false) {
                        Compute("years", "$source.years * 2")
                    }
                },
            ]
        },
        Chain(
            testDescription: "a link that must lead somewhere, and does",
            versions: [strict(), strict(attribute("more")), version(attribute("more"))], together: [true],
            rows: strictRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "a link that must lead to rows which the next version hasn't",
            versions: [strict(), strict(attribute("more")), model(entity("Line", attribute("code")))],
            together: [false], rows: strictRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    RemoveEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "a default that repairs what breaks a rule of a version between",
            versions: [
                version(), version(attribute("level", "Integer 16", optional: false, default: "3")),
                version(attribute("level", "Integer 16")),
            ], together: [true], fallsBack: true
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") { Compute("level", "$source.quantity") }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
            ]
        },
        needing,
    ]

    /// The second step asks for rows of other tables.
    static let needing = Chain(
        testDescription: "steps that need a store between them, and two that don't",
        versions: [
            version(), version(attribute("makerName")), version(attribute("makerName") + attribute("total", "Double")),
            version(attribute("total", "Double")),
        ], together: [false, true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Filter("quantity > 3") }
                TransformEntity("Maker") { Filter("rank != nil") }
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line") { Compute("makerName", "$source.maker.name") }
                TransformEntity("Maker")
            },
            SwiftMappingModel(from: "V3", to: "V4") {
                TransformEntity("Line") { Compute("total", "$source.quantity * $source.price") }
                TransformEntity("Maker")
            },
        ]
    }

    private static func family(_ own: String = "") -> String {
        model(
            entity("Person", extra: "isAbstract=\"YES\"", attribute("name"), attribute("age", "Integer 16")),
            entity("Adult", parent: "Person", own), entity("Child", parent: "Person", attribute("toy")))
    }
    private static let split = model(
        entity("Name", attribute("name")), entity("Years", attribute("years", "Integer 32")))

    /// Adult 2, Child 3.
    private static let familyRows: @Sendable (Int) -> String = { count in
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE, ZTOY)
        SELECT i * 5, 1 + i % 2, 1, 'person ' || i, i % 80, NULL FROM n;
        """
    }

    private static func strict(_ own: String = "") -> String {
        model(
            entity("Line", attribute("code"), own, toOne("maker", "Maker", inverse: "lines")),
            entity("Maker", attribute("name"), toMany("lines", "Line", inverse: "maker"))
        ).replacing("name=\"maker\" optional=\"YES\"", with: "name=\"maker\" optional=\"NO\"")
    }
    private static let strictRows: @Sendable (Int) -> String = { count in
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 20))
        INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 2, 1, 'maker ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZMAKER) SELECT i, 1, 1, 'line ' || i, i % \(count / 20) + 1 FROM n;
        """
    }

    private static func request(
        _ scenario: Scenario, _ chain: Chain, output: String, fuses: Bool = true, engine: EngineChoice = .auto,
        batchRows: Int = 1_024, jobs: Int = 2
    ) -> MigrationRequest {
        var request = scenario.request(
            to: scenario.lastVersion, output: scenario.folder + "/" + output, batchRows: batchRows, jobs: jobs,
            engine: engine)
        var code = MigrationCode()
        for mapping in chain.mappings() { code.add(mapping) }
        (request.code, request.fusesSteps) = (code, fuses)
        if chain.fallsBack { request.violations = .useDefault }
        return request
    }

    private static func bytes(_ path: String?) throws -> Data { try Data(contentsOf: URL(filePath: #require(path))) }

    @Test("make the rows of single steps, and the same bytes for any batches and workers", arguments: chains)
    func same(_ chain: Chain) throws {
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(5_000))
        for (place, engine) in [EngineChoice.statements, .auto].enumerated() {
            let request = Self.request(scenario, chain, output: "single-\(place)", fuses: false, engine: engine)
            _ = try Migration(request).run()
        }
        let expected = try Database.dump(scenario.folder + "/single-0")
        #expect(try Database.dump(scenario.folder + "/single-1") == expected)
        var first: Data?
        for (jobs, batchRows) in [(1, 1_024), (2, 7), (4, 1_000)] {
            let request = Self.request(scenario, chain, output: "fused-\(jobs)", batchRows: batchRows, jobs: jobs)
            var (barriers, begun): ([String?], [[String]]) = ([], [])
            let rerun = try scenario.rerun(request)
            for event in rerun.events {
                if case .prepared(let prepared) = event { barriers = prepared.fusion.barriers }
                if case .stepBegan(let versions, _, _, _) = event { begun.append(versions) }
            }
            #expect(barriers.dropFirst().map { $0 == nil } == chain.together, "\(barriers)")
            #expect(begun.count == 1 + chain.together.count { $0 == chain.fallsBack } + (chain.fallsBack ? 1 : 0))
            #expect(rerun.warnings.contains { $0.contains("one by one") } == chain.fallsBack)
            let found = try Database.dump(try #require(request.output))
            #expect(found == expected, "\(zip(found, expected).first { $0 != $1 }.map { "\($0)" } ?? "lines")")
            let bytes = try Self.bytes(request.output)
            if let first { #expect(bytes == first, "\(jobs) workers") }
            first = first ?? bytes
        }
    }

    /// Whatever a run is given that goes on with another's work.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var verification = VerificationLevel.quick
        var engine = EngineChoice.auto
        var fuses = true
    }

    @Test(
        "make the same rows after a stop at any progress, whatever the next run is given", arguments: chains,
        [
            Change(testDescription: "the same"), Change(testDescription: "full", verification: .full),
            Change(testDescription: "none", verification: .none), Change(testDescription: "--no-fuse", fuses: false),
            Change(testDescription: "statements", engine: .statements),
        ])
    func stopped(_ chain: Chain, _ change: Change) throws {
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(9_000))
        let whole = Self.request(scenario, chain, output: "whole")
        _ = try Migration(whole).run()
        let expected = try Database.dump(scenario.folder + "/whole")
        for stop in [1, 2] {
            var request = Self.request(scenario, chain, output: "stopped")
            request.options.checkpointInterval = 0
            let cancellation = Cancellation()
            var seen = 0
            let error = try? failure {
                _ = try Migration(request, cancellation: cancellation) { event in
                    guard case .progress = event else { return }
                    seen += 1
                    if seen == stop { cancellation.cancel() }
                }.run()
            }
            if error != nil {
                (request.options.batchRows, request.options.jobs) = (7, 3)
                (request.verification, request.options.engine) = (change.verification, change.engine)
                request.fusesSteps = change.fuses
                _ = try Migration(request).run()
            }
            #expect(try Database.dump(scenario.folder + "/stopped") == expected, "stopped at \(stop)")
            if change.verification == .quick, change.engine == .auto, change.fuses {
                #expect(try Self.bytes(request.output) == Self.bytes(whole.output))
            }
            try FileManager.default.removeItem(atPath: scenario.folder + "/stopped")
        }
    }

    @Test("end with the error of the step whose rule a row breaks, as single steps do")
    func violations() throws {
        // Makers are left out, and lines must have theirs.
        let scenario = try Scenario(
            versions: [Self.strict(), Self.strict(attribute("more")), Self.strict(attribute("less"))],
            rows: Self.strictRows(2_000))
        let chain = Chain(testDescription: "", versions: [], together: []) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line")
                    TransformEntity("Maker") { Filter("name != 'maker 5'") }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
            ]
        }
        let errors = try [true, false].map { fuses in
            try failure { _ = try Migration(Self.request(scenario, chain, output: "x", fuses: fuses)).run() }
        }
        #expect(!errors[0].details.isEmpty)
        #expect(errors[0].details == errors[1].details)
        #expect(errors[0].message == errors[1].message)
        #expect(errors[0].kind == errors[1].kind)
    }

    @Test("are told from those that can't, with the reason")
    func barriers() throws {
        func barriers(_ request: MigrationRequest) throws -> [String] {
            try Migration(request).plan().fusion.barriers.dropFirst().map { $0 ?? "" }
        }
        let scenario = try Scenario(versions: Self.needing.versions, rows: Self.rows(100))
        let request = Self.request(scenario, Self.needing, output: "x")
        #expect(try barriers(request) == ["“LineToLine” reads more of “V2” than the row itself", ""])
        var other = request
        other.fusesSteps = false
        #expect(try barriers(other) == ["--no-fuse", "--no-fuse"])
        other = request
        other.verification = .full
        #expect(try barriers(other)[1].hasPrefix("--verify full"))
        other = request
        other.keyMap = scenario.folder + "/keys"
        #expect(try barriers(other)[1].hasPrefix("--key-map"))
        other = request
        other.options.engine = .statements
        #expect(try barriers(other)[1].contains("statements"))
    }
}
