import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Testing

/// Settled origins in a run.
@Suite("Settled origins in a run", .timeLimit(.minutes(60)))
struct SettledOriginRunTests {
    private static let versions = [
        model(entity("Person", attribute("name"))), model(entity("Person", attribute("fullName", was: "name"))),
        model(entity("Person", attribute("fullName", was: "name"), attribute("name"))),
    ]

    @Test("decide what continues the old name; one that settles nothing is an error", arguments: [true, false])
    func run(fuses: Bool) throws {
        let scenario = try Scenario(
            versions: Self.versions, rows: "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ada');")
        var request = scenario.request(to: "V3", fuses: fuses)
        let refusal = try failure { _ = try Migration(request).plan() }
        #expect(refusal.details.contains { $0.contains("--origin Person.fullName=fullName") }, "\(refusal)")
        request.origins = ["Person.fullName": "fullName", "Person.nmae": ""]
        let unused = try failure { _ = try Migration(request).plan() }
        #expect(unused.details == ["--origin Person.nmae="])
        request.origins = ["Person.fullName": "fullName"]
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT ZFULLNAME, ZNAME FROM ZPERSON") == ["'Ada'|NULL"])
    }

    @Test("an attribute that a relationship replaces is a loss with its number")
    func replaced() throws {
        let scenario = try Scenario(
            model(entity("Other"), entity("Thing", attribute("x"))),
            model(entity("Other"), entity("Thing", toOne("x", "Other"))),
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 2, 1, 'a'), (2, 2, 1, NULL);")
        var request = scenario.request()
        request.origins = ["Thing.x": ""]
        #expect(try Migration(request).plan().steps[0].losses == ["V1 → V2: will drop Thing.x (1 value)"])
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT ZX FROM ZTHING ORDER BY Z_PK") == ["NULL", "NULL"])
    }
}
