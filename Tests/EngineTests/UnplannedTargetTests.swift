import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import Testing

/// Makes a car or a truck of a vehicle: entities that its mapping doesn't name.
class MakeCars: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let isTruck = try sInstance.integer("wheels") ?? 0 > 4
        let made = try manager.destinationContext.insert(isTruck ? "Truck" : "Car")
        try made.set("name", to: sInstance.value("name"))
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
    }
}

/// The same on the workers.
final class MakeCarsOnWorkers: MakeCars {
    override class var isIndependent: Bool { true }
}

/// Makes an object of what the source row links to, and associates it with that: a row that its mapping doesn't read.
class MakeOfLinked: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let linked = try sInstance.object("b") else { return }
        let made = try manager.destinationContext.insert("Z")
        try made.set("name", to: linked.value("name"))
        try manager.associate(sourceInstance: linked, withDestinationInstance: made, for: mapping)
    }
}

/// The same on the workers.
final class MakeOfLinkedOnWorkers: MakeOfLinked {
    override class var isIndependent: Bool { true }
}

/// Gives every object that becomes an `A` a shadow, too.
class ShadowManager: MigrationManager {
    /// The shadow's entity.
    class var made: String { "Shadow" }

    override func associate(
        sourceInstance sInstance: ManagedObject, withDestinationInstance dInstance: ManagedObject,
        for mapping: EntityMapping
    ) throws {
        try super.associate(sourceInstance: sInstance, withDestinationInstance: dInstance, for: mapping)
        guard mapping.name == "AToA" else { return }
        let shadow = try destinationContext.insert(Self.made)
        try shadow.set("name", to: sInstance.value("name"))
        try super.associate(sourceInstance: sInstance, withDestinationInstance: shadow, for: mapping)
    }
}

/// Links lead to whatever a source row has become, also where the mapping models don't say it.
@Suite("Links to rows of which no mapping tells", .timeLimit(.minutes(60)))
struct UnplannedTargetTests {
    // MARK: - A policy that introduces inheritance

    private static let garages = [
        model(
            entity("Driver", attribute("name"), toMany("vehicles", "Vehicle", inverse: "drivers")),
            entity(
                "Garage", attribute("name"), toMany("vehicles", "Vehicle", inverse: "garage"),
                toOne("best", "Vehicle", inverse: "bestOf")),
            entity("Permit", attribute("name"), toOne("vehicle", "Vehicle", inverse: "permit")),
            entity(
                "Vehicle", attribute("name"), attribute("wheels", "Integer 16"),
                toOne("garage", "Garage", inverse: "vehicles"), toMany("drivers", "Driver", inverse: "vehicles"),
                toMany("bestOf", "Garage", inverse: "best"), toOne("permit", "Permit", inverse: "vehicle"))),
        model(
            entity("Driver", attribute("name"), toMany("cars", "Car", inverse: "drivers")),
            entity(
                "Garage", attribute("name"), toMany("cars", "Car", inverse: "garage"),
                toOne("best", "Car", inverse: "bestOf")),
            entity("Permit", attribute("name"), toOne("car", "Car", inverse: "permit")),
            entity("Vehicle", attribute("name")),
            entity(
                "Car", parent: "Vehicle", toOne("garage", "Garage", inverse: "cars"),
                toMany("drivers", "Driver", inverse: "cars"), toMany("bestOf", "Garage", inverse: "best"),
                toOne("permit", "Permit", inverse: "car")),
            entity("Truck", parent: "Vehicle")),
    ]

    private static let vehicles = """
        INSERT INTO ZDRIVER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
        INSERT INTO ZGARAGE (Z_PK, Z_ENT, Z_OPT, ZBEST) VALUES (1, 2, 1, 1), (2, 2, 1, 3);
        INSERT INTO ZPERMIT (Z_PK, Z_ENT, Z_OPT, ZVEHICLE) VALUES (1, 3, 1, 4), (2, 3, 1, 3), (3, 3, 1, NULL);
        INSERT INTO ZVEHICLE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZWHEELS, ZGARAGE, ZPERMIT) VALUES
        (1, 4, 1, 'a', 4, 1, NULL), (2, 4, 1, 'b', 6, 1, NULL), (3, 4, 1, 'c', 4, 2, 2), (4, 4, 1, 'd', 6, 2, 1);
        INSERT INTO Z_1VEHICLES VALUES (1, 1), (1, 2), (2, 1), (2, 3);
        """

