import CausewayEngine
import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import Testing

/// Makes one more node of the first row once all rows are made.
final class ArchiveAtTheEnd: EntityMigrationPolicy {
    private var first: ManagedObject?

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        if try sInstance.string("name") == "a" { first = sInstance }
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        guard let first else { return }
        let made = try manager.destinationContext.insert("Node")
        try made.set("name", to: .string("archive"))
        try manager.associate(sourceInstance: first, withDestinationInstance: made, for: mapping)
    }
}

/// Makes one more node of a row's parent, whose own hook comes later or was before.
class ArchiveOfParent: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard try sInstance.string("name") == "c", let parent = try sInstance.object("parent") else { return }
        let made = try manager.destinationContext.insert("Node")
        try made.set("name", to: .string("archive"))
        try manager.associate(sourceInstance: parent, withDestinationInstance: made, for: mapping)
    }
}

/// The same on the workers.
final class ArchiveOfParentOnWorkers: ArchiveOfParent {
    override class var isIndependent: Bool { true }
}

/// Makes two of every `A`.
final class TwinManager: MigrationManager {
    override func associate(
        sourceInstance sInstance: ManagedObject, withDestinationInstance dInstance: ManagedObject,
        for mapping: EntityMapping
    ) throws {
        try super.associate(sourceInstance: sInstance, withDestinationInstance: dInstance, for: mapping)
        guard mapping.name == "AToA" else { return }
        let twin = try destinationContext.insert("A")
        try twin.set("name", to: .string("twin"))
        try super.associate(sourceInstance: sInstance, withDestinationInstance: twin, for: mapping)
    }
}

/// What a source row has become besides the object that its own hook made.
@Suite("Further objects of a row", .timeLimit(.minutes(60)))
struct FurtherObjectTests {
    private static let nodes = model(
        entity("Node", attribute("name"), toOne("parent", "Node")), entity("X", toOne("node", "Node")))

    private static let rows = """
        INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPARENT) VALUES
        (1, 1, 1, 'a', 4), (2, 1, 1, 'b', 1), (3, 1, 1, 'c', 1), (4, 1, 1, 'd', NULL);
        INSERT INTO ZX (Z_PK, Z_ENT, Z_OPT, ZNODE) VALUES (1, 2, 1, 1), (2, 2, 1, 2), (3, 2, 1, NULL);
        """

