import CausewayEngine
import CausewayMapping
import CausewayModel
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Values that the new type of their attribute can't hold.
@Suite("Numbers that don't fit their new type", .timeLimit(.minutes(60)))
struct NumericMisfitTests {
    /// 60 rows; `n` is `value` in every second one.
    private static func scenario(_ types: String..., value: String, other: String = "1") throws -> Scenario {
        // Each version has one more attribute: with the hashes of the first it would need no migration.
        let versions = types.enumerated().map { index, type in
            model(
                entity(
                    "Thing", attribute("n", type), attribute("label"),
                    (0..<index).map { attribute("more\($0)") }.joined()))
        }
        let rows = """
            WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 60)
            INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN, ZLABEL)
            SELECT i, 1, 1, CASE WHEN i % 2 THEN \(value) ELSE \(other) END, 'label ' || i FROM k;
            """
        return versions.count == 2
            ? try Scenario(versions[0], versions[1], rows: rows)
            : try Scenario(versions[0], versions[1], versions[2], rows: rows)
    }

    static let misfits = [
        ("Integer 32", "Integer 16", "32768", "out of range"), ("Integer 64", "Integer 16", "-32769", "out of range"),
        ("Integer 64", "Integer 32", "2147483648", "out of range"),
        ("Integer 16", "Boolean", "2", "other than 0 and 1"),
        ("Integer 64", "Boolean", "-1", "other than 0 and 1"), ("Double", "Boolean", "0.5", "other than 0 and 1"),
        ("Double", "Integer 16", "0.5", "with a fraction"), ("Float", "Integer 64", "-1.5", "with a fraction"),
        ("Double", "Integer 32", "1e10", "out of range"), ("Double", "Integer 64", "1e19", "out of range"),
        ("Float", "Integer 64", "9e999", "out of range"), ("Double", "Float", "1e300", "out of range"),
        // Values that no app writes, but that a store can hold.
        ("Boolean", "Integer 16", "70000", "out of range"), ("Integer 32", "Integer 64", "0.5", "with a fraction"),
    ]

