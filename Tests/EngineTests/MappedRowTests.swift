import CausewayEngine
import CausewayExpressions
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// An entity mapping that reads rows of its source's subentities, too, as a mapping model's fetch can say.
struct WithSubentities: EntityMappings {
    let statements: [EntityMappingStatement]

    init(_ mapping: TransformEntity) {
        statements = mapping.statements.map { statement in
            var description = statement.description
            description.sourceExpression = try? Expression(
                parsing: """
                    FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:includesSubentities:', \
                    '\(description.sourceEntity ?? "")', 'TRUEPREDICATE', YES), $manager.sourceContext, NO)
                    """)
            return EntityMappingStatement(description)
        }
    }
}

/// Mappings without code whose rows workers form and pack: the same rows as by statements, the same bytes however.
@Suite("Rows of mappings without code", .timeLimit(.minutes(60)))
struct MappedRowTests {
    private static func version(_ line: String, _ maker: String = "") -> String {
        model(
            entity(
                "Line", attribute("code"), attribute("quantity", "Integer 32"), attribute("price", "Double"),
                attribute("flag", "Boolean"), attribute("day", "Date"), attribute("cost", "Decimal"),
                toOne("maker", "Maker", inverse: "lines"), toOne("twin", "Line", inverse: "copies"),
                toMany("copies", "Line", inverse: "twin"), line),
            entity(
                "Maker", attribute("name"), attribute("rank", "Integer 16"), attribute("weight", "Float"),
                toMany("lines", "Line", inverse: "maker"), maker))
    }

