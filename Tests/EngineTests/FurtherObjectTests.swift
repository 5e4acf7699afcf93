import CausewayEngine
import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores
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

/// Makes another node of the third row, and removes the one that it made first.
class ReplacingOwn: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard try sInstance.string("name") == "c" else { return }
        let own = try manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let made = try manager.destinationContext.insert("Node")
        try made.set("name", to: .string("new"))
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
        for object in own { try object.delete() }
    }
}

/// The same on the workers.
final class ReplacingOwnOnWorkers: ReplacingOwn {
    override class var isIndependent: Bool { true }
}

/// Removes the object of the last row when the first one's is linked.
final class RemovingLast: EntityMigrationPolicy {
    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        guard try dInstance.string("name") == "a" else { return }
        for node in try manager.destinationContext.fetch(FetchRequest("Node")) where try node.string("name") == "c" {
            try node.delete()
        }
    }
}

/// Makes one more node of a row's parent, whose own hook was before.
class ArchiveOfParent: EntityMigrationPolicy {
    /// The row that does it.
    class var child: String { "c" }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard try sInstance.string("name") == Self.child, let parent = try sInstance.object("parent") else { return }
        let made = try manager.destinationContext.insert("Node")
        try made.set("name", to: .string("archive"))
        try manager.associate(sourceInstance: parent, withDestinationInstance: made, for: mapping)
    }
}

/// The same of a row whose parent's own hook comes later.
final class ArchiveOfLaterParent: ArchiveOfParent {
    override class var child: String { "a" }
}

/// The same on the workers.
final class ArchiveOfParentOnWorkers: ArchiveOfParent {
    override class var isIndependent: Bool { true }
}

/// Fills what no mapping fills.
final class NotingManager: MigrationManager {
    override func associate(
        sourceInstance sInstance: ManagedObject, withDestinationInstance dInstance: ManagedObject,
        for mapping: EntityMapping
    ) throws {
        try dInstance.set("note", to: .string("noted"))
        try super.associate(sourceInstance: sInstance, withDestinationInstance: dInstance, for: mapping)
    }
}

/// Makes two of every `A`.
final class TwinManager: ShadowManager {
    override class var made: String { "A" }
}

/// What a source row has become besides the object that its own hook made.
@Suite("Further objects of a row", .timeLimit(.minutes(60)))
struct FurtherObjectTests {
    private static func version(_ name: String) -> String {
        model(
            entity("Node", attribute("name"), toOne("parent", "Node")),
            entity("X", attribute(name), toOne("node", "Node")))
    }

    private static let rows = """
        INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPARENT) VALUES
        (1, 1, 1, 'a', 4), (2, 1, 1, 'b', 1), (3, 1, 1, 'c', 1), (4, 1, 1, 'd', NULL);
        INSERT INTO ZX (Z_PK, Z_ENT, Z_OPT, ZNODE) VALUES (1, 2, 1, 1), (2, 2, 1, 2), (3, 2, 1, NULL);
        """

