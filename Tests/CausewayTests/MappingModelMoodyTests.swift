import Causeway
import CausewayEngine
import Foundation
import Testing

/// Moody 1 → 6, a chain of mapping models: compared with what Core Data made of one store, version by version.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct MappingModelMoodyTests {
    struct Step: CustomTestStringConvertible, Sendable {
        let from: Int
        let to: Int
        var testDescription: String { "Moody \(from) → \(to)" }

        var example: PoliciesExample {
            var code = MigrationCode()
            code.register(Country5ToCountry6Policy.self)
            return PoliciesExample(
                name: testDescription, store: Self.store(from), models: "moody/Moody.xcdatamodeld",
                target: "Moody \(to)", code: code)
        }

        static func store(_ version: Int) -> String {
            version == 1 ? "moody/Moody.moody" : "moody/Moody \(version).moody"
        }
    }

    /// Each single step, and each path that ends at a store that Apple's code made.
    static let steps = (1...4).flatMap { from in (from + 1...5).map { Step(from: from, to: $0) } }

    /// Every value that isn't random, and every link, told without keys.
    private static func contents(_ version: Int) -> [String] {
        let region =
            "ZNUMBEROFMOODS || ' ' || r.ZNUMERICISO3166CODE || ' ' || r.ZUNIQUENESSDUMMY || ' ' || quote(r.ZUPDATEDAT)"
        let (countries, continents) =
            version < 4 ? ("ZGEOGRAPHICREGION", "ZGEOGRAPHICREGION") : ("ZCOUNTRY", "ZCONTINENT")
        var result: [String] = []
        if version < 5 {
            result.append(
                """
                SELECT r.Z_ENT || ' ' || r.\(region) || ' ' || quote(c.ZNUMERICISO3166CODE) FROM \(countries) AS r
                LEFT JOIN \(continents) AS c ON c.Z_PK = r.ZCONTINENT ORDER BY 1
                """)
            result.append("SELECT r.ZNUMBEROFCOUNTRIES || ' ' || r.\(region) FROM \(continents) AS r ORDER BY 1")
        } else {
            result.append("SELECT r.ZISOCONTINENT || ' ' || r.\(region) FROM ZCOUNTRY AS r ORDER BY 1")
        }
        let continent = [3, 4].contains(version)
        result.append(
            """
            SELECT m.ZREMOTEID || ' ' || m.ZMARKEDFORREMOTEDELETION || ' ' || m.ZRATING || ' ' || quote(m.ZCOLORS) || ' '
            || quote(k.ZNUMERICISO3166CODE) || ' ' || \(continent ? "quote(c.ZNUMERICISO3166CODE)" : "''")
            FROM ZMOOD AS m LEFT JOIN \(countries) AS k ON k.Z_PK = m.ZCOUNTRY
            \(continent ? "LEFT JOIN \(continents) AS c ON c.Z_PK = m.ZCONTINENT" : "") ORDER BY 1
            """)
        return result
    }

    @Test("every step and every path gives the store that Core Data made", arguments: steps)
    func step(_ step: Step) throws {
        let folder = try TemporaryFolder()
        let result = try step.example.migrate(in: folder)
        try step.example.expectReference(result, Step.store(step.to), in: folder)
        for sql in Self.contents(step.to) {
            let rows = try StoreRows.texts(result, sql)
            #expect(!rows.isEmpty)
            #expect(try rows == StoreRows.texts(folder.path("reference"), sql))
        }
    }

    @Test("5 → 6: countries share the continents that their codes name")
    func findOrCreate() throws {
        let folder = try TemporaryFolder()
        let example = Step(from: 5, to: 6).example
        let result = try example.migrate(in: folder)
        try example.expectSchema(result)
        #expect(
            try StoreRows.texts(result, "SELECT ZNUMERICISO3166CODE FROM ZCONTINENT ORDER BY 1") == ["10004", "10005"])
        let source = try folder.copyStore(StoreRows.shared(Step.store(5)), as: "copy")
        #expect(
            try StoreRows.texts(
                result,
                """
                SELECT k.Z_PK || ' ' || k.ZNUMERICISO3166CODE || ' ' || c.ZNUMERICISO3166CODE FROM ZCOUNTRY AS k
                JOIN ZCONTINENT AS c ON c.Z_PK = k.ZCONTINENT ORDER BY 1
                """)
                == StoreRows.texts(
                    source, "SELECT Z_PK || ' ' || ZNUMERICISO3166CODE || ' ' || ZISOCONTINENT FROM ZCOUNTRY ORDER BY 1"
                ))
        let moods = "SELECT Z_PK || ' ' || ZCOUNTRY || ' ' || ZREMOTEID FROM ZMOOD ORDER BY 1"
        #expect(try StoreRows.texts(result, moods) == StoreRows.texts(source, moods))
    }

    @Test("1 → 6 in one run is the same as step by step")
    func wholeChain() throws {
        let folder = try TemporaryFolder()
        let whole = Step(from: 1, to: 6).example
        let result = try whole.migrate(in: folder, as: "whole")
        try whole.expectSchema(result)
        var store = StoreRows.shared(Step.store(1))
        for from in 1...5 {
            store = try Step(from: from, to: from + 1).example.migrate(from: store, in: folder, as: "moody\(from + 1)")
        }
        try whole.expectSameRows(result, store)
    }

    @Test(
        "the rows don't depend on batch size or workers", arguments: [Step(from: 1, to: 6), Step(from: 5, to: 6)])
    func work(_ step: Step) throws {
        #expect(try step.example.differences(PoliciesExample.Work.every) == [])
    }
}
