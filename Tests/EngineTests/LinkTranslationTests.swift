import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Many-to-manys between rows of which some get new keys.
@Suite("Links of join tables that follow new keys", .timeLimit(.minutes(60)))
struct LinkTranslationTests {
    /// In V1: Animal 1 with Cat 2 and Dog 3, Bell 4, Toy 5, Wolf 6; animals and wolves have toys.
    private static let before = model(
        entity("Animal", attribute("name"), toMany("toys", "Toy", inverse: "animals")), entity("Cat", parent: "Animal"),
        entity("Dog", parent: "Animal"), entity("Bell", attribute("name")),
        entity(
            "Toy", attribute("name"), toMany("animals", "Animal", inverse: "toys"),
            toMany("wolves", "Wolf", inverse: "toys")),
        entity("Wolf", attribute("name"), toMany("toys", "Toy", inverse: "wolves")))

    private static func after(ordered: Bool = false) -> String {
        model(
            entity("Animal", attribute("name"), toMany("toys", "Toy", inverse: "animals", ordered: ordered)),
            entity("Cat", parent: "Animal"), entity("Dog", parent: "Animal"),
            entity("Toy", attribute("name"), toMany("animals", "Animal", inverse: "toys")))
    }

    /// Keys have gaps; the table's rows are in no order; some links lead to rows that aren't there, some to no row's
    /// key.
    private static func rows(_ count: Int) -> String {
        func each(_ last: Int) -> String {
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(last))"
        }
        return """
            \(each(count)) INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME)
            SELECT i * 2, 1 + i % 3, 1, 'animal ' || i % 10 FROM n;
            \(each(count / 2)) INSERT INTO ZWOLF (Z_PK, Z_ENT, Z_OPT, ZNAME)
            SELECT i * 3, 6, 1, 'wolf ' || i % 10 FROM n;
            \(each(count / 2)) INSERT INTO ZTOY (Z_PK, Z_ENT, Z_OPT, ZNAME)
            SELECT i + i / 9, 5, 1, 'toy ' || i % 10 FROM n;
            \(each(50)) INSERT INTO ZBELL (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 4, 1, 'bell ' || i % 10 FROM n;
            \(each(count * 2)) INSERT OR IGNORE INTO Z_1TOYS
            SELECT (i * 31 % \(count + 5) + 1) * 2, i * 7 % \(count / 2 + 20) + 1 FROM n;
            \(each(count)) INSERT OR IGNORE INTO Z_5WOLVES
            SELECT i * 11 % \(count / 2) + 1, (i * 17 % \(count / 2 + 3) + 1) * 3 FROM n;
            INSERT OR IGNORE INTO Z_1TOYS VALUES (999999999, 1), (2, 999999999), (-4, 3);
            """
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// How many join tables are made at once.
        let translated: Int
        var ordered = false
        let mapping: @Sendable () -> SwiftMappingModel
    }

    static let changes = [
        Change(testDescription: "merged owners, one end", translated: 1) {
            SwiftMappingModel(from: "V1", to: "V2") {
                RemoveEntity("Bell")
                TransformEntity("Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                for name in ["Animal", "Cat", "Dog"] { TransformEntity(name) { Link("toys", through: "ToyToToy") } }
                TransformEntity("Wolf", to: "Dog") { Link("toys", through: "ToyToToy") }
            }
        },
        Change(testDescription: "merged owners, filters", translated: 1) {
            SwiftMappingModel(from: "V1", to: "V2") {
                RemoveEntity("Bell")
                TransformEntity("Toy", fillsUnmentioned: false) {
                    Compute("name", "$source.name")
                    Filter("name != 'toy 3'")
                }
                for name in ["Animal", "Cat", "Dog"] {
                    TransformEntity(name) {
                        Link("toys")
                        Filter("name != 'animal 4'")
                    }
                }
                TransformEntity("Wolf", to: "Dog") {
                    Link("toys")
                    Filter("name != 'wolf 5'")
                }
            }
        },
        Change(testDescription: "new keys of the targets, both ends", translated: 1) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Bell", to: "Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                TransformEntity("Toy") {
                    Link("animals")
                    Filter("name != 'toy 7'")
                }
                for name in ["Animal", "Cat", "Dog"] { TransformEntity(name) { Link("toys") } }
                RemoveEntity("Wolf")
            }
        },
        Change(testDescription: "new keys of the targets, set by them alone", translated: 1) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Bell", to: "Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                TransformEntity("Toy") { Link("animals") }
                for name in ["Animal", "Cat", "Dog"] {
                    TransformEntity(name, fillsUnmentioned: false) { Compute("name", "$source.name") }
                }
                RemoveEntity("Wolf")
            }
        },
        Change(testDescription: "new keys at both ends", translated: 1) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Wolf", to: "Animal", fillsUnmentioned: false) { Compute("name", "$source.name") }
                TransformEntity("Bell", to: "Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                TransformEntity("Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                for name in ["Animal", "Cat", "Dog"] { TransformEntity(name) { Link("toys") } }
            }
        },
        // Cats keep their keys and have no toys any more: those of their links would stay.
        Change(testDescription: "one of several entities has no links", translated: 0) {
            SwiftMappingModel(from: "V1", to: "V2") {
                RemoveEntity("Bell")
                TransformEntity("Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                TransformEntity("Cat", fillsUnmentioned: false) { Compute("name", "$source.name") }
                for name in ["Animal", "Dog"] { TransformEntity(name) { Link("toys") } }
                TransformEntity("Wolf", to: "Dog") { Link("toys") }
            }
        },
        // Two mappings read dogs, whose rows may have their keys and have no toys.
        Change(testDescription: "rows that keep their keys if these are free have no links", translated: 0) {
            SwiftMappingModel(from: "V1", to: "V2") {
                RemoveEntity("Bell")
                TransformEntity("Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                for name in ["Animal", "Cat"] { TransformEntity(name) { Link("toys") } }
                TransformEntity("Dog", name: "Even", fillsUnmentioned: false) { Filter("name != 'animal 4'") }
                TransformEntity("Dog", name: "Odd", fillsUnmentioned: false) { Filter("name == 'animal 4'") }
                TransformEntity("Wolf", to: "Dog") { Link("toys") }
            }
        },
        // The toys' mapping comes last and leaves them only the animals of one mapping.
        Change(testDescription: "ends that read other links", translated: 0) {
            SwiftMappingModel(from: "V1", to: "V2") {
                RemoveEntity("Bell")
                for name in ["Animal", "Cat", "Dog"] { TransformEntity(name) { Link("toys") } }
                TransformEntity("Wolf", to: "Dog") { Link("toys") }
                TransformEntity("Toy") { Link("animals") }
            }
        },
        Change(testDescription: "ordered", translated: 0, ordered: true) {
            SwiftMappingModel(from: "V1", to: "V2") {
                RemoveEntity("Bell")
                TransformEntity("Toy", fillsUnmentioned: false) { Compute("name", "$source.name") }
                for name in ["Animal", "Cat", "Dog"] { TransformEntity(name) { Link("toys") } }
                TransformEntity("Wolf", to: "Dog") { Link("toys") }
            }
        },
    ]

    private static func scenario(_ change: Change, rows count: Int) throws -> Scenario {
        try Scenario(before, after(ordered: change.ordered), rows: rows(count))
    }

    private static func bytes(_ path: String?) throws -> Data { try Data(contentsOf: URL(filePath: #require(path))) }

    @Test("are those of statements, and the same bytes for any batches and workers", arguments: changes)
    func same(_ change: Change) throws {
        let scenario = try Self.scenario(change, rows: 3_000)
        _ = try Migration(scenario.request(by: change.mapping(), .statements, output: "statements")).run()
        let expected = try Database.dump(scenario.folder + "/statements")
        #expect(expected.count > 5_000)
        var first: Data?
        for (batchRows, jobs) in [(1_024, 1), (7, 4), (1, 2)] {
            let name = "pages-\(batchRows)"
            let request = scenario.request(by: change.mapping(), .auto, output: name, batchRows: batchRows, jobs: jobs)
            var translated: Int?
            _ = try Migration(request) { event in
                if case .prepared(let prepared) = event { translated = prepared.steps[0].objects?.translations.count }
            }.run()
            #expect(translated == change.translated)
            let dump = try Database.dump(scenario.folder + "/" + name)
            #expect(dump == expected, "\(zip(dump, expected).first { $0 != $1 }.map { "\($0)\n\($1)" } ?? "lines")")
            let bytes = try Self.bytes(request.output)
            #expect(first == nil || bytes == first, "\(batchRows) rows, \(jobs) workers")
            first = first ?? bytes
        }
    }

    @Test("are the same bytes after a stop among them", arguments: changes.filter { $0.translated > 0 })
    func stopped(_ change: Change) throws {
        let scenario = try Self.scenario(change, rows: 12_000)
        let whole = scenario.request(by: change.mapping(), .auto, output: "whole")
        _ = try Migration(whole).run()
        let expected = try Self.bytes(whole.output)
        for (stop, interval) in [(0, 0.0), (1, 0), (3, 0), (4, 3_600)] {
            var request = scenario.request(by: change.mapping(), .auto, output: "stopped")
            request.options.checkpointInterval = interval
            let cancellation = Cancellation()
            var batches: Int?
            let error = #expect(throws: EngineError.self) {
                try Migration(request, cancellation: cancellation) { event in
                    switch event {
                    case .phaseBegan("relationships"): batches = batches ?? 0
                    case .advanced: batches = batches.map { $0 + 1 }
                    default: break
                    }
                    if batches == stop { cancellation.cancel() }
                }.run()
            }
            #expect(error?.kind == .interrupted)
            (request.options.batchRows, request.options.jobs, request.verification) = (7, 3, .full)
            request.options.checkpointInterval = 5
            _ = try Migration(request).run()
            #expect(try Self.bytes(request.output) == expected, "stopped at \(stop)")
            try FileManager.default.removeItem(atPath: scenario.folder + "/stopped")
        }
    }
}
