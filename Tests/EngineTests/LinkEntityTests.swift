import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// The entity of a link's target is a number in a column of its own: text there is a bad value.
@Suite("What isn't a number in a link's entity column", .timeLimit(.minutes(60)))
struct LinkEntityTests {
    enum Change: CaseIterable {
        /// Z_ENTs stay, and change; a column is left out; a target's entity goes.
        case added, renumbered, dropped, lost
    }

    private static func scenario(_ change: Change) throws -> Scenario {
        func version(_ isFirst: Bool) -> String {
            let isLost = change == .lost && !isFirst
            return model(
                change == .renumbered && !isFirst ? entity("Aardvark", attribute("a")) : "",
                entity("Animal", attribute("name"), toMany("things", "Thing", inverse: "pet")),
                entity("Cat", parent: "Animal"), isLost ? "" : entity("Dog", parent: "Animal"),
                entity(
                    "Thing", attribute("a"), isFirst || change != .dropped ? attribute("b") : "",
                    isFirst ? "" : attribute("c"), toOne("pet", "Animal", inverse: "things")))
        }
        // Animal 1, Cat 2, Dog 3, Thing 4.
        return try Scenario(
            version(true), version(false),
            rows: """
                INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a'), (2, 2, 1, 'c');
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) VALUES \
                (1, 4, 1, 1, 1), (2, 4, 1, 2, 'Cat'), (3, 4, 1, NULL, NULL), (4, 4, 1, 2, 2), (5, 4, 1, 1, x'01');
                """)
    }

    @Test(
        "stops plan and run, and all rows are named", arguments: Change.allCases,
        [EngineChoice.pages, .statements])
    func refused(_ change: Change, engine: EngineChoice) throws {
        let scenario = try Self.scenario(change)
        let before = try snapshot(scenario.folder)
        let request = scenario.request(to: "V2", engine: engine)
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(
                error.details.contains("Thing.pet: the entity of the link isn't a number in 2 rows (p2, p5)"),
                "\(error)")
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("is quarantined with its row", arguments: Change.allCases)
    func quarantined(_ change: Change) throws {
        let scenario = try Self.scenario(change)
        var request = scenario.request(to: "V2")
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        let notices = try Migration(request).plan().notices
        #expect(notices.contains { $0.contains("isn't a number in 2 rows (p2, p5); to be quarantined") }, "\(notices)")
        let outcome = try Migration(request).run()
        #expect(outcome.quarantinedRows == 2)
        let lines = try BadLine.read(scenario.folder + "/rejects.jsonl")
        #expect(lines.map(\.key) == [2, 5] && lines.allSatisfy { $0.property == "pet" })
        #expect(try scenario.rows("SELECT Z_PK, ZPET FROM ZTHING ORDER BY Z_PK") == ["1|1", "3|NULL", "4|2"])
    }

    @Test("is refused where a mapping model reads it", arguments: [EngineChoice.auto, .statements])
    func mapped(engine: EngineChoice) throws {
        let scenario = try Self.scenario(.added)
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            CopyEntity("Animal")
            CopyEntity("Cat")
            CopyEntity("Dog")
            TransformEntity("Thing") { Copy("a") }
        }
        let error = try failure { _ = try Migration(scenario.request(by: mapping, engine, output: "New.sqlite")).run() }
        #expect(error.kind == .sourceData && error.details.first?.contains("Thing.pet") == true, "\(error)")
    }

    @Test("in a relationship that goes doesn't matter")
    func ignored() throws {
        let animal = entity("Animal", attribute("name")) + entity("Cat", parent: "Animal")
        let scenario = try Scenario(
            model(animal, entity("Thing", attribute("a"), toOne("pet", "Animal"))),
            model(animal, entity("Thing", attribute("a"))),
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZPET, Z1_PET) VALUES (1, 3, 1, 1, 'Cat')")
        _ = try Migration(scenario.request(to: "V2")).run()
        #expect(try scenario.rows("SELECT Z_PK FROM ZTHING") == ["1"])
    }
}