    @Test(
        "are found before the first row moves, counted, and named by their URIs", arguments: misfits, [true, false])
    func refused(_ misfit: (from: String, to: String, value: String, kind: String), inPlace: Bool) throws {
        let scenario = try Self.scenario(misfit.from, misfit.to, value: misfit.value)
        let before = try snapshot(scenario.folder)
        var request = scenario.request(to: "V2")
        if !inPlace { request.output = scenario.folder + "/New.sqlite" }
        var moved = false
        let error = try failure {
            _ = try Migration(request) { event in
                if case .passBegan = event { moved = true }
            }.run()
        }
        #expect(error.kind == .sourceData && !moved)
        let uris = (0..<20).map { "x-coredata://\(Scenario.uuid)/Thing/p\($0 * 2 + 1)" }
        #expect(
            error.details == [
                """
                V2: Thing.n: \(misfit.from) → \(misfit.to): values that \(misfit.to) can't hold: 30 \
                (\(misfit.kind): 30), in rows \(uris.joined(separator: ", ")), …
                """
            ])
        #expect(error.remedy.contains("--bad-rows quarantine"))
        #expect(try failure { _ = try Migration(request).plan() }.details == error.details)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("every kind and every attribute at once, in one entity or several")
    func several() throws {
        func version(_ n: String, _ m: String) -> String {
            model(
                entity("Base", attribute("n", n)), entity("Left", parent: "Base", attribute("m", m)),
                entity("Other", attribute("n", n)))
        }
        let scenario = try Scenario(
            version("Double", "Integer 16"), version("Integer 16", "Boolean"),
            rows: """
                INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZN, ZM) VALUES
                (1, 1, 1, 0.5, NULL), (2, 1, 1, 1e6, NULL), (3, 1, 1, -7, NULL), (4, 2, 1, 2.5, 9), (5, 2, 1, NULL, NULL);
                INSERT INTO ZOTHER (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 3, 1, 1.5);
                """)
        let error = try failure { try scenario.migrate() }
        let uri = "x-coredata://\(Scenario.uuid)"
        let change = "Double → Integer 16: values that Integer 16 can't hold:"
        #expect(
            error.details == [
                "V2: Base.n: \(change) 2 (out of range: 1, with a fraction: 1), in rows \(uri)/Base/p1, \(uri)/Base/p2",
                "V2: Left.m: Integer 16 → Boolean: values that Boolean can't hold: 1 (other than 0 and 1: 1), in rows \(uri)/Left/p4",
                "V2: Left.n: \(change) 1 (with a fraction: 1), in rows \(uri)/Left/p4",
                "V2: Other.n: \(change) 1 (with a fraction: 1), in rows \(uri)/Other/p1",
            ])
    }

    @Test(
        "a version in between that can't hold them refuses, in steps that run as one too",
        arguments: [
            ("Integer 64", "Integer 16", "Double", "70000", "V2: Thing.n: Integer 64 → Integer 16"),
            ("Double", "Integer 32", "Double", "0.5", "V2: Thing.n: Double → Integer 32"),
            ("Integer 64", "Double", "Integer 32", "5000000000", "V3: Thing.n: Double → Integer 32"),
            ("Boolean", "Integer 64", "Boolean", "3", "V3: Thing.n: Integer 64 → Boolean"),
            // The double nearest to Int64.max is larger than every Int64.
            ("Integer 64", "Double", "Integer 64", "9223372036854775807", "V3: Thing.n: Double → Integer 64"),
        ], [true, false])
    func between(_ chain: (String, String, String, value: String, place: String), fuses: Bool) throws {
        let scenario = try Self.scenario(chain.0, chain.1, chain.2, value: chain.value)
        let error = try failure { try scenario.migrate(fuses: fuses) }
        #expect(error.kind == .sourceData)
        #expect(error.details.count == 1 && error.details[0].hasPrefix("\(chain.place): values that "), "\(error)")
        #expect(error.details[0].contains(": 30 (") && error.details[0].contains("/Thing/p1, "))
    }

    @Test(
        "values that only lose precision are carried, and counted by plan, run and summary", arguments: [true, false],
        [
            ("Double", "Float", "0.1", "0.1"), ("Integer 64", "Double", "9007199254740993", "9007199254740992.0"),
            ("Integer 32", "Float", "16777217", "16777217.0"), ("Double", "Float", "1e-300", "1e-300"),
        ])
    func rounded(fuses: Bool, _ change: (from: String, to: String, value: String, kept: String)) throws {
        let scenario = try Self.scenario(change.from, change.to, change.to, value: change.value)
        let notice = "V2: Thing.n: \(change.from) → \(change.to): values that lose precision: 30"
        #expect(try Migration(scenario.request(to: "V3", fuses: fuses)).plan().notices == [notice])
        var warnings: [String] = []
        var request = scenario.request(to: "V3", fuses: fuses)
        request.verification = .full
        let outcome = try Migration(request) { event in
            if case .warning(let text) = event { warnings.append(text) }
        }.run()
        #expect(warnings == [notice])
        #expect(outcome.warnings.filter { $0.contains("Thing.n") } == [notice])
        #expect(try scenario.rows("SELECT DISTINCT ZN FROM ZTHING WHERE Z_PK % 2") == [change.kept])
    }

    @Test("numbers that fit exactly aren't reported")
    func exact() throws {
        let scenario = try Self.scenario("Integer 64", "Double", "Float", value: "-16777216")
        #expect(try scenario.migrate().warnings.allSatisfy { !$0.contains("Thing.n") })
        let infinite = try Self.scenario("Double", "Float", value: "9e999")
        #expect(try infinite.migrate().warnings.allSatisfy { !$0.contains("Thing.n") })
        #expect(try infinite.rows("SELECT DISTINCT ZN FROM ZTHING WHERE Z_PK % 2") == ["inf"])
    }

    @Test("no message has a value of a row")
    func silent() throws {
        let scenario = try Self.scenario("Integer 64", "Integer 16", value: "123456789")
        let error = try failure { try scenario.migrate() }
        #expect(!"\(error.message) \(error.details) \(error.remedy)".contains("123456789"))
    }

    // MARK: - Quarantine

    @Test(
        "are left out and written to the rejects file with --bad-rows quarantine, in any batch size, fused or not",
        arguments: [1, 7, 1_024], [true, false])
    func quarantined(batchRows: Int, fuses: Bool) throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("n", "Integer 64"), attribute("m", "Double")), entity("Other")),
            model(entity("Thing", attribute("n", "Integer 16"), attribute("m", "Double")), entity("Other")),
            model(entity("Thing", attribute("n", "Boolean"), attribute("m", "Integer 32"))),
            rows: """
                WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 120)
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN, ZM)
                SELECT i, 2, 1, CASE i % 5 WHEN 0 THEN 70000 WHEN 1 THEN 3 ELSE i % 2 END,
                CASE WHEN i % 7 THEN i * 1.0 ELSE i + 0.5 END FROM k;
                """)
        var request = scenario.request(to: "V3", fuses: fuses, batchRows: batchRows)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        #expect(
            try Migration(request).plan().notices.contains(
                """
                V2: Thing.n: Integer 64 → Integer 16: values that Integer 16 can't hold: 24 (out of range: 24); their \
                rows will be quarantined
                """))
        let outcome = try Migration(request).run()
        let good = (1...120).filter { $0 % 5 > 1 && $0 % 7 != 0 }
        #expect(
            try scenario.rows("SELECT Z_PK, ZN, ZM FROM ZTHING ORDER BY Z_PK")
                == good.map { "\($0)|\($0 % 2)|\($0)" })
        #expect(outcome.quarantinedRows == 120 - good.count)
        let lines = try BadLine.read(scenario.folder + "/rejects.jsonl")
        #expect(Set(lines.map(\.key)) == Set(1...120).subtracting(good))
        for line in lines {
            let reason =
                switch line.key {
                case _ where line.key % 5 == 0: "V2: Thing.n: Integer 64 → Integer 16: the value is out of range"
                case _ where line.key % 7 == 0 && line.key % 5 != 1:
                    "V3: Thing.m: Double → Integer 32: the value has a fraction"
                case _ where line.key % 7 == 0: line.reason
                default: "V3: Thing.n: Integer 16 → Boolean: the value is neither 0 nor 1"
                }
            #expect(line.reason == reason)
            #expect(line.uri == "x-coredata://\(Scenario.uuid)/Thing/p\(line.key)" && line.code == 134_110)
        }
    }

    @Test("SQL finds the same misfits as a check row by row", arguments: NumericType.allCases)
    func condition(from: NumericType) throws {
        let folder = try Scenario(model(entity("Thing", attribute("n", from.attributeType.modelName))))
        let numbers = NumericConversionTests.numbers + [.real(3.4028235677973362e38), .real(3.4028235677973366e38)]
        let values = numbers.enumerated().map { "(\($0 + 1), \(NumericConversionTests.sql($1)))" }
        try Scenario.execute(
            """
            INSERT INTO ZTHING (Z_PK, ZN) VALUES \(values.joined(separator: ", ")), (1000, NULL), (1001, 'word'), (1002, x'01')
            """, folder.store)
        for to in NumericType.allCases {
            for through in [[], [NumericType.double], [.float], [.integer64]] {
                let conversion = through.reduce(NumericConversion(from: from, to: through.first ?? to)) { path, type in
                    path.followed(by: NumericConversion(from: type, to: to))
                }
                let expected = numbers.indices.filter {
                    let number = from.stored(numbers[$0])
                    if case .misfit? = conversion.fit(of: number) { return true }
                    return false
                }
                let found = try folder.rows(
                    "SELECT Z_PK FROM ZTHING WHERE \(conversion.misfits(of: "ZN") ?? "0") ORDER BY Z_PK"
                ).compactMap { Int($0).map { $0 - 1 } }
                // Values that an earlier type can't hold may be counted too.
                let earlier = numbers.indices.filter { conversion.fit(of: from.stored(numbers[$0])) == nil }
                #expect(found.filter { !earlier.contains($0) } == expected, "\(conversion.types)")
            }
        }
    }

    @Test("the rejects file has the first step that a row doesn't fit, whichever steps are fused")
    func reasons() throws {
        func version(_ n: String, _ note: String, abstract: Bool = false) -> String {
            model(
                entity("Thing", attribute("n", n), note),
                entity("Other", extra: abstract ? "isAbstract=\"YES\"" : "", attribute("k", n)))
        }
        let reasons = try [true, false].map { fuses in
            let scenario = try Scenario(
                version("Integer 32", attribute("note")), version("Integer 16", attribute("note")),
                version("Boolean", attribute("note", optional: false), abstract: true),
                rows: """
                    INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN, ZNOTE) VALUES
                    (1, 2, 1, 70000, NULL), (2, 2, 1, 7, NULL), (3, 2, 1, 7, 'x'), (4, 2, 1, 1, NULL), (5, 2, 1, 1, 'x');
                    INSERT INTO ZOTHER (Z_PK, Z_ENT, Z_OPT, ZK) VALUES (6, 1, 1, 70000), (7, 1, 1, 1);
                    """)
            var request = scenario.request(to: "V3", fuses: fuses)
            (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
            #expect(try Migration(request).run().prepared.steps.count == (fuses ? 1 : 2))
            return try BadLine.read(scenario.folder + "/rejects.jsonl").map { "\($0.key) \($0.code) \($0.reason)" }
                .sorted()
        }
        #expect(reasons[0] == reasons[1])
        #expect(
            reasons[0] == [
                "1 134110 V2: Thing.n: Integer 32 → Integer 16: the value is out of range",
                "2 1570 V3: Thing.note is mandatory now and has no default, but is NULL",
                "3 134110 V3: Thing.n: Integer 16 → Boolean: the value is neither 0 nor 1",
                "4 1570 V3: Thing.note is mandatory now and has no default, but is NULL",
                "6 134110 V2: Other.k: Integer 32 → Integer 16: the value is out of range",
                "7 134110 V3: Other is abstract now",
            ])
    }

    @Test("the message names a path around a version with a narrower type, where the target's isn't")
    func detour() throws {
        func remedy(_ types: String...) throws -> String {
            let scenario = try Self.scenario(types[0], types[1], types[2], value: "70000")
            return try failure { _ = try Migration(scenario.request(to: "V3")).plan() }.remedy
        }
        let way = ", skip V2 with --next \"V1=V3\", which may need less"
        #expect(try remedy("Integer 32", "Integer 16", "Integer 64").contains(way))
        #expect(try !remedy("Integer 32", "Integer 16", "Boolean").contains("--next"))
    }

    @Test("a run that is killed anywhere and resumed gives the same store", arguments: [1, 7])
    func resumed(batchRows: Int) throws {
        func make() throws -> (Scenario, MigrationRequest) {
            let scenario = try Self.scenario("Integer 64", "Double", "Integer 32", value: "5000000000", other: "7")
            var request = scenario.request(to: "V3", batchRows: batchRows)
            (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
            request.verification = .full
            request.options.checkpointInterval = 0
            return (scenario, request)
        }
        let (reference, whole) = try make()
        _ = try Migration(whole).run()
        let expected = try Database.dump(reference.store)
        #expect(try reference.rows("SELECT count(*), sum(ZN) FROM ZTHING") == ["30|210"])
        var hasResumed = false
        for stop in 1...12 {
            let (scenario, request) = try make()
            let cancellation = Cancellation()
            var batches = 0
            do {
                _ = try Migration(request, cancellation: cancellation) { event in
                    if case .progress = event { batches += 1 }
                    if batches == stop { cancellation.cancel() }
                }.run()
            } catch {
                #expect(error.kind == .interrupted)
                hasResumed = true
                _ = try Migration(request).run()
            }
            #expect(try Database.dump(scenario.store) == expected)
        }
        #expect(hasResumed)
    }
}
