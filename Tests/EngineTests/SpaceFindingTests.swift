import CausewayEngine
import CausewayExamination
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

@Suite("What SQLite finds wrong with space that holds no rows", .timeLimit(.minutes(60)))
struct SpaceFindingTests {
    enum Defect: CaseIterable {
        case unusedPages, manyUnusedPages, freeCount

        var sentence: String { self == .freeCount ? "freelist: size is " : "never used" }
    }

    private static func damage(_ path: String, _ defect: Defect) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        func number(_ offset: Int, _ length: Int) -> Int {
            bytes[offset..<offset + length].reduce(0) { $0 << 8 | Int($1) }
        }
        func add(_ more: Int, at offset: Int) {
            let sum = number(offset, 4) + more
            for place in 0..<4 { bytes[offset + place] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * place)) }
        }
        switch defect {
        case .unusedPages, .manyUnusedPages:
            let count = defect == .unusedPages ? 2 : 50
            bytes += Data(count: count * number(16, 2))
            add(count, at: 28)
        case .freeCount: add(1, at: 36)
        }
        try bytes.write(to: URL(filePath: path))
    }

    private static func scenario() throws -> Scenario {
        try Scenario(
            model(entity("Thing", attribute("a"))), model(entity("Thing", attribute("a"), attribute("b"))),
            rows: "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'y')")
    }

    @Test("a warning, and a new store without it", arguments: Defect.allCases, [EngineChoice.pages, .statements])
    func carried(_ defect: Defect, engine: EngineChoice) throws {
        let scenario = try Self.scenario()
        try Self.damage(scenario.store, defect)
        let outcome = try Migration(scenario.request(to: "V2", engine: engine)).run()
        if engine == .statements {
            #expect(outcome.warnings.count { $0.contains(defect.sentence) } == 1, "\(outcome.warnings)")
        }
        #expect(try scenario.rows("SELECT Z_PK, ZA FROM ZTHING") == ["1|'x'", "2|'y'"])
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("a copy of the source isn't kept with it", arguments: Defect.allCases, [VerificationLevel.quick, .full])
    func copied(_ defect: Defect, level: VerificationLevel) throws {
        let (scenario, usual) = (try KeptTableTests.scenario(), try KeptTableTests.scenario())
        try Self.damage(scenario.store, defect)
        for scenario in [scenario, usual] {
            var request = scenario.request(to: "V2", engine: .pages)
            request.verification = level
            let warnings = try Migration(request).run().warnings
            #expect(!warnings.contains { $0.contains("doesn't verify") || $0.contains("is damaged") }, "\(warnings)")
        }
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
        let notes = "SELECT * FROM ZNOTE ORDER BY Z_PK"
        #expect(try scenario.rows(notes) == usual.rows(notes))
    }

    @Test("more findings than SQLite lists hide no damage", arguments: [EngineChoice.statements])
    func hidden(engine: EngineChoice) throws {
        let scenario = try Self.scenario()
        try Self.damage(scenario.store, .manyUnusedPages)
        // A cell that begins behind the page.
        let root = try #require(
            Int(try scenario.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'ZTHING'").first ?? ""))
        try scenario.change(scenario.store) { bytes in
            let size = Int(bytes[16]) << 8 | Int(bytes[17])
            bytes.replaceSubrange((root - 1) * size + 8..<(root - 1) * size + 10, with: [0xff, 0xff])
        }
        let error = try failure { _ = try Migration(scenario.request(to: "V2", engine: engine)).run() }
        #expect(error.kind == .sourceData && error.message.contains("the store is damaged"), "\(error)")
    }

    @Test("an examination tells it from damage")
    func examined() throws {
        let scenario = try Self.scenario()
        try Self.damage(scenario.store, .unusedPages)
        let store = try SourceStore.reading(StoreLocation(existing: scenario.store))
        defer { store.release() }
        let findings = try StoreExamination(store, history: nil, isQuick: false).run().findings
        #expect(findings.filter { $0.kind == .space }.count == 2)
        #expect(findings.allSatisfy { $0.severity == .inconsistency }, "\(findings)")
    }

    @Test(
        "each of SQLite's sentences concerns rows, an index or space",
        arguments: [
            ("Page 63 is never used", .space), ("Page 63: never used", .space),
            ("Main freelist: size is 7 but should be 8", .space), ("Freelist: 2nd reference to page 9", .space),
            ("Tree 2 page 3 right child: Bad ptr map entry key=9 expected=(5,3) got=(5,77)", .space),
            ("Pointer map page 2 is referenced", .space), ("Page 2: pointer map referenced", .space),
            ("max rootpage (5) disagrees with header (3)", .space),
            ("Fragmentation of 9 bytes reported as 4 on page 3", .rows),
            ("row 3 missing from index ZI", .index), ("wrong # of entries in index ZI", .index),
            ("non-unique entry in index ZI", .index), ("row 3 values differ from index ZI", .index),
            ("rowid not at end-of-record for row 3 of index ZI", .index),
            ("On tree page 2 cell 0: 2nd reference to page 4", .rows),
            ("Tree 2 page 4: btreeInitPage() returns error code 11", .rows),
            ("On tree page 2 cell 0: overflow list length is 2 but should be 3", .rows),
            ("Rowid 5 out of order", .rows), ("free space corruption", .rows), ("NULL value in T.A", .rows),
        ] as [(String, StructureCheck.Concern)])
    func concerns(_ finding: String, concern: StructureCheck.Concern) {
        #expect(StructureCheck.concern(of: finding) == concern)
    }
}
