import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Testing

/// Whatever form a relationship's links have and get: those that are gone are the plan's losses, with their number.
@Suite("No link is lost without its number", .timeLimit(.minutes(60)))
struct LinkLawTests {
    /// How `Thing.link` and its inverse `Base.back` are there.
    enum Form: String, CaseIterable {
        case one, many, oneToOne, oneToMany, manyToOne, manyToMany, backOne, backMany

        var link: String {
            let inverse = [.one, .many].contains(self) ? nil : "back"
            return switch self {
            case .one, .oneToOne, .manyToOne: toOne("link", "Base", inverse: inverse)
            case .many, .oneToMany, .manyToMany: toMany("link", "Base", inverse: inverse)
            case .backOne, .backMany: ""
            }
        }

        var back: String {
            let inverse = [.backOne, .backMany].contains(self) ? nil : "link"
            return switch self {
            case .backOne, .oneToOne, .oneToMany: toOne("back", "Thing", inverse: inverse)
            case .backMany, .manyToOne, .manyToMany: toMany("back", "Thing", inverse: inverse)
            case .one, .many: ""
            }
        }

        static let oneAlone: [Form] = [.one, .many]
        static let backAlone: [Form] = [.backOne, .backMany]

        /// `Base` is entity 1, `Thing` entity 2.
        func version(_ number: Int) -> String {
            let attributes = (1...number).map { attribute("a\($0)") }.joined()
            return model(entity("Base", attributes, back), entity("Thing", link))
        }

        /// The same where `Thing` (2) has the subentities `Left` (3) and `Right` (4), and one of them declares `link`.
        func version(_ number: Int, declaredBy owner: String, hasRight: Bool = true) -> String {
            let attributes = (1...number).map { attribute("a\($0)") }.joined()
            let back = back.replacing("\"Thing\"", with: "\"\(owner)\"")
            func link(_ entity: String) -> String { entity == owner ? self.link : "" }
            return model(
                entity("Base", attributes, back), entity("Thing", link("Thing")),
                entity("Left", parent: "Thing", link("Left")),
                hasRight ? entity("Right", parent: "Thing", link("Right")) : "")
        }

        var storage: [(table: String, thing: String, base: String)] { storage(declaredBy: 2) }

        /// Where the links are: table, column with the thing's key, column with the base's.
        func storage(declaredBy owner: Int) -> [(table: String, thing: String, base: String)] {
            switch self {
            case .one, .manyToOne: [("ZTHING", "Z_PK", "ZLINK")]
            case .many: [("ZBASE", "Z\(owner)LINK", "Z_PK")]
            case .oneToOne: [("ZTHING", "Z_PK", "ZLINK"), ("ZBASE", "ZBACK", "Z_PK")]
            case .oneToMany, .backOne: [("ZBASE", "ZBACK", "Z_PK")]
            case .manyToMany: [("Z_1BACK", "Z_\(owner)BACK", "Z_1LINK")]
            case .backMany: [("ZTHING", "Z_PK", "Z1BACK")]
            }
        }

        func links(in store: String, declaredBy owner: Int = 2) throws -> Set<String> {
            var found: Set<String> = []
            for place in storage(declaredBy: owner) {
                found.formUnion(
                    try Database.rows(
                        """
                        SELECT \(place.thing), \(place.base) FROM \(place.table) \
                        WHERE \(place.thing) IS NOT NULL AND \(place.base) IS NOT NULL
                        """, in: store))
            }
            return found
        }
    }

    private static let count = 9

    /// Many rows at both ends share an object, some have none, and the ends of a one-to-one disagree.
    static func rows(_ form: Form, onlyLinks: Bool = false) -> String {
        var sql =
            onlyLinks
            ? ""
            : (1...count).map { key in
                """
                INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT) VALUES (\(key), 1, 1);
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (\(key), 2, 1);
                """
            }.joined()
        for (number, place) in form.storage.enumerated() {
            if place.table.hasPrefix("Z_") {
                for (thing, base) in [(1, 1), (1, 2), (2, 1), (3, 3), (3, 4), (4, 4), (5, 4), (5, 1)] {
                    sql += "INSERT INTO \(place.table) (\(place.thing), \(place.base)) VALUES (\(thing), \(base));"
                }
                continue
            }
            let column = place.thing == "Z_PK" ? place.base : place.thing
            for key in 1...count where key % 4 != number {
                // A one-to-one's columns lead to different rows each; they agree in some.
                let other = form == .oneToOne ? (number == 0 || key < 5 ? key : key % 9 + 1) : key * key % 5 + 1
                sql += "UPDATE \(place.table) SET \(column) = \(other) WHERE Z_PK = \(key);"
            }
        }
        return sql
    }