    @Test("lead to what a policy makes", arguments: [EngineChoice.pages, .statements], [true, false])
    func made(engine: EngineChoice, onWorkers: Bool) throws {
        let scenario = try Scenario(Self.garages[0], Self.garages[1], rows: Self.vehicles)
        let policy = onWorkers ? MakeCarsOnWorkers.self : MakeCars.self
        func mapping() -> SwiftMappingModel {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Vehicle", policy: policy)
                TransformEntity("Garage", fillsUnmentioned: false) {
                    Link("cars", from: "vehicles")
                    Link("best", through: "VehicleToVehicle")
                }
                TransformEntity("Driver", fillsUnmentioned: false) { Link("cars", from: "vehicles") }
                TransformEntity("Permit", fillsUnmentioned: false) { Link("car", from: "vehicle") }
            }
        }
        for (batchRows, jobs) in [(1_024, 1), (1, 2), (7, 4)] {
            let output = "result-\(batchRows)"
            _ = try Migration(
                scenario.request(by: mapping(), engine, output: output, batchRows: batchRows, jobs: jobs)
            ).run()
            func rows(_ sql: String) throws -> [String] { try Database.rows(sql, in: scenario.folder + "/" + output) }
            #expect(
                try rows("SELECT ZNAME, Z_ENT, ZGARAGE FROM ZVEHICLE ORDER BY 1")
                    == ["'a'|5|1", "'b'|6|NULL", "'c'|5|2", "'d'|6|NULL"])
            #expect(
                try rows("SELECT g.Z_PK, v.ZNAME FROM ZGARAGE g LEFT JOIN ZVEHICLE v ON v.Z_PK = g.ZBEST ORDER BY 1")
                    == ["1|'a'", "2|'c'"])
            #expect(
                try rows("SELECT p.Z_PK, v.ZNAME FROM ZPERMIT p LEFT JOIN ZVEHICLE v ON v.Z_PK = p.ZCAR ORDER BY 1")
                    == ["1|NULL", "2|'c'", "3|NULL"])
            #expect(
                try rows("SELECT p.Z_PK FROM ZPERMIT p JOIN ZVEHICLE v ON v.ZPERMIT = p.Z_PK AND v.Z_PK = p.ZCAR")
                    == ["2"])
            #expect(
                try rows("SELECT Z_1DRIVERS, ZNAME FROM Z_5DRIVERS JOIN ZVEHICLE ON Z_PK = Z_5CARS ORDER BY 1, 2")
                    == ["1|'a'", "2|'a'", "2|'c'"])
        }
    }

    // MARK: - A policy that associates other rows than its mapping's

    private static let linked = [
        model(
            entity("A", attribute("name"), toOne("b", "B")),
            entity(
                "B", attribute("name"), toMany("cs", "C", inverse: "b"), toMany("ds", "D", inverse: "bs"),
                toMany("firsts", "E", inverse: "b")),
            entity("C", attribute("name"), toOne("b", "B", inverse: "cs")),
            entity("D", attribute("name"), toMany("bs", "B", inverse: "ds")),
            entity("E", attribute("name"), toOne("b", "B", inverse: "firsts"))),
        model(
            entity("A", attribute("name")), entity("C", attribute("name"), toOne("z", "Z", inverse: "cs")),
            entity("D", attribute("name"), toMany("zs", "Z", inverse: "ds")),
            entity("E", attribute("name"), toOne("z", "Z", inverse: "firsts")),
            entity(
                "Z", attribute("name"), toMany("cs", "C", inverse: "z"), toMany("ds", "D", inverse: "zs"),
                toMany("firsts", "E", inverse: "z"))),
    ]

    /// Row 3 of B has no A, and its own mapping takes it, as no other.
    private static let linkedRows = """
        INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 1, 1, 2), (2, 1, 1, 1);
        INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'x'), (2, 2, 1, 'y'), (3, 2, 1, 'z');
        INSERT INTO ZC (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 3, 1, 1), (2, 3, 1, 2), (3, 3, 1, 3), (4, 3, 1, NULL);
        INSERT INTO ZD (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1), (2, 4, 1);
        INSERT INTO ZE (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 5, 1, 2), (2, 5, 1, 3);
        INSERT INTO Z_2DS VALUES (1, 1), (2, 1), (3, 2);
        """

    /// Whatever the objects at a relationship's other end have become, under any mapping.
    private static func lookUp(_ relationship: String) -> String {
        "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', '\(relationship)', "
            + "$source.\(relationship))"
    }

    @Test(
        "lead to what a policy associates with rows that its mapping doesn't read",
        arguments: [EngineChoice.pages, .statements], [(true, true), (true, false), (false, true), (false, false)])
    func associated(engine: EngineChoice, example: (onWorkers: Bool, isReadByAnother: Bool)) throws {
        let (onWorkers, isReadByAnother) = example
        let scenario = try Scenario(Self.linked[0], Self.linked[1], rows: Self.linkedRows)
        let policy = onWorkers ? MakeOfLinkedOnWorkers.self : MakeOfLinked.self
        func mapping() -> SwiftMappingModel {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("A", policy: policy)
                if isReadByAnother {
                    TransformEntity("B", to: "Z", fillsUnmentioned: false) {
                        Filter("name == 'z'")
                        Copy("name")
                        Link("firsts", Self.lookUp("firsts"))
                    }
                }
                TransformEntity("C", fillsUnmentioned: false) { Link("z", Self.lookUp("b")) }
                TransformEntity("D", fillsUnmentioned: false) { Link("zs", Self.lookUp("bs")) }
                TransformEntity("E", fillsUnmentioned: false) { Link("z", Self.lookUp("b")) }
            }
        }
        let third = isReadByAnother ? "'z'" : "NULL"
        for (batchRows, jobs) in [(1_024, 1), (1, 2), (7, 4)] {
            let output = "result-\(batchRows)"
            _ = try Migration(
                scenario.request(by: mapping(), engine, output: output, batchRows: batchRows, jobs: jobs)
            ).run()
            func rows(_ sql: String) throws -> [String] { try Database.rows(sql, in: scenario.folder + "/" + output) }
            let cs = try rows("SELECT c.Z_PK, z.ZNAME FROM ZC c LEFT JOIN ZZ z ON z.Z_PK = c.ZZ ORDER BY 1")
            #expect(cs == ["1|'x'", "2|'y'", "3|\(third)", "4|NULL"])
            let es = try rows("SELECT e.Z_PK, z.ZNAME FROM ZE e LEFT JOIN ZZ z ON z.Z_PK = e.ZZ ORDER BY 1")
            #expect(es == ["1|'y'", "2|\(third)"])
            let ds = try rows("SELECT Z_3DS, ZNAME FROM Z_3ZS JOIN ZZ ON Z_PK = Z_5ZS ORDER BY 1, 2")
            #expect(ds == ["1|'x'", "1|'y'"] + (isReadByAnother ? ["2|'z'"] : []))
        }
    }

    // MARK: - A manager that associates more

    @Test("lead to what a manager associates", arguments: [EngineChoice.pages, .statements])
    func manager(engine: EngineChoice) throws {
        let scenario = try Scenario(
            model(entity("A", attribute("name")), entity("C", toOne("a", "A"))),
            model(
                entity("A", attribute("name")), entity("C", toOne("shadow", "Shadow")),
                entity("Shadow", attribute("name"))),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'y'), (3, 1, 1, 'own');
                INSERT INTO ZC (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 2, 1, 2), (2, 2, 1, 1), (3, 2, 1, NULL);
                """)
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("A") { Filter("name != 'own'") }
            TransformEntity("A", to: "Shadow", name: "Own") { Filter("name == 'own'") }
            TransformEntity("C", fillsUnmentioned: false) { Link("shadow", Self.lookUp("a")) }
        }
        for (batchRows, jobs) in [(1_024, 1), (1, 3)] {
            let output = "result-\(batchRows)"
            var request = scenario.request(by: mapping, engine, output: output, batchRows: batchRows, jobs: jobs)
            request.code.managerType = ShadowManager.self
            _ = try Migration(request).run()
            let links = try Database.rows(
                "SELECT c.Z_PK, s.ZNAME FROM ZC c LEFT JOIN ZSHADOW s ON s.Z_PK = c.ZSHADOW ORDER BY 1",
                in: scenario.folder + "/" + output)
            #expect(links == ["1|'y'", "2|'x'", "3|NULL"])
        }
    }

    // MARK: - Subentities that their ancestor's mapping reads

    private static func families(_ name: String, inverse: Bool) -> String {
        model(
            entity("Note", attribute(name), toOne("sub", "Sub", inverse: inverse ? "notes" : nil)),
            entity("Parent", attribute("name")),
            inverse
                ? entity("Sub", parent: "Parent", toMany("notes", "Note", inverse: "sub"))
                : entity("Sub", parent: "Parent"))
    }

    @Test(
        "lead to rows that the mapping of an ancestor reads", arguments: [EngineChoice.pages, .statements],
        [true, false])
    func ancestors(engine: EngineChoice, inverse: Bool) throws {
        let after = model(
            entity("Note", attribute("text"), toOne("x", "X", inverse: inverse ? "notes" : nil)),
            inverse
                ? entity("X", attribute("name"), toMany("notes", "Note", inverse: "x"))
                : entity("X", attribute("name")))
        let scenario = try Scenario(
            Self.families("text", inverse: inverse), after,
            rows: """
                INSERT INTO ZPARENT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'p'), (2, 3, 1, 's'), (3, 3, 1, 't');
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZSUB) VALUES (1, 1, 1, 2), (2, 1, 1, 3), (3, 1, 1, NULL);
                """)
        for (order, jobs) in [(["Parent", "Note"], 1), (["Note", "Parent"], 3)] {
            let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                for entity in order {
                    if entity == "Parent" {
                        WithSubentities(
                            TransformEntity("Parent", to: "X", fillsUnmentioned: false) { Copy("name") })
                    } else {
                        TransformEntity("Note", fillsUnmentioned: false) { Link("x", from: "sub") }
                    }
                }
            }
            let output = "result-\(jobs)"
            _ = try Migration(scenario.request(by: mapping, engine, output: output, batchRows: 1, jobs: jobs)).run()
            #expect(
                try Database.rows(
                    "SELECT n.Z_PK, x.ZNAME FROM ZNOTE n LEFT JOIN ZX x ON x.Z_PK = n.ZX ORDER BY 1",
                    in: scenario.folder + "/" + output) == ["1|'s'", "2|'t'", "3|NULL"])
        }
    }

    // MARK: - Friends

    @Test("both ends of a reflexive many-to-many keep their links", arguments: [EngineChoice.pages, .statements])
    func friends(engine: EngineChoice) throws {
        func version(_ name: String) -> String {
            model(
                entity("Person", attribute(name), toMany("friends", "Person", inverse: "friends")),
                entity("Employee", parent: "Person"))
        }
        let scenario = try Scenario(
            version("name"), version("title"),
            rows: """
                INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1), (3, 2, 1);
                INSERT INTO Z_1FRIENDS VALUES (2, 1), (1, 3);
                """)
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("Person", fillsUnmentioned: false) { Link("friends") }
            TransformEntity("Employee", fillsUnmentioned: false)
        }
        _ = try Migration(scenario.request(by: mapping, engine, output: "result")).run()
        #expect(
            try Database.rows(
                "SELECT min(Z_1FRIENDS, REFLEXIVE), max(Z_1FRIENDS, REFLEXIVE) FROM Z_1FRIENDS GROUP BY 1, 2",
                in: scenario.folder + "/result") == ["1|2", "1|3"])
    }
}