    @Test(
        "the row's own object stays the first one, and all are linked",
        arguments: [EngineChoice.pages, .statements],
        [(0, false), (1, false), (2, false), (3, false), (0, true), (1, true), (2, true), (3, true)])
    func archive(engine: EngineChoice, example: (policy: Int, sharesTable: Bool)) throws {
        let policies = [
            ArchiveAtTheEnd.self, ArchiveOfParent.self, ArchiveOfParentOnWorkers.self, ArchiveOfLaterParent.self,
        ]
        let parent = example.policy == 3 ? "NULL" : "'d'"
        let scenario = try Scenario(Self.version("old"), Self.version("new"), rows: Self.rows)
        func mapping() -> SwiftMappingModel {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Node", policy: policies[example.policy])
                // Two mappings that fill a table can't promise to keep every key.
                if example.sharesTable { TransformEntity("Node", name: "None") { Filter("name == 'none'") } }
                TransformEntity("X", fillsUnmentioned: false) {
                    Link("node", through: "NodeToNode")
                }
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
                    == ["'a'|'d'", "'archive'|\(parent)", "'b'|'a'", "'c'|'a'", "'d'|NULL"])
            #expect(
                try rows("SELECT x.Z_PK, n.ZNAME FROM ZX x LEFT JOIN ZNODE n ON n.Z_PK = x.ZNODE ORDER BY 1")
                    == ["1|'a'", "2|'b'", "3|NULL"])
        }
    }

    @Test("a stop between the stages changes nothing", arguments: [EngineChoice.pages, .statements], 1...8)
    func stopped(engine: EngineChoice, stop: Int) throws {
        let scenario = try Scenario(Self.version("old"), Self.version("new"), rows: Self.rows)
        func request() -> MigrationRequest {
            let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Node", policy: ArchiveOfParent.self)
                TransformEntity("X")
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

    @Test("what a hook of stage 2 deletes isn't linked", arguments: [EngineChoice.pages, .statements])
    func deleted(engine: EngineChoice) throws {
        let scenario = try Scenario(Self.version("old"), Self.version("new"), rows: Self.rows)
        for (batchRows, jobs) in [(1_024, 1), (1, 2), (7, 4)] {
            let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Node", policy: RemovingLast.self)
                TransformEntity("X")
            }
            let output = "result-\(batchRows)"
            _ = try Migration(
                scenario.request(by: mapping, engine, output: output, batchRows: batchRows, jobs: jobs)
            ).run()
            #expect(
                try Database.rows("SELECT ZNAME, ZPARENT FROM ZNODE ORDER BY 1", in: scenario.folder + "/" + output)
                    == ["'a'|4", "'b'|1", "'d'|NULL"])
        }
    }

    @Test(
        "what a hook makes and deletes again is nothing that a row has become",
        arguments: [EngineChoice.pages, .statements], [(false, false), (true, false), (false, true), (true, true)])
    func replaced(engine: EngineChoice, example: (onWorkers: Bool, sharesTable: Bool)) throws {
        let rows = Self.rows.replacing("(3, 2, 1, NULL)", with: "(3, 2, 1, 3)")
        let scenario = try Scenario(Self.version("old"), Self.version("new"), rows: rows)
        for (batchRows, jobs) in [(1_024, 1), (1, 2), (7, 4)] {
            let policy = example.onWorkers ? ReplacingOwnOnWorkers.self : ReplacingOwn.self
            let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Node", policy: policy)
                if example.sharesTable { TransformEntity("Node", name: "None") { Filter("name == 'none'") } }
                TransformEntity("X", fillsUnmentioned: false) { Link("node", through: "NodeToNode") }
            }
            let output = "result-\(batchRows)"
            let outcome = try Migration(
                scenario.request(by: mapping, engine, output: output, batchRows: batchRows, jobs: jobs)
            ).run()
            #expect(outcome.dropped == (example.sharesTable ? 4 : 0))
            func rows(_ sql: String) throws -> [String] { try Database.rows(sql, in: scenario.folder + "/" + output) }
            #expect(
                try rows("SELECT n.ZNAME, p.ZNAME FROM ZNODE n LEFT JOIN ZNODE p ON p.Z_PK = n.ZPARENT ORDER BY 1")
                    == ["'a'|'d'", "'b'|'a'", "'d'|NULL", "'new'|'a'"])
            #expect(
                try rows("SELECT x.Z_PK, n.ZNAME FROM ZX x LEFT JOIN ZNODE n ON n.Z_PK = x.ZNODE ORDER BY 1")
                    == ["1|'a'", "2|'b'", "3|'new'"])
        }
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
                    == ["'x'|2", "'x'|2", "'y'|NULL", "'y'|NULL", "'z'|1", "'z'|1"])
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

    /// What makes the object that a link leads to.
    enum EndingLater: CaseIterable {
        case policy, throughCar, throughOld
    }

    @Test(
        "a link to a row of which a policy makes another may end in the version after it",
        arguments: [EngineChoice.pages, .statements], EndingLater.allCases.flatMap { [($0, true), ($0, false)] })
    func endingLater(engine: EngineChoice, case: (example: EndingLater, fuses: Bool)) throws {
        let (example, fuses) = `case`
        func version(_ entities: String..., optional: String = "YES") -> String {
            model(
                entity("Garage", toOne("best", "Thing")).replacing(
                    #"name="best" optional="YES""#, with: #"name="best" optional="\#(optional)""#),
                entity("Thing", attribute("name"), attribute("wheels", "Integer 16")),
                entities.map { entity($0, parent: "Thing") }.joined())
        }
        let scenario = try Scenario(
            version("Old"), version("Old", "Car"), version("Car", optional: "NO"),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'a'), (2, 3, 1, 'b');
                INSERT INTO ZGARAGE (Z_PK, Z_ENT, Z_OPT, ZBEST, Z2_BEST) VALUES (1, 1, 1, 2, 3), (2, 1, 1, 1, 3);
                """)
        var request = scenario.request(to: "V3", output: scenario.folder + "/result", fuses: fuses, engine: engine)
        request.code.add(
            SwiftMappingModel(from: "V1", to: "V2") {
                if example == .policy {
                    TransformEntity("Old", policy: MakeCars.self)
                } else {
                    TransformEntity("Old")
                    TransformEntity("Old", to: "Car")
                }
                TransformEntity("Garage", fillsUnmentioned: false) {
                    Link("best", through: example == .throughCar ? "OldToCar" : "OldToOld")
                }
            })
        guard example != .throughOld else {
            #expect(try failure { _ = try Migration(request).plan() }.kind == .sourceData)
            return
        }
        let notices = try Migration(request).plan().notices
        #expect(notices.count == (example == .policy ? 1 : 0), "\(notices)")
        _ = try Migration(request).run()
        #expect(
            try Database.rows(
                "SELECT g.Z_PK, v.ZNAME FROM ZGARAGE g JOIN ZTHING v ON v.Z_PK = g.ZBEST ORDER BY 1",
                in: scenario.folder + "/result") == ["1|'b'", "2|'a'"])
    }

    @Test(
        "a manager of the app's own may fill what is mandatory, in this version or the next",
        arguments: [EngineChoice.pages, .statements], [true, false])
    func filled(engine: EngineChoice, isLater: Bool) throws {
        func version(_ optional: Bool) -> String {
            model(entity("A", attribute("name"), attribute("note", optional: optional)))
        }
        let scenario = try Scenario(
            model(entity("A", attribute("name"))), version(isLater), version(false),
            rows: "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'y');")
        var request = scenario.request(to: "V3", output: scenario.folder + "/result", engine: engine)
        request.code.add(SwiftMappingModel(from: "V1", to: "V2") { TransformEntity("A") })
        request.code.managerType = NotingManager.self
        _ = try Migration(request).run()
        #expect(
            try Database.rows("SELECT ZNAME, ZNOTE FROM ZA ORDER BY 1", in: scenario.folder + "/result")
                == ["'x'|'noted'", "'y'|'noted'"])
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
