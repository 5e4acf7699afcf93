import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Testing

/// Relationships that have another destination than in the version before.
@Suite("Links of relationships with another destination", .timeLimit(.minutes(60)))
struct EndedLinksTests {
    private static let rows = 20

    private static func scenario(_ shape: LinkShape, _ pairs: [LinkShape.Pair], _ versions: String...) throws
        -> Scenario
    {
        let texts = [shape.version("Base")] + versions
        let sql = try shape.rows(pairs, count: rows)
        switch texts.count {
        case 2: return try Scenario(texts[0], texts[1], rows: sql)
        default: return try Scenario(texts[0], texts[1], texts[2], rows: sql)
        }
    }

    private static func isLeft(_ pair: LinkShape.Pair) -> Bool { LinkShape.kind(ofBase: pair.base) == "Left" }

    private static func request(
        _ scenario: Scenario, ends: Bool = true, fuses: Bool = true, batch: Int = 100
    ) -> MigrationRequest {
        var request = scenario.request(to: scenario.lastVersion, fuses: fuses, batchRows: batch)
        request.endsLinks = ends
        request.verification = .full
        return request
    }

    @Test("links that don't fit are counted and refused before a byte is written", arguments: LinkShape.allCases)
    func refused(shape: LinkShape) throws {
        let pairs = shape.pairs(Self.rows)
        let scenario = try Self.scenario(shape, pairs, shape.version("Left"))
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(Self.request(scenario, ends: false)).run() }
        #expect(error.kind == .sourceData)
        let count = pairs.count { !Self.isLeft($0) }
        #expect(error.details.count == 1, "\(error)")
        #expect(error.details.first?.hasPrefix("V1 → V2: would end \(count) links of Thing.link") == true, "\(error)")
        #expect(
            error.details.first?.hasSuffix("it leads to Left now, and these links lead to Base, Right objects") == true)
        #expect(error.remedy.contains("--end-links"))
        #expect(try snapshot(scenario.folder) == before)
        #expect(try failure { _ = try Migration(Self.request(scenario, ends: false)).plan() }.details == error.details)
    }

    @Test(
        "with --end-links they end, on both sides; those that fit are carried", arguments: LinkShape.allCases,
        [1, 7, 1_024])
    func ended(shape: LinkShape, batch: Int) throws {
        let pairs = shape.pairs(Self.rows)
        let scenario = try Self.scenario(shape, pairs, shape.version("Left"))
        let outcome = try Migration(Self.request(scenario, batch: batch)).run()
        #expect(try shape.links(in: scenario.store, target: "Left") == pairs.filter(Self.isLeft).sorted())
        let count = pairs.count { !Self.isLeft($0) }
        #expect(outcome.warnings.contains { $0.hasPrefix("V1 → V2: will end \(count) links of Thing.link: ") })
    }

    @Test("the same with an output", arguments: LinkShape.allCases)
    func output(shape: LinkShape) throws {
        let pairs = shape.pairs(Self.rows)
        let scenario = try Self.scenario(shape, pairs, shape.version("Left"))
        let path = try EngineRun.output(Self.request(scenario), as: "New.sqlite")
        #expect(try shape.links(in: path, target: "Left") == pairs.filter(Self.isLeft).sorted())
    }

    @Test("without such links no option is needed and nothing is reported", arguments: LinkShape.allCases)
    func silent(shape: LinkShape) throws {
        let pairs = shape.pairs(Self.rows).filter(Self.isLeft)
        let scenario = try Self.scenario(shape, pairs, shape.version("Left"))
        let outcome = try Migration(Self.request(scenario, ends: false)).run()
        #expect(try shape.links(in: scenario.store, target: "Left") == pairs.sorted())
        #expect(outcome.warnings.filter { !$0.hasPrefix("The bundle doesn't say") } == [])
        // Of a one-to-one, the links of one end that the other doesn't have are counted.
        #expect(outcome.prepared.steps.flatMap(\.losses).allSatisfy { $0.hasSuffix(" (0 links)") })
    }

    @Test("all links end where the new destination is in another hierarchy", arguments: LinkShape.allCases)
    func elsewhere(shape: LinkShape) throws {
        let pairs = shape.pairs(Self.rows)
        let scenario = try Self.scenario(shape, pairs, shape.version("Other"))
        let error = try failure { _ = try Migration(Self.request(scenario, ends: false)).run() }
        #expect(error.details.first?.hasPrefix("V1 → V2: would end \(pairs.count) links of Thing.link") == true)
        _ = try Migration(Self.request(scenario)).run()
        #expect(try shape.links(in: scenario.store, target: "Other") == [])
        #expect(try scenario.rows("SELECT count(*) FROM ZBASE") == ["\(Self.rows)"])
        let empty = try Self.scenario(shape, [], shape.version("Other"))
        #expect(try empty.migrate().warnings.filter { !$0.hasPrefix("The bundle doesn't say") } == [])
    }

    @Test("a wider destination carries all links", arguments: LinkShape.allCases)
    func wider(shape: LinkShape) throws {
        let pairs = shape.pairs(Self.rows).filter(Self.isLeft)
        let scenario = try Self.scenario(shape, pairs, shape.version("Left"), shape.version("Base"))
        _ = try Migration(Self.request(scenario, ends: false)).run()
        #expect(try shape.links(in: scenario.store, target: "Base") == pairs.sorted())
    }

    @Test(
        "links that a version in between can't hold stay ended, fused and step by step", arguments: LinkShape.allCases,
        [true, false])
    func between(shape: LinkShape, fuses: Bool) throws {
        let pairs = shape.pairs(Self.rows)
        let scenario = try Self.scenario(
            shape, pairs, shape.version("Left"), shape.version("Base", named: "target", was: "link"))
        let error = try failure { _ = try Migration(Self.request(scenario, ends: false, fuses: fuses)).run() }
        let count = pairs.count { !Self.isLeft($0) }
        #expect(error.details.count == 1)
        #expect(error.details.first?.hasPrefix("V1 → V2: would end \(count) links of Thing.link") == true, "\(error)")
        _ = try Migration(Self.request(scenario, fuses: fuses)).run()
        let found = try shape.links(in: scenario.store, target: "Base", named: "target")
        #expect(found == pairs.filter(Self.isLeft).sorted())
    }

    @Test(
        "links that a later step ends are counted in the store's rows, under that step's names",
        arguments: LinkShape.allCases, [true, false])
    func later(shape: LinkShape, fuses: Bool) throws {
        let pairs = shape.pairs(Self.rows)
        let scenario = try Self.scenario(
            shape, pairs, shape.version("Base", named: "target", was: "link"), shape.version("Left", named: "target"))
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(Self.request(scenario, ends: false, fuses: fuses)).run() }
        let count = pairs.count { !Self.isLeft($0) }
        #expect(error.details.first?.hasPrefix("V2 → V3: would end \(count) links of Thing.target") == true, "\(error)")
        #expect(try snapshot(scenario.folder) == before)
        let outcome = try Migration(Self.request(scenario, fuses: fuses)).run()
        #expect(
            try shape.links(in: scenario.store, target: "Left", named: "target") == pairs.filter(Self.isLeft).sorted())
        #expect(outcome.warnings.count { $0.contains("will end \(count) links of Thing.target") } == 1)
    }

    @Test("the message names a path around the version with the other destination, where that helps")
    func detour() throws {
        let shape = LinkShape.one
        func remedy(_ last: String) throws -> String {
            let last = shape.version(last).replacing("</model>", with: entity("More") + "</model>")
            let scenario = try Self.scenario(shape, shape.pairs(Self.rows), shape.version("Left"), last)
            return try failure { _ = try Migration(Self.request(scenario, ends: false)).plan() }.remedy
        }
        #expect(
            try remedy("Base").contains(
                "with --end-links, skip V2 with --next \"V1=V3\", which may need less, or carry"))
        #expect(try remedy("Left").contains("with --end-links, or carry"))
    }

    @Test("links that end before a later step removes their relationship need the option too")
    func goneLater() throws {
        let bare = model(
            entity("Base"), entity("Left", parent: "Base"), entity("Right", parent: "Base"), entity("Other"),
            entity("Thing"))
        for fuses in [true, false] {
            let scenario = try Self.scenario(.one, LinkShape.one.pairs(6), LinkShape.one.version("Left"), bare)
            let error = try failure { _ = try Migration(Self.request(scenario, ends: false, fuses: fuses)).run() }
            #expect(error.details.contains { $0.hasPrefix("V1 → V2: would end 4 links of Thing.link") }, "\(error)")
            _ = try Migration(Self.request(scenario, fuses: fuses)).run()
            #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["\(Self.rows)"])
        }
    }

    @Test("a one-to-one whose inverse gets a new partner keeps its links there, and only there")
    func partnersChanged() throws {
        let from = model(
            entity("Album", toOne("cover", "Artwork", inverse: "album")),
            entity("Artwork", toOne("album", "Album", inverse: "cover")), entity("Image"))
        let to = model(
            entity("Album", toOne("cover", "Image", inverse: "album"), toOne("artwork", "Artwork", inverse: "album")),
            entity("Artwork", toOne("album", "Album", inverse: "artwork")),
            entity("Image", toOne("album", "Album", inverse: "cover")))
        let scenario = try Scenario(
            from, to,
            rows: """
                INSERT INTO ZALBUM (Z_PK, Z_ENT, Z_OPT, ZCOVER) VALUES (1, 1, 1, 2), (2, 1, 1, NULL);
                INSERT INTO ZARTWORK (Z_PK, Z_ENT, Z_OPT, ZALBUM) VALUES (1, 2, 1, NULL), (2, 2, 1, 1);
                """)
        #expect(
            try failure { try scenario.migrate() }.details == [
                "V1 → V2: would end 1 link of Album.cover (p1): it leads to Image now, and these links lead to Artwork objects"
            ])
        _ = try Migration(Self.request(scenario)).run()
        #expect(try scenario.rows("SELECT Z_PK, ZCOVER, ZARTWORK FROM ZALBUM") == ["1|NULL|2", "2|NULL|NULL"])
        #expect(try scenario.rows("SELECT Z_PK, ZALBUM FROM ZARTWORK") == ["1|NULL", "2|1"])
    }

    @Test("a link is counted once where both of its ends get another destination")
    func bothEnds() throws {
        let from = model(
            entity("A", toOne("b", "B", inverse: "a")), entity("B", toMany("a", "A", inverse: "b")), entity("C"),
            entity("D"))
        let to = model(
            entity("A", toOne("b", "C", inverse: "a")), entity("B", toMany("a", "D", inverse: "b")),
            entity("C", toMany("a", "A", inverse: "b")), entity("D", toOne("b", "B", inverse: "a")))
        let scenario = try Scenario(
            from, to,
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, NULL);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1);
                """)
        let error = try failure { try scenario.migrate() }
        #expect(error.details.count == 1)
        #expect(error.details.first?.hasPrefix("V1 → V2: would end 2 links of A.b") == true, "\(error)")
        _ = try Migration(Self.request(scenario)).run()
        #expect(try scenario.rows("SELECT ZB FROM ZA ORDER BY Z_PK") == ["NULL", "NULL", "NULL"])
    }

    @Test("cardinality and destination may change in one step", arguments: [true, false])
    func formToo(fuses: Bool) throws {
        let from = LinkShape.manyToMany
        let pairs = from.pairs(Self.rows)
        let to = model(
            entity("Base"), entity("Left", parent: "Base", toOne("back", "Thing", inverse: "link")),
            entity("Right", parent: "Base"), entity("Other"), entity("Thing", toMany("link", "Left", inverse: "back")))
        let scenario = try Self.scenario(from, pairs, from.version("Left"), to)
        _ = try Migration(Self.request(scenario, fuses: fuses)).run()
        let firsts = Dictionary(grouping: pairs.filter(Self.isLeft), by: \.base).mapValues {
            $0.map(\.thing).min() ?? 0
        }
        #expect(
            try scenario.rows("SELECT Z_PK, ZBACK FROM ZBASE WHERE ZBACK IS NOT NULL ORDER BY Z_PK")
                == firsts.sorted { $0.key < $1.key }.map { "\($0.key)|\($0.value)" })
    }
}
