import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Testing

/// The same where entities inherit a relationship, or do no more.
extension LinkLawTests {
    @Test(
        "the links of entities that a relationship is pushed away from are counted", arguments: Form.allCases,
        Form.allCases)
    func pushedDown(from: Form, to: Form) throws {
        if from == .manyToMany, to == .oneToOne { return }
        for engine in [EngineChoice.auto, .statements] {
            var rows = Self.rows(from) + "UPDATE ZTHING SET Z_ENT = 2 + Z_PK % 3;"
            if from.storage.contains(where: { $0 == ("ZBASE", "ZBACK", "Z_PK") }) {
                rows += "UPDATE ZBASE SET Z2_BACK = (SELECT Z_ENT FROM ZTHING AS t WHERE t.Z_PK = ZBACK);"
            }
            let scenario = try Scenario(
                from.version(1, declaredBy: "Thing"), to.version(2, declaredBy: "Left"), rows: rows)
            let before = try from.links(in: scenario.store)
            var request = scenario.request(output: scenario.folder + "/New.sqlite", engine: engine)
            (request.endsLinks, request.verification) = (true, .full)
            let outcome = try Migration(request).run()
            let lost = outcome.prepared.steps.flatMap(\.lost)
            // Links whose objects can't be at the other end: they need consent, and the check of the rows counts them.
            let ended = outcome.warnings.compactMap { $0.firstMatch(of: /will end (\d+) links? of/) }
                .compactMap { Int($0.1) }
            let after = try to.links(in: scenario.folder + "/New.sqlite", declaredBy: 3)
            #expect(after.subtracting(before) == [], "\(from) → \(to), \(engine)")
            let gone = before.subtracting(after).count
            let told = (lost.compactMap(\.count) + ended).reduce(0, +)
            // A link that ends, and is beyond the first one, too, is told twice.
            let isToldOnce = !lost.contains {
                switch $0.kind {
                case .furtherLinks, .furtherOwners, .unconfirmed: true
                default: from == .oneToOne
                }
            }
            #expect(isToldOnce ? told == gone : told >= gone, "\(from) → \(to), \(engine): \(lost), \(ended)")
        }
    }

    /// Entities M (1) with A (2), and U (3) with W (4).
    private static func ends(_ m: String = "", a: String = "", u: String = "", w: String = "") -> String {
        model(entity("M", m), entity("A", parent: "M", a), entity("U", u), entity("W", parent: "U", w))
    }

    @Test("links between rows that both lose the relationship are counted")
    func bothEnds() throws {
        let (to, back) = (toOne("to", "U", inverse: "back"), toMany("back", "M", inverse: "to"))
        let (toW, backA) = (toOne("to", "W", inverse: "back"), toMany("back", "A", inverse: "to"))
        let scenario = try Scenario(
            Self.ends(to, u: back), Self.ends(a: toW, w: backA),
            rows: """
                INSERT INTO ZU (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 4, 1);
                INSERT INTO ZM (Z_PK, Z_ENT, Z_OPT, ZTO, Z3_TO) VALUES \
                (1, 1, 1, 1, 3), (2, 2, 1, 1, 3), (3, 1, 1, 2, 4), (4, 2, 1, 2, 4);
                """)
        var request = scenario.request(output: scenario.folder + "/New.sqlite")
        request.endsLinks = true
        let outcome = try Migration(request).run()
        let kept = try Database.rows("SELECT Z_PK FROM ZM WHERE ZTO > 0", in: scenario.folder + "/New.sqlite")
        #expect(kept == ["4"])
        // M's two; that of A to U is counted at either end.
        let lost = outcome.prepared.steps.flatMap(\.lost)
        #expect(lost.contains { $0.description.hasSuffix("will drop the links of M.to (2 links)") }, "\(lost)")
        #expect(lost.contains { $0.description.hasSuffix("will drop the links of U.back (2 links)") }, "\(lost)")
    }

    @Test("a mandatory to-one whose links come from rows that lose them is refused", arguments: [false, true])
    func mandatoryFromLost(isToMany: Bool) throws {
        let link = isToMany ? toMany("to", "U") : toOne("to", "U")
        let inverse = isToMany ? toMany("to", "U", inverse: "a") : toOne("to", "U", inverse: "a")
        let one = toOne("a", "A", inverse: "to").replacing("optional=\"YES\"", with: "optional=\"NO\"")
        let links = isToMany ? "UPDATE ZU SET Z1TO = Z_PK" : "UPDATE ZM SET ZTO = Z_PK, Z3_TO = 3"
        let scenario = try Scenario(
            Self.ends(link), Self.ends(a: inverse, u: one),
            rows: """
                INSERT INTO ZU (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1), (2, 3, 1);
                INSERT INTO ZM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
                \(links);
                """)
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(scenario.request()).run() }
        #expect(error.kind == .sourceData && "\(error)".contains("1 row of U (p1)"), "\(error)")
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("the first link of a step isn't chosen by what a later step takes")
    func laterLoss() throws {
        let (many, back) = (toMany("to", "U", inverse: "back"), toMany("back", "M", inverse: "to"))
        let alone = toMany("to", "U")
        var dumps: [[String]] = []
        for fuses in [true, false] {
            let scenario = try Scenario(
                Self.ends(many, u: back), Self.ends(alone), Self.ends(a: alone),
                rows: """
                    INSERT INTO ZU (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
                    INSERT INTO ZM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
                    INSERT INTO Z_1TO (Z_1BACK, Z_3TO) VALUES (1, 1), (2, 1);
                    """)
            var request = scenario.request(to: "V3", output: scenario.folder + "/New.sqlite", fuses: fuses)
            request.endsLinks = true
            _ = try Migration(request).run()
            dumps.append(try Database.dump(scenario.folder + "/New.sqlite"))
        }
        #expect(dumps[0] == dumps[1])
    }

    @Test(
        "of several links the first to a row that stays is kept",
        arguments: [Form.one, .manyToOne, .manyToMany, .backMany], [Form.oneToMany, .backOne, .oneToOne])
    func firstThatStays(from: Form, to: Form) throws {
        // `back` alone doesn't continue `link` alone.
        if from == .one, to == .backOne { return }
        if to == .oneToOne, [.manyToMany, .backMany].contains(from) { return }
        for engine in [EngineChoice.auto, .statements] {
            let scenario = try Scenario(
                from.version(1, declaredBy: "Thing"), to.version(2, declaredBy: "Thing", hasRight: false),
                rows: Self.rows(from) + "UPDATE ZTHING SET Z_ENT = 2 + Z_PK % 3;")
            var request = scenario.request(output: scenario.folder + "/New.sqlite", engine: engine)
            (request.endsLinks, request.verification) = (true, .full)
            let before = try from.links(in: scenario.store)
            _ = try Migration(request).run()
            // The things that `Right` had are gone.
            var first: [String: Int] = [:]
            for link in before.map({ $0.split(separator: "|").map(String.init) }) {
                guard let thing = Int(link[0]), thing % 3 != 2 else { continue }
                first[link[1]] = min(first[link[1]] ?? .max, thing)
            }
            let kept = try to.links(in: scenario.folder + "/New.sqlite")
            #expect(kept == Set(first.map { "\($0.value)|\($0.key)" }), "\(from) → \(to), \(engine)")
        }
    }
}
