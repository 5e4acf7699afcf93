import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import Foundation
import Testing

/// What was dropped isn't in the new store any more, not even in pages that are free.
@Suite("Free pages of a new store", .timeLimit(.minutes(60)))
struct FreePageTests {
    /// Many free pages, with their list on several pages; `ZGONE` holds what goes.
    private static func scenario(_ autoVacuum: Int) throws -> Scenario {
        let scenario = try Scenario(
            model(entity("Big", attribute("a")), entity("Small", attribute("a"), attribute("gone"))),
            model(
                entity("Big", attribute("a")),
                entity("Small", attribute("a"), attribute("b", optional: false, default: "new"))),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO ZBIG (Z_PK, Z_ENT, Z_OPT, ZA) SELECT i, 1, 1, printf('%.*c', 9000, 'y') FROM n;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO ZSMALL (Z_PK, Z_ENT, Z_OPT, ZA, ZGONE) SELECT i, 2, 1, i, 'dropped value' || i FROM n;
                """)
        try Scenario.execute(
            "PRAGMA auto_vacuum = \(autoVacuum); VACUUM; DELETE FROM ZBIG WHERE Z_PK % 3 = 0", scenario.store)
        return scenario
    }

    /// The numbers of pages on the list of free pages that don't hold the list.
    private static func leaves(_ bytes: Data) -> [Int] {
        func word(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        var (trunk, leaves) = (word(32), [Int]())
        while trunk != 0 {
            let start = (trunk - 1) * 4_096
            for leaf in 0..<word(start + 4) { leaves.append(word(start + 8 + 4 * leaf)) }
            trunk = word(start)
        }
        return leaves
    }

    @Test(
        "hold zeros, on either engine and at any level of verification",
        arguments: [(EngineChoice.pages, 0), (.pages, 2), (.statements, 0), (.statements, 2)],
        VerificationLevel.allCases)
    func areZero(_ choice: (engine: EngineChoice, autoVacuum: Int), level: VerificationLevel) throws {
        let scenario = try Self.scenario(choice.autoVacuum)
        #expect(try Self.leaves(Data(contentsOf: URL(filePath: scenario.store))).count > 1_500)
        var request = scenario.request(to: "V2", engine: choice.engine)
        request.verification = level
        _ = try Migration(request).run()
        let bytes = try Data(contentsOf: URL(filePath: scenario.store))
        let (leaves, zeros) = (Self.leaves(bytes), Data(count: 4_096))
        if choice.engine == .pages { #expect(leaves.count > 1_000) }
        for leaf in leaves {
            let page = bytes.subdata(in: (leaf - 1) * 4_096..<leaf * 4_096)
            #expect(page == zeros, "page \(leaf)")
        }
        #expect(bytes.range(of: Data("dropped value".utf8)) == nil)
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }
}