    /// Line is entity 1, Maker 2. Keys have gaps; some links lead nowhere; numbers are stored in both classes.
    private static func rows(_ count: Int, dangling: Bool = true) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 50))
        INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRANK, ZWEIGHT)
        SELECT i * 3, 2, 1 + i % 4, iif(i % 7, 'maker ' || i, NULL), iif(i % 5, i % 100, NULL), i / 3.0 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZQUANTITY, ZPRICE, ZFLAG, ZDAY, ZCOST, ZMAKER, ZTWIN)
        SELECT i * 2, 1, 1, printf('%08d-%040x', i, i * 7919), iif(i % 11, i % 100, NULL), i % 9 / 2.0, i % 2, i * 1000.5,
            i / 4.0, iif(i % 13, (i * 31 % \(count / 50) + 1) * iif(i % 17, 3, \(dangling ? 2 : 3)), NULL),
            iif(i % 3, max(2, i * 2 - 2), \(dangling ? "i * 2 + 1" : "NULL"))
        FROM n;
        """
    }

    /// A step, its mapping model, and how many of its mappings become pages.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let target: String
        /// A key path over a link that leads nowhere is an error.
        var followsLinks = false
        /// The version before, and its rows; nil: lines and their makers.
        var texts: String?
        /// Whether a letter has the largest key that there is.
        var hasLastKey = false
        /// How many mappings become pages.
        var byPages = 2
        let mapping: @Sendable () -> SwiftMappingModel
    }

    static let changes = [
        Change(
            testDescription: "numbers, texts and key paths",
            target: version(
                attribute("total", "Double") + attribute("half", "Integer 16") + attribute("label")
                    + attribute("makerName") + attribute("makerRank", "Integer 64") + attribute("weight", "Double")
                    + attribute("twinCode") + attribute("bossName") + attribute("later", "Date")
                    + attribute("note", default: "n/a") + attribute("upper")),
            followsLinks: true
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") {
                    Compute("total", "$source.quantity * $source.price")
                    Compute("half", "$source.quantity / 2")
                    Compute("label", "TERNARY($source.flag == YES, 'on', 'off')")
                    Compute("makerName", "$source.maker.name")
                    Compute("makerRank", "$source.maker.rank")
                    Compute("weight", "$source.maker.weight")
                    Compute("twinCode", "$source.twin.code")
                    Compute("bossName", "$source.twin.maker.name")
                    Compute("later", "$source.day")
                    Compute("upper", "uppercase:($source.code)")
                }
                TransformEntity("Maker")
            }
        },
        Change(testDescription: "a filter of numbers", target: version(attribute("more"))) {
            SwiftMappingModel(from: "V1", to: "V2") {
                CopyEntity("Line") { Filter("quantity > 50 OR price == 0") }
                TransformEntity("Maker")
            }
        },
        Change(testDescription: "a filter of texts, and one of the links' targets", target: version(attribute("more")))
        {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Filter("NOT (code CONTAINS '77')") }
                TransformEntity("Maker") { Filter("rank != nil") }
            }
        },
        Change(
            testDescription: "two entities become one, and links follow", target: merged, texts: texts,
            hasLastKey: true, byPages: 3
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Draft", to: "Text")
                TransformEntity("Letter", to: "Text") { Filter("size != 3") }
                TransformEntity("Remark") {
                    Link("subject", "TERNARY($source.draft != nil, \(moved("Draft")), \(moved("Letter")))")
                    Link("other", "\(moved("Letter"))")
                }
            }
        },
        Change(
            testDescription: "links to rows that are made later", target: merged, texts: texts, byPages: 3
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Remark") {
                    Link("subject", "TERNARY($source.draft == nil, \(moved("Letter")), \(moved("Draft")))")
                    Link("other", "TERNARY($source.letter == nil, nil, \(moved("Letter")))")
                }
                TransformEntity("Letter", to: "Text", name: "LetterToText") { Filter("size != 3") }
                TransformEntity("Draft", to: "Text", name: "DraftToText")
            }
        },
        Change(
            testDescription: "an owner sets the links of some members, and others choose theirs",
            target: model(
                entity("Contact", attribute("name"), toMany("orders", "Order", inverse: "contact")),
                entity("Order", attribute("number", "Integer 32"), toOne("contact", "Contact", inverse: "orders"))),
            texts: companies, byPages: 4
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Person", to: "Contact", fillsUnmentioned: false) { Copy("name") }
                TransformEntity("Company", to: "Contact", fillsUnmentioned: false) {
                    Copy("name")
                    Link("orders", from: "quotes", through: "QuoteToOrder")
                }
                TransformEntity("Invoice", to: "Order", fillsUnmentioned: false) {
                    Copy("number")
                    Link("contact", from: "company", through: "CompanyToContact")
                }
                TransformEntity("Quote", to: "Order", fillsUnmentioned: false) { Copy("number") }
            }
        },
        Change(
            testDescription: "rows of subentities, and links to them",
            target: model(
                entity("Contact", attribute("name"), toMany("orders", "Order", inverse: "contact")),
                entity("Order", attribute("number", "Integer 32"), toOne("contact", "Contact", inverse: "orders"))),
            texts: people, byPages: 1
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Order", fillsUnmentioned: false) {
                    Copy("number")
                    Link("contact", from: "person", through: "PersonToContact")
                }
                TransformEntity("Company", to: "Contact", fillsUnmentioned: false) { Copy("name") }
                WithSubentities(TransformEntity("Person", to: "Contact", fillsUnmentioned: false) { Copy("name") })
            }
        },
        Change(testDescription: "only copies", target: version("", attribute("more"))) {
            SwiftMappingModel(from: "V1", to: "V2") {
                CopyEntity("Line")
                TransformEntity("Maker")
            }
        },
    ]

    /// Draft 1, Letter 2, Remark 3; some remarks have both links, and some links lead nowhere.
    static let texts = model(
        entity("Draft", attribute("body"), toMany("remarks", "Remark", inverse: "draft")),
        entity(
            "Letter", attribute("body"), attribute("size", "Integer 16"),
            toMany("remarks", "Remark", inverse: "letter")),
        entity(
            "Remark", attribute("words"), toOne("draft", "Draft", inverse: "remarks"),
            toOne("letter", "Letter", inverse: "remarks")))
    static let merged = model(
        entity(
            "Remark", attribute("words"), toOne("subject", "Text", inverse: "remarks"),
            toOne("other", "Text", inverse: "others")),
        entity(
            "Text", attribute("body"), attribute("size", "Integer 16"), toMany("remarks", "Remark", inverse: "subject"),
            toMany("others", "Remark", inverse: "other")))

    /// Company 1, Invoice 2, Person 3, Quote 4.
    static let companies = model(
        entity(
            "Company", attribute("name"), toMany("quotes", "Quote", inverse: "company"),
            toMany("invoices", "Invoice", inverse: "company")),
        entity("Invoice", attribute("number", "Integer 32"), toOne("company", "Company", inverse: "invoices")),
        entity("Person", attribute("name")),
        entity("Quote", attribute("number", "Integer 32"), toOne("company", "Company", inverse: "quotes")))

    /// Company 1, Order 2, Person 3 (abstract), Client 4, Employee 5.
    static let people = model(
        entity("Company", attribute("name")), entity("Person", extra: "isAbstract=\"YES\"", attribute("name")),
        entity("Employee", parent: "Person"), entity("Client", parent: "Person"),
        entity("Order", attribute("number", "Integer 32"), toOne("person", "Person")))

    private static func peopleRows(_ count: Int) -> String {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 10))"
        return """
            \(numbers) INSERT INTO ZCOMPANY (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'company ' || i FROM n;
            \(numbers) INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i * 2, 4 + i % 2, 1, 'person ' || i FROM n;
            \(numbers) INSERT INTO ZORDER (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZPERSON, Z3_PERSON)
            SELECT i, 2, 1, i, i * 2, 4 + i % 2 FROM n;
            """
    }

    private static func companyRows(_ count: Int) -> String {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 10))"
        return """
            \(numbers) INSERT INTO ZCOMPANY (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i * 2, 1, 1, 'company ' || i FROM n;
            \(numbers) INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 3, 1, 'person ' || i FROM n;
            \(numbers) INSERT INTO ZINVOICE (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZCOMPANY)
            SELECT i, 2, 1, i, iif(i % 4, i * 7 % \(count / 10) * 2 + 2, NULL) FROM n;
            \(numbers) INSERT INTO ZQUOTE (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZCOMPANY)
            SELECT i, 4, 1, -i, iif(i % 3, i * 5 % \(count / 10) * 2 + 2, NULL) FROM n;
            """
    }

    private static func textRows(_ count: Int, lastKey: Bool) -> String {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 3))"
        return """
            \(numbers) INSERT INTO ZDRAFT (Z_PK, Z_ENT, Z_OPT, ZBODY)
            SELECT i * 2, 1, 1, printf('draft %040x', i * 7919) FROM n;
            \(numbers) INSERT INTO ZLETTER (Z_PK, Z_ENT, Z_OPT, ZBODY, ZSIZE)
            SELECT iif(i % 5, i, i + \(count)), 2, 1, printf('letter %040x', i * 7919), i % 7 FROM n;
            \(lastKey ? "INSERT INTO ZLETTER (Z_PK, Z_ENT, Z_OPT, ZBODY) VALUES (9223372036854775807, 2, 1, 'last');" : "")
            \(numbers) INSERT INTO ZREMARK (Z_PK, Z_ENT, Z_OPT, ZWORDS, ZDRAFT, ZLETTER)
            SELECT i * 3, 3, 1, 'words ' || i, iif(i % 2, i * 31 % \(count / 3) * 2 + 2 + i % 17 / 16, NULL),
                iif(i % 3, i * 37 % \(count / 3) + 1, NULL) FROM n;
            """
    }

    private static func moved(_ entity: String) -> String {
        """
        FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "\(entity)ToText", \
        $source.\(entity.lowercased()))
        """
    }

    private static func scenario(_ change: Change, rows count: Int) throws -> Scenario {
        if let texts = change.texts {
            let rows =
                switch texts {
                case companies: companyRows(count)
                case people: peopleRows(count)
                default: textRows(count, lastKey: change.hasLastKey)
                }
            return try Scenario(texts, change.target, rows: rows)
        }
        return try Scenario(version(""), change.target, rows: rows(count, dangling: !change.followsLinks))
    }

    private static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    @Test("are the same by pages and by statements, and the same bytes for any batches and workers", arguments: changes)
    func same(_ change: Change) throws {
        let scenario = try Self.scenario(change, rows: 9_000)
        var statements = scenario.request(by: change.mapping(), .statements, output: "statements.sqlite")
        statements.keyMap = scenario.folder + "/statements.jsonl"
        _ = try Migration(statements).run()
        let expected = try Database.dump(try #require(statements.output))
        let keys = try String(contentsOfFile: try #require(statements.keyMap), encoding: .utf8)
        var first: Data?
        for (jobs, batchRows) in [(1, 1_024), (2, 7), (4, 1_000)] {
            var request = scenario.request(
                by: change.mapping(), .auto, output: "pages-\(jobs).sqlite", batchRows: batchRows, jobs: jobs)
            request.keyMap = scenario.folder + "/pages-\(jobs).jsonl"
            var byPages = 0
            _ = try Migration(request) { event in
                if case .prepared(let prepared) = event { byPages = prepared.steps[0].methods.mappingsByPages.count }
            }.run()
            #expect(byPages == change.byPages)
            let output = try #require(request.output)
            let found = try Database.dump(output)
            #expect(found == expected, "\(Self.difference(found, expected))")
            #expect(try String(contentsOfFile: try #require(request.keyMap), encoding: .utf8) == keys)
            let bytes = try Self.bytes(output)
            if let first { #expect(bytes == first, "\(jobs) workers") }
            first = first ?? bytes
        }
    }

    private static func difference(_ one: [String], _ other: [String]) -> String {
        zip(one, other).first { $0 != $1 }.map { "\($0)\n\($1)" } ?? "\(one.count) and \(other.count) lines"
    }

    @Test("are the same bytes after a stop at any progress", arguments: changes)
    func stopped(_ change: Change) throws {
        let scenario = try Self.scenario(change, rows: 20_000)
        let whole = scenario.request(by: change.mapping(), .auto, output: "whole.sqlite")
        _ = try Migration(whole).run()
        let expected = try Self.bytes(try #require(whole.output))
        for stop in [1, 2, 3, 5, 8] {
            var request = scenario.request(by: change.mapping(), .auto, output: "stopped.sqlite")
            request.options.checkpointInterval = 0
            if try Scenario.isStopped(request, atProgress: stop) {
                request.options.batchRows = 7
                request.options.jobs = 3
                request.verification = .full
                _ = try Migration(request).run()
            }
            let output = try #require(request.output)
            #expect(try Self.bytes(output) == expected, "stopped at \(stop)")
            try FileManager.default.removeItem(atPath: output)
        }
    }

    @Test("that can't be made end with the same error", arguments: ["half", "later", "maker"])
    func refused(attribute name: String) throws {
        let scenario = try Scenario(
            Self.version(""),
            Self.version(attribute("half", "Integer 16") + attribute("label")),
            rows: Self.rows(200))
        let change = Change(testDescription: "", target: "") {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") {
                    switch name {
                    case "half": Compute("half", "$source.quantity * 1000")
                    case "maker": Compute("label", "$source.maker.name")
                    default: Compute("half", "1 / ($source.quantity - 3)")
                    }
                }
                TransformEntity("Maker")
            }
        }
        let errors = try [EngineChoice.auto, .statements].map { engine in
            try failure {
                _ = try Migration(scenario.request(by: change.mapping(), engine, output: "x.sqlite", jobs: 1)).run()
            }
        }
        #expect(errors[0].message == errors[1].message)
        #expect(errors[0].kind == errors[1].kind)
    }

    @Test("that break rules are the same by pages and by statements")
    func violations() throws {
        let scenario = try Scenario(
            Self.version(""),
            Self.version(
                attribute("total", "Double", optional: false)
                    + attribute("rank", "Integer 16", extra: "minValueString=\"3\" maxValueString=\"90\"")
                    + attribute("maker2", optional: false, extra: "maxValueString=\"8\"")),
            rows: Self.rows(2_000, dangling: false))
        let change = Change(testDescription: "", target: "") {
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") {
                    Compute("total", "$source.quantity * $source.price")
                    Compute("rank", "$source.quantity")
                    Compute("maker2", "$source.maker.name")
                }
                TransformEntity("Maker")
            }
        }
        let errors = try [EngineChoice.auto, .statements].map { engine in
            try failure { _ = try Migration(scenario.request(by: change.mapping(), engine, output: "x.sqlite")).run() }
        }
        #expect(!errors[0].details.isEmpty)
        #expect(errors[0].details == errors[1].details)
        #expect(errors[0].message == errors[1].message)
    }
}
