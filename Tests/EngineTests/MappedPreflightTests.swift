import CausewayEngine
import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// What a mapping model can't make of the rows is found before the first byte is written.
@Suite("The check before the run finds what a mapping model can't make", .timeLimit(.minutes(60)))
struct MappedPreflightTests {
    private static func scenario(_ old: String, _ new: String, rows: String) throws -> Scenario {
        try Scenario(model(old), model(new), rows: rows)
    }

    private static let three = """
        INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, NULL), (2, 1, 1, 5), (3, 1, 1, 6);
        """
    private static let nulls = "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);"

    private static func request(
        _ scenario: Scenario, _ engine: EngineChoice = .auto,
        @EntityMappingPartsBuilder _ parts: @escaping () -> [EntityMappingPart]
    ) -> MigrationRequest {
        let mapping = SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("Thing", fillsUnmentioned: false, content: parts)
        }
        return scenario.request(by: mapping, engine, output: "New.sqlite")
    }

    // MARK: - Types

    @Test("a value of another type is refused with its rows, and NULL alone is not")
    func types() throws {
        let (old, new) = (entity("Thing", attribute("a", "Integer 32")), entity("Thing", attribute("b")))
        for engine in [EngineChoice.auto, .statements] {
            let scenario = try Self.scenario(old, new, rows: Self.three)
            let error = try failure {
                _ = try Migration(Self.request(scenario, engine) { Rename("a", to: "b") }).plan()
            }
            #expect(
                error.details == [
                    """
                    V2: Thing.b is String, which can't hold what the mapping “ThingToThing” gives it (the Integer 32 \
                    a), but a isn't NULL in 2 rows of Thing (p2, p3)
                    """
                ], "\(error)")
            #expect(error.remedy.contains("change the expression"), "\(error.remedy)")
            let empty = try Self.scenario(old, new, rows: Self.nulls)
            _ = try Migration(Self.request(empty, engine) { Rename("a", to: "b") }).run()
            #expect(
                try Database.rows("SELECT Z_PK, ZB FROM ZTHING", in: empty.folder + "/New.sqlite")
                    == ["1|NULL", "2|NULL"])
        }
    }

    @Test("a constant of another type, or too large, is refused where there are rows")
    func constants() throws {
        let (old, new) = (
            entity("Thing", attribute("a", "Integer 32")),
            entity("Thing", attribute("b"), attribute("c", "Integer 16"))
        )
        for (name, text) in [("b", "5"), ("c", "'x'"), ("c", "70000")] {
            let scenario = try Self.scenario(old, new, rows: Self.three)
            let error = try failure {
                _ = try Migration(Self.request(scenario) { Compute(name, text) }).plan()
            }
            #expect(
                error.details.first?.hasPrefix("V2: Thing.\(name) is ") == true
                    && error.details.first?.hasSuffix("but there are 3 rows of Thing (p1, p2, p3)") == true, "\(error)")
            let empty = try Self.scenario(old, new, rows: "")
            _ = try Migration(Self.request(empty) { Compute(name, text) }).run()
        }
        let scenario = try Self.scenario(old, new, rows: Self.three)
        _ = try Migration(Self.request(scenario) { Compute("c", "3.5") }).run()
        #expect(try Database.rows("SELECT DISTINCT ZC FROM ZTHING", in: scenario.folder + "/New.sqlite") == ["3"])
    }

    @Test("an expression of another type, and a filter, give a notice: some rows may have no such value")
    func notices() throws {
        let (old, new) = (
            entity("Thing", attribute("a", "Integer 32"), attribute("text")),
            entity("Thing", attribute("b", "Integer 32"))
        )
        let scenario = try Self.scenario(old, new, rows: Self.three)
        let computed = Self.request(scenario) { Compute("b", "uppercase($source.text)") }
        let notice = """
            V2: Thing.b is Integer 32, which can't hold what the mapping “ThingToThing” gives it (a string): the \
            run stops at the first row that gives such a value; there are 3 rows of Thing (p1, p2, p3)
            """
        let given = try Migration(computed).plan().notices
        #expect(given.contains(notice), "\(given)")
        _ = try Migration(computed).run()
        let another = try Self.scenario(old, new, rows: Self.three)
        let filtered = Self.request(another) {
            Compute("b", "'x'")
            Filter("a == nil AND a != nil")
        }
        let warnings = try Migration(filtered).plan().notices
        #expect(
            warnings.contains { $0.contains("row left by the filter of the mapping “ThingToThing” that gives") },
            "\(warnings)")
        _ = try Migration(filtered).run()
    }

    // MARK: - Abstract entities

    @Test(
        "objects of an abstract entity are refused where there are rows", arguments: [EngineChoice.auto, .statements])
    func abstract(engine: EngineChoice) throws {
        let (old, new) = (
            entity("Thing", attribute("a", "Integer 32")),
            entity("Thing", extra: "isAbstract=\"YES\"", attribute("a", "Integer 32"))
                + entity("Child", parent: "Thing")
        )
        let scenario = try Self.scenario(old, new, rows: Self.three)
        let error = try failure { _ = try Migration(Self.request(scenario, engine) { Copy("a") }).plan() }
        #expect(
            error.details == [
                """
                V2: Thing is abstract, and the mapping “ThingToThing” makes objects of it, but there are 3 rows of \
                Thing (p1, p2, p3)
                """
            ], "\(error)")
        let empty = try Self.scenario(old, new, rows: "")
        _ = try Migration(Self.request(empty, engine) { Copy("a") }).run()
    }

    // MARK: - Mandatory attributes

    @Test("a mandatory attribute that a mapping sets to NULL: the default is named where there is one")
    func mandatory() throws {
        let old = entity("Thing", attribute("a", "Integer 32"))
        let new = entity("Thing", attribute("a", "Integer 32", optional: false, default: "7"))
        func error(
            _ new: String, @EntityMappingPartsBuilder _ parts: @escaping () -> [EntityMappingPart]
        ) throws -> EngineError {
            let scenario = try Self.scenario(old, new, rows: Self.three)
            return try failure { _ = try Migration(Self.request(scenario, .auto, parts)).plan() }
        }
        let copied = try error(new) { Copy("a") }
        #expect(
            copied.details == [
                """
                V2: Thing.a is mandatory, and the mapping gives it the value of a, but it is NULL in 1 row of Thing (p1)
                """
            ], "\(copied)")
        #expect(copied.remedy.hasPrefix("write the default with --on-violation default, "), "\(copied.remedy)")
        let set = try error(new) { Compute("a", "NIL") }
        #expect(
            set.details == [
                """
                V2: Thing.a is mandatory, and the mapping sets it to NULL, but there is no value for 3 rows of Thing \
                (p1, p2, p3)
                """
            ], "\(set)")
        let bare = try error(entity("Thing", attribute("a", "Integer 32", optional: false))) { Leave("a") }
        #expect(
            bare.details == [
                """
                V2: Thing.a is mandatory, has no default, and isn't mapped, but there is no value for 3 rows of Thing \
                (p1, p2, p3)
                """
            ], "\(bare)")
        let scenario = try Self.scenario(old, new, rows: Self.three)
        var request = Self.request(scenario) { Copy("a") }
        request.violations = .useDefault
        _ = try Migration(request).run()
        #expect(
            try Database.rows("SELECT Z_PK, ZA FROM ZTHING", in: request.output ?? "") == ["1|7", "2|5", "3|6"])
    }

    // MARK: - Keys of mappings

    @Test("an unknown key of a mapping is an error of the plan, not NULL")
    func keys() throws {
        let (old, new) = (entity("Thing", attribute("a", "Integer 32")), entity("Thing", attribute("b")))
        for text in [
            "$entityMapping.nmae", "$entityMapping.mappingType", "$entityMapping.userInfo", "$propertyMapping.foo.bar",
            "FUNCTION($entityMapping, 'valueForKeyPath:', 'nmae')",
        ] {
            let scenario = try Self.scenario(old, new, rows: Self.three)
            let error = try failure { _ = try Migration(Self.request(scenario) { Compute("b", text) }).plan() }
            #expect(error.kind == .plan, "\(text): \(error)")
            // `CompilationErrorTests` has the words.
            #expect("\(error)".contains("the mapping model “V1 to V2” can't be used"), "\(text): \(error)")
        }
        let scenario = try Self.scenario(old, new, rows: Self.three)
        let request = Self.request(scenario) {
            Compute("b", "$entityMapping.userInfo.tag")
            UserInfo("tag", "t")
        }
        _ = try Migration(request).run()
        #expect(try Database.rows("SELECT DISTINCT ZB FROM ZTHING", in: request.output ?? "") == ["'t'"])
    }
}
