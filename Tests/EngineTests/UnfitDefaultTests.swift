import CausewayEngine
import CausewayPreparation
import CausewayStores
import Testing

/// Defaults that one step writes and the type of a later one can't hold: every row that gets one is bad, which is
/// known from the models.
@Suite("The check before the run knows defaults that a later step can't convert", .timeLimit(.minutes(60)))
struct UnfitDefaultTests {
    /// Versions, the last of which converts the default that an earlier one writes.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var versions: [String]
        /// The text of the refusal.
        var text: String
        var remedy: String
        /// Rows that the new store has with `--bad-rows quarantine`.
        var kept: Int
    }

    /// `label` makes versions with the same attribute differ.
    private static func version(_ n: String, label: String = "") -> String {
        model(entity("Thing", attribute("x", "Integer 64"), attribute("y"), n, label))
    }

    private static func n(
        _ type: String, _ value: String? = nil, _ name: String = "n", optional: Bool = true, was: String? = nil
    ) -> String {
        attribute(name, type, optional: optional, default: value, was: was)
    }

    private static let start = version("")

    static let changes = [
        Change(
            testDescription: "out of range",
            versions: [start, version(n("Integer 64", "100000")), version(n("Integer 16"))],
            text: "V3: Thing.n is Integer 16 now, which can't hold the default that V1 → V2 writes (out of range), "
                + "but there are 3 rows of Thing (p1, p2, p3)",
            remedy: "change the default in V2, go from V1 to V3 directly with --next \"V1=V3\", or leave", kept: 0),
        Change(
            testDescription: "with a fraction, renamed on the way",
            versions: [
                start, version(n("Float", "0.5")), version(n("Float", "0.5", "m", was: "n")),
                version(n("Integer 32", "1", "m")),
            ],
            text: "V4: Thing.m is Integer 32 now, which can't hold the default that V1 → V2",
            remedy: "directly with --next \"V1=V4\"", kept: 0),
        Change(
            testDescription: "a type in between holds it",
            versions: [
                start, version(n("Integer 64", "100000")), version(n("Integer 32")), version(n("Integer 16")),
            ],
            text: "V4: Thing.n is Integer 16 now, which can't hold the default that V1 → V2",
            remedy: "--next \"V1=V4\"",
            kept: 0),
        Change(
            testDescription: "in place of NULL",
            versions: [
                start,
                model(entity("Thing", n("Integer 64", "7000000", "x", optional: false), attribute("y"))),
                model(entity("Thing", n("Integer 16", "7", "x", optional: false), attribute("y"))),
            ],
            text: "V3: Thing.x is Integer 16 now, which can't hold the default that V1 → V2 writes (out of range), "
                + "but NULL becomes that default in 1 row of Thing (p2)", remedy: "--next \"V1=V3\"", kept: 2),
        Change(
            testDescription: "the attribute goes again",
            versions: [
                start, version(n("Integer 32", "2")), version(n("Boolean")), version("", label: attribute("l")),
            ],
            text: "V3: Thing.n is Boolean now, which can't hold the default that V1 → V2 writes (other than 0 and 1)",
            remedy: "--next \"V1=V3\"", kept: 0),
    ]

    private static func scenario(_ versions: [String]) throws -> Scenario {
        try Scenario(
            versions: versions,
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, 5), (2, 1, 1, NULL), (3, 1, 1, 6);
                """)
    }

    @Test("the plan refuses them, and the run before its first byte", arguments: changes, [true, false])
    func refused(change: Change, fuses: Bool) throws {
        let scenario = try Self.scenario(change.versions)
        let before = try snapshot(scenario.folder)
        let request = scenario.request(to: scenario.lastVersion, fuses: fuses)
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(error.details.count == 1 && error.details[0].hasPrefix(change.text), "\(error)")
            #expect(error.message.contains(scenario.store))
            #expect(error.remedy.contains(change.remedy), "\(error.remedy)")
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("with --bad-rows quarantine the plan says that their rows are left out", arguments: changes, [true, false])
    func quarantined(change: Change, fuses: Bool) throws {
        let scenario = try Self.scenario(change.versions)
        var request = scenario.request(to: scenario.lastVersion, fuses: fuses)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        let notices = try Migration(request).plan().notices
        #expect(notices.count == 1 && notices[0].hasPrefix(change.text.replacing(", but ", with: ", ")), "\(notices)")
        #expect(notices[0].hasSuffix("; to be quarantined"))
        #expect(try Migration(request).run().quarantinedRows == 3 - change.kept)
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["\(change.kept)"])
    }

    @Test("a path around the versions in between gives the last one's default")
    func direct() throws {
        let scenario = try Self.scenario(Self.changes[1].versions)
        var request = scenario.request(to: "V4")
        request.edges = ["V1": "V4"]
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT ZM FROM ZTHING") == ["1", "1", "1"])
    }

    @Test("without rows that get them, and where they fit, nothing is reported")
    func fitting() throws {
        for change in Self.changes {
            let scenario = try Self.scenario(change.versions)
            try Scenario.execute("DELETE FROM ZTHING WHERE ZX IS NULL OR \(change.kept) = 0", scenario.store)
            #expect(try Migration(scenario.request(to: scenario.lastVersion)).plan().notices.isEmpty)
        }
        let fit = try Self.scenario([
            Self.start, Self.version(Self.n("Integer 64", "32767")), Self.version(Self.n("Integer 16")),
        ])
        #expect(try Migration(fit.request(to: "V3")).plan().notices.isEmpty)
    }
}