    @Test("the links that are gone are counted", arguments: Form.allCases, Form.allCases)
    func counted(from: Form, to: Form) throws {
        for engine in [EngineChoice.auto, .statements] {
            let scenario = try Scenario(from.version(1), to.version(2), rows: Self.rows(from))
            let before = try from.links(in: scenario.store)
            var request = scenario.request(output: scenario.folder + "/New.sqlite", engine: engine)
            request.endsLinks = true
            request.verification = .full
            if from == .manyToMany, to == .oneToOne {
                #expect(try failure { _ = try Migration(request).plan() }.kind == .plan)
                continue
            }
            let planned = try Migration(request).plan().steps.flatMap(\.lost)
            let outcome = try Migration(request).run()
            let lost = outcome.prepared.steps.flatMap(\.lost)
            #expect(lost.map(\.count) == planned.map(\.count))
            let after = try to.links(in: scenario.folder + "/New.sqlite")
            #expect(after.subtracting(before) == [], "\(from) → \(to), \(engine)")
            #expect(
                before.subtracting(after).count == lost.compactMap(\.count).reduce(0, +),
                "\(from) → \(to), \(engine): \(lost)")
            #expect(!lost.contains { $0.count == nil }, "\(lost)")
        }
    }

    /// Every form before and after, with one in between.
    static let chains = Form.allCases.enumerated().flatMap { first, from in
        Form.allCases.enumerated().map { last, to in [from, Form.allCases[(3 * first + last + 1) % 8], to] }
    }

    @Test("the same over two steps, which run as one or don't", arguments: chains)
    func chained(forms: [Form]) throws {
        for (from, to) in zip(forms, forms.dropFirst()) where from == .manyToMany && to == .oneToOne { return }
        var counts: [[Int?]] = []
        for fuses in [true, false] {
            let scenario = try Scenario(
                forms[0].version(1), forms[1].version(2), forms[2].version(3), rows: Self.rows(forms[0]))
            let before = try forms[0].links(in: scenario.store)
            var request = scenario.request(to: "V3", output: scenario.folder + "/New.sqlite", fuses: fuses)
            request.endsLinks = true
            let lost = try Migration(request).run().prepared.steps.flatMap(\.lost)
            let after = try forms[2].links(in: scenario.folder + "/New.sqlite")
            #expect(after.subtracting(before) == [], "\(forms)")
            #expect(
                before.subtracting(after).count == lost.compactMap(\.count).reduce(0, +), "\(forms): \(lost)")
            #expect(!lost.contains { $0.count == nil }, "\(lost)")
            counts.append(lost.map(\.count))
        }
        #expect(counts[0] == counts[1])
    }

    @Test(
        "a to-many without inverse takes one owner of each object: the rest needs consent",
        arguments: [Form.one, .manyToOne])
    func consent(from: Form) throws {
        let scenario = try Scenario(from.version(1), Form.many.version(2), rows: Self.rows(from))
        var request = scenario.request()
        let before = try snapshot(scenario.folder)
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(
                error.details == [
                    "V1 → V2: would end 4 links of Thing.link: a to-many without inverse has one owner for each object, "
                        + "and several lead to 2 objects (p2, p5)"
                ])
            #expect(error.remedy.contains("--end-links"))
        }
        #expect(try snapshot(scenario.folder) == before)
        request.endsLinks = true
        let plan = try Migration(request).plan()
        #expect(plan.notices.contains { $0.hasPrefix("V1 → V2: will end 4 links of Thing.link: ") })
        #expect(
            plan.steps[0].losses.contains(
                "V1 → V2: will keep only the first of an object's several owners in Thing.link, a to-many without inverse: "
                    + "4 links are dropped"))
    }

    @Test(
        "two relationships without inverse become each other's: one's links count, the others are counted",
        arguments: Form.oneAlone, Form.backAlone)
    func paired(link: Form, back: Form) throws {
        let forms: [Form: Form] =
            link == .one
            ? [.backOne: .oneToOne, .backMany: .manyToOne] : [.backOne: .oneToMany, .backMany: .manyToMany]
        let form = try #require(forms[back])
        for engine in [EngineChoice.auto, .statements] {
            let before = model(entity("Base", attribute("a1"), back.back), entity("Thing", link.link))
            let scenario = try Scenario(
                before, form.version(2), rows: Self.rows(link) + Self.rows(back, onlyLinks: true))
            let new = scenario.folder + "/New.sqlite"
            let old = try link.links(in: scenario.store).union(back.links(in: scenario.store))
            var request = scenario.request(output: new, engine: engine)
            request.endsLinks = true
            let lost = try Migration(request).run().prepared.steps.flatMap(\.lost)
            let kept = try form.links(in: new)
            #expect(kept.subtracting(old) == [])
            #expect(old.subtracting(kept).count == lost.compactMap(\.count).reduce(0, +), "\(lost)")
            #expect(lost.contains { $0.description.contains("the inverse's are kept") })
            guard form == .oneToOne else { continue }
            let things = try Database.rows("SELECT Z_PK, ZLINK FROM ZTHING WHERE ZLINK > 0 ORDER BY 1", in: new)
            let bases = try Database.rows("SELECT ZBACK, Z_PK FROM ZBASE WHERE ZBACK > 0 ORDER BY 1", in: new)
            #expect(things == bases)
        }
    }

    @Test(
        "many-to-manys of two subentities become one of their parent, with a new inverse or one's old one",
        arguments: ["new", "first"], ["Aim", "Zoo"])
    func movedUp(inverse: String, target: String) throws {
        // The names decide which end names the join table.
        let first = model(
            entity("Item"), entity("Left", parent: "Item", toMany("marks", target, inverse: "lefts")),
            entity("Right", parent: "Item", toMany("marks", target, inverse: "rights")),
            entity(target, toMany("lefts", "Left", inverse: "marks"), toMany("rights", "Right", inverse: "marks")))
        let second = model(
            entity("Item", toMany("marks", target, inverse: "items")), entity("Left", parent: "Item"),
            entity("Right", parent: "Item"),
            entity(target, toMany("items", "Item", inverse: "marks", was: inverse == "first" ? "lefts" : nil)))
        let (number, left) = target == "Aim" ? (1, 3) : (4, 2)
        let scenario = try Scenario(
            first, second,
            rows: """
                INSERT INTO Z\(target.uppercased()) (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(number), 1), (2, \(number), 1);
                INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(left), 1), (2, \(left), 1), (3, \(left + 1), 1);
                """)
        func join(_ name: String) throws -> (table: String, item: String, target: String) {
            let found = try scenario.rows(
                """
                SELECT m.name || ' ' || i.name || ' ' || t.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS i,
                pragma_table_info(m.name) AS t WHERE m.type = 'table' AND m.name GLOB 'Z_[0-9]*'
                AND i.name GLOB '*\(name)*' AND t.name GLOB '*MARKS*'
                """)
            let words = try #require(found.first).filter { $0 != "'" }.split(separator: " ").map(String.init)
            return (words[0], words[1], words[2])
        }
        for (name, links) in [("LEFTS", "(1, 1), (1, 2), (2, 2)"), ("RIGHTS", "(3, 1)")] {
            let join = try join(name)
            try Scenario.execute(
                "INSERT INTO \(join.table) (\(join.item), \(join.target)) VALUES \(links)", scenario.store)
        }
        let outcome = try scenario.migrate()
        #expect(outcome.prepared.steps[0].losses == [])
        let new = try join("ITEMS")
        #expect(
            try scenario.rows("SELECT \(new.item), \(new.target) FROM \(new.table) ORDER BY 1, 2") == [
                "1|1", "1|2", "2|2", "3|1",
            ])
    }

    @Test("of a one-to-one whose ends disagree, the column that the new version has counts, and the plan says so")
    func disagreement() throws {
        let scenario = try Scenario(Form.oneToOne.version(1), Form.oneToMany.version(2), rows: Self.rows(.oneToOne))
        let plan = try Migration(scenario.request()).plan()
        let gone = try Form.oneToOne.links(in: scenario.store).subtracting(Form.oneToMany.links(in: scenario.store))
        #expect(
            plan.steps[0].losses == [
                "V1 → V2: will drop the links of Thing.link that its inverse Base.back doesn't have (\(gone.count) links): "
                    + "the inverse's are kept"
            ])
    }

    @Test("behind a mapping model a second owner is asked for when the step begins, and the original is untouched")
    func behindMappingModel() throws {
        let versions = [Form.manyToOne.version(1), Form.manyToOne.version(2), Form.many.version(3)]
        let scenario = try Scenario(versions: versions, rows: Self.rows(.manyToOne))
        var request = scenario.request(to: "V3")
        request.code.add(
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Base")
                TransformEntity("Thing")
            })
        let before = try Form.manyToOne.links(in: scenario.store)
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.details.first?.hasPrefix("V2 → V3: would end 4 links of Thing.link: ") == true, "\(error)")
        #expect(try Form.manyToOne.links(in: scenario.store) == before)
        request.endsLinks = true
        request.resume = .restart
        _ = try Migration(request).run()
        #expect(try Form.many.links(in: scenario.store).count == 3)
    }

    @Test("the same through a step that renames, before the one that loses links", arguments: [true, false])
    func renamed(fuses: Bool) throws {
        let renamed = model(
            entity("Base", attribute("a1"), toMany("back", "Thing", inverse: "other")),
            entity("Thing", toOne("other", "Base", inverse: "back", was: "link")))
        let last = model(entity("Base", attribute("a1")), entity("Thing", toMany("other", "Base")))
        let scenario = try Scenario(Form.manyToOne.version(1), renamed, last, rows: Self.rows(.manyToOne))
        var request = scenario.request(to: "V3", fuses: fuses)
        let error = try failure { _ = try Migration(request).plan() }
        #expect(error.details.first?.hasPrefix("V2 → V3: would end 4 links of Thing.other: ") == true, "\(error)")
        request.endsLinks = true
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT count(*) FROM ZBASE WHERE Z2OTHER IS NOT NULL") == ["3"])
    }
}