    @Test(
        "the row's own object stays the first one, and all are linked",
        arguments: [EngineChoice.pages, .statements], [0, 1, 2])
    func archive(engine: EngineChoice, place: Int) throws {
        let policies = [ArchiveAtTheEnd.self, ArchiveOfParent.self, ArchiveOfParentOnWorkers.self]
        let scenario = try Scenario(Self.nodes, Self.nodes.replacing("name=\"X\"", with: "name=\"Y\""), rows: Self.rows)
        func mapping() -> SwiftMappingModel {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Node", policy: policies[place])
                TransformEntity("X", to: "Y")
            }
        }
        for (batchRows, jobs) in [(1_024, 1), (1, 2), (7, 4)] {
            let output = "result-\(batchRows)"
            _ = try Migration(
                scenario.request(by: mapping(), engine, output: output, batchRows: batchRows, jobs: jobs)
            ).run()
            func rows(_ sql: String) throws -> [String] { try Database.rows(sql, in: scenario.folder + "/" + output) }
            #expect(
                try rows("SELECT n.ZNAME, p.ZNAME FROM ZNODE n LEFT JOIN ZNODE p ON p.Z_PK = n.ZPARENT ORDER BY 1")
                    == ["'a'|'d'", "'archive'|'d'", "'b'|'a'", "'c'|'a'", "'d'|NULL"])
            #expect(
                try rows("SELECT y.Z_PK, n.ZNAME FROM ZY y LEFT JOIN ZNODE n ON n.Z_PK = y.ZNODE ORDER BY 1")
                    == ["1|'a'", "2|'b'", "3|NULL"])
        }
    }

    @Test("a stop between the stages changes nothing", arguments: [EngineChoice.pages, .statements], 1...8)
    func stopped(engine: EngineChoice, stop: Int) throws {
        let scenario = try Scenario(Self.nodes, Self.nodes.replacing("name=\"X\"", with: "name=\"Y\""), rows: Self.rows)
        func request() -> MigrationRequest {
            let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Node", policy: ArchiveOfParent.self)
                TransformEntity("X", to: "Y")
            }
            var request = scenario.request(by: mapping, engine, output: "result", batchRows: 1, jobs: 1)
            request.options.checkpointInterval = 0
            return request
        }
        if try Scenario.isStopped(request(), atProgress: stop) { _ = try Migration(request()).run() }
        #expect(
            try Database.rows(
                "SELECT n.ZNAME, p.ZNAME FROM ZNODE n LEFT JOIN ZNODE p ON p.Z_PK = n.ZPARENT ORDER BY 1",
                in: scenario.folder + "/result") == ["'a'|'d'", "'archive'|'d'", "'b'|'a'", "'c'|'a'", "'d'|NULL"])
    }

    @Test(
        "what a manager of the app's own associates is linked as its mapping says",
        arguments: [EngineChoice.pages, .statements])
    func manager(engine: EngineChoice) throws {
        func version(_ name: String) -> String {
            model(
                entity("A", attribute("name"), toOne("owner", "Owner", inverse: "as")),
                entity("Owner", attribute(name), toMany("as", "A", inverse: "owner")))
        }
        let scenario = try Scenario(
            version("name"), version("title"),
            rows: """
                INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOWNER) VALUES (1, 1, 1, 'x', 2), (2, 1, 1, 'y', NULL),
                (3, 1, 1, 'z', 1);
                """)
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("A")
            TransformEntity("Owner")
        }
        for (batchRows, jobs) in [(1_024, 1), (1, 3)] {
            let output = "result-\(batchRows)"
            var request = scenario.request(by: mapping, engine, output: output, batchRows: batchRows, jobs: jobs)
            request.code.managerType = TwinManager.self
            _ = try Migration(request).run()
            #expect(
                try Database.rows(
                    "SELECT ZNAME, ZOWNER FROM ZA ORDER BY ZNAME, ZOWNER", in: scenario.folder + "/" + output)
                    == ["'twin'|NULL", "'twin'|1", "'twin'|2", "'x'|2", "'y'|NULL", "'z'|1"])
        }
    }

    @Test(
        "a link to what a policy makes may be mandatory in the version after it",
        arguments: [EngineChoice.pages, .statements], [true, false])
    func mandatoryLater(engine: EngineChoice, fuses: Bool) throws {
        let after = model(
            entity("Garage", toOne("best", "Car")), entity("Vehicle", attribute("name")),
            entity("Car", parent: "Vehicle"), entity("Truck", parent: "Vehicle"))
        let mandatory = after.replacing(#"name="best" optional="YES""#, with: #"name="best" optional="NO""#)
        #expect(mandatory != after)
        let before = model(
            entity("Garage", toOne("best", "Vehicle")),
            entity("Vehicle", attribute("name"), attribute("wheels", "Integer 16")))
        let scenario = try Scenario(
            before, after, mandatory,
            rows: """
                INSERT INTO ZVEHICLE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZWHEELS) VALUES (1, 2, 1, 'a', 4), (2, 2, 1, 'b', 4);
                INSERT INTO ZGARAGE (Z_PK, Z_ENT, Z_OPT, ZBEST) VALUES (1, 1, 1, 2), (2, 1, 1, 1);
                """)
        var request = scenario.request(to: "V3", output: scenario.folder + "/result", fuses: fuses, engine: engine)
        request.code.add(
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Vehicle", policy: MakeCars.self)
                TransformEntity("Garage", fillsUnmentioned: false) { Link("best") }
            })
        _ = try Migration(request).run()
        #expect(
            try Database.rows(
                "SELECT g.Z_PK, v.ZNAME FROM ZGARAGE g JOIN ZVEHICLE v ON v.Z_PK = g.ZBEST ORDER BY 1",
                in: scenario.folder + "/result") == ["1|'b'", "2|'a'"])
    }

    @Test("rows of two mappings that become one entity's aren't followed by an inferred step in one go")
    func twoMakers() throws {
        let scenario = try Scenario(
            model(entity("Base", attribute("name")), entity("A", parent: "Base"), entity("B", parent: "Base")),
            model(entity("Base", attribute("name")), entity("X", parent: "Base")),
            model(entity("Base", attribute("name"), attribute("more")), entity("X", parent: "Base")),
            rows: """
                INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'), (2, 3, 1, 'b'), (3, 2, 1, 'c');
                """)
        var request = scenario.request(to: "V3", output: scenario.folder + "/result", engine: .pages)
        request.code.add(
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("A", to: "X")
                TransformEntity("B", to: "X")
            })
        #expect(try Migration(request).plan().fusion.barriers == [nil, "rows of several mappings become those of X"])
        _ = try Migration(request).run()
        #expect(
            try Database.rows("SELECT Z_PK, ZNAME FROM ZBASE ORDER BY 1", in: scenario.folder + "/result")
                == ["1|'a'", "2|'b'", "3|'c'"])
    }
}
