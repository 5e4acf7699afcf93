import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Rows that a later step of the chain can't convert are found before the first byte is written.
@Suite("The check before the run finds what a later step would refuse", .timeLimit(.minutes(60)))
struct PreflightChainTests {
    /// Three versions; the third needs a value that the first version's rows may lack.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var versions: [String]
        /// The refusal's place, reason and rows.
        var text: String
        /// Rows that the new store has with `--bad-rows quarantine`.
        var kept: Int

        init(_ name: String, _ versions: String..., text: String, kept: Int) {
            (testDescription, self.versions, self.text, self.kept) = (name, versions, text, kept)
        }
    }

    private static func version(_ note: String..., author: String = "books", extra: String = "") -> String {
        model(
            entity("Author", attribute("name"), toMany(author, "Note", inverse: "author"), toOne("best", "Note")),
            entity("Note", note.joined(), toOne("author", "Author", inverse: author, extra: extra)))
    }

    private static let title = attribute("title")
    private static let start = version(title)
    private static let mandatory = "optional=\"NO\""

    private static func linked(_ text: String) -> String {
        text.replacingOccurrences(
            of: "<relationship name=\"author\" optional=\"YES\"", with: "<relationship name=\"author\" optional=\"NO\"")
    }

    static let changes = [
        Change(
            "a new mandatory attribute", start, start, version(title, attribute("must", optional: false)),
            text: "V3: Note.must is new, mandatory and has no default, but there is no value for 4 rows of Note "
                + "(p1, p2, p3, p4)", kept: 0),
        Change(
            "an attribute that becomes mandatory, by another name", start, version(attribute("head", was: "title")),
            version(attribute("head", optional: false)),
            text: "V3: Note.head is mandatory now and has no default, but it is NULL in 1 row of Note (p2)", kept: 3),
        Change(
            "an attribute that was added empty and becomes mandatory", start, version(title, attribute("must")),
            version(title, attribute("must", optional: false)),
            text: "V3: Note.must is mandatory now and has no default, but there is no value for 4 rows of Note", kept: 0
        ),
        Change(
            "a to-one that becomes mandatory", start, start, linked(start),
            text: "V3: Note.author is mandatory now, but it is missing in 2 rows of Note (p3, p4)", kept: 2),
        Change(
            "a to-one that becomes mandatory, its inverse renamed", start, version(title, author: "works"),
            linked(version(title, author: "works")),
            text: "V3: Note.author is mandatory now, but it is missing in 2 rows of Note (p3, p4)", kept: 2),
        Change(
            "a new mandatory to-one",
            start, start,
            model(
                entity("Author", attribute("name"), toMany("books", "Note", inverse: "author"), toOne("best", "Note")),
                entity(
                    "Note", title, toOne("author", "Author", inverse: "books"),
                    toOne("editor", "Author").replacingOccurrences(of: "optional=\"YES\"", with: mandatory))),
            text: "V3: Note.editor is new and mandatory, but there is no value for 4 rows of Note", kept: 0),
        Change(
            "an entity that becomes abstract", start, start,
            start.replacingOccurrences(of: "<entity name=\"Note\"", with: "<entity name=\"Note\" isAbstract=\"YES\""),
            text: "V3: Note is abstract now, but there are 4 rows of Note (p1, p2, p3, p4)", kept: 0),
    ]

    private static func scenario(_ change: Change) throws -> Scenario {
        try Scenario(
            change.versions[0], change.versions[1], change.versions[2],
            rows: """
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBEST) VALUES (1, 1, 1, 'a', 1), (2, 1, 1, 'b', NULL);
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) VALUES
                (1, 2, 1, 'one', 1), (2, 2, 1, NULL, 2), (3, 2, 1, 'three', NULL), (4, 2, 1, 'four', NULL);
                """)
    }

    @Test("a change in the last step is refused at once, fused or not, and nothing is written", arguments: changes)
    func refused(change: Change) throws {
        let scenario = try Self.scenario(change)
        let before = try snapshot(scenario.folder)
        for fuses in [true, false] {
            let request = scenario.request(to: "V3", fuses: fuses)
            var output = request
            output.output = scenario.folder + "/New.sqlite"
            let errors = [
                try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
                try failure { _ = try Migration(output).run() },
            ]
            for error in errors {
                #expect(error.kind == .sourceData)
                #expect(error.details.count == 1 && error.details[0].hasPrefix(change.text), "\(error)")
                #expect(error.remedy.contains("--bad-rows quarantine --rejects FILE"))
                #expect(!error.description.contains("three"), "no content of rows")
            }
            #expect(try snapshot(scenario.folder) == before)
        }
    }

    @Test("without such rows the same steps run", arguments: changes)
    func passed(change: Change) throws {
        let scenario = try Self.scenario(change)
        try Scenario.execute("DELETE FROM ZNOTE WHERE ZTITLE IS NULL OR ZAUTHOR IS NULL", scenario.store)
        if change.kept == 0 {
            try Scenario.execute("DELETE FROM ZNOTE; UPDATE ZAUTHOR SET ZBEST = NULL", scenario.store)
        }
        var request = scenario.request(to: "V3", fuses: false)
        request.verification = .full
        #expect(try Migration(request).plan().notices.isEmpty)
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT count(*) FROM ZNOTE") == [change.kept == 0 ? "0" : "1"])
    }

    @Test(
        "--bad-rows quarantine counts these rows beforehand and leaves them out", arguments: changes, [true, false])
    func quarantined(change: Change, fuses: Bool) throws {
        let scenario = try Self.scenario(change)
        var request = scenario.request(to: "V3", fuses: fuses, batchRows: 1)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        let notices = try Migration(request).plan().notices
        #expect(notices.count == 1)
        #expect(notices[0].hasSuffix("; to be quarantined"))
        #expect(notices[0].hasPrefix(change.text.prefix(8)), "\(notices)")
        let outcome = try Migration(request).run()
        #expect(outcome.quarantinedRows == 4 - change.kept)
        #expect(outcome.warnings.contains(notices[0]))
        #expect(try scenario.rows("SELECT count(*) FROM ZNOTE") == ["\(change.kept)"])
        #expect(try BadLine.read(scenario.folder + "/rejects.jsonl").count == 4 - change.kept)
    }

    // MARK: - After mapping models

    /// V1 to V2 by a mapping model, V2 to V3 inferred.
    private static func mapped(_ note: TransformEntity) throws -> (Scenario, MigrationRequest) {
        func version(_ properties: String...) -> String { model(entity("Note", properties.joined())) }
        let scenario = try Scenario(
            version(attribute("title")), version(attribute("head"), attribute("empty")),
            version(attribute("head", optional: false), attribute("empty")),
            rows: """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'one'), (2, 1, 1, NULL), (3, 1, 1, 'c');
                """)
        var request = scenario.request(to: "V3")
        request.code.add(SwiftMappingModel(from: "V1", to: "V2") { note })
        return (scenario, request)
    }

    @Test("a mapping model that carries the value of every row doesn't hide it")
    func behindCopy() throws {
        let (scenario, request) = try Self.mapped(TransformEntity("Note") { Rename("title", to: "head") })
        let before = try snapshot(scenario.folder)
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(
                error.details == [
                    "V3: Note.head is mandatory now and has no default, but it is NULL in 1 row of Note (p2)"
                ])
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a mapping model that gives every row a value fulfils it; one that gives none, doesn't")
    func behindConstant() throws {
        let (filled, request) = try Self.mapped(TransformEntity("Note") { Compute("head", "'x'") })
        #expect(try Migration(request).plan().notices.isEmpty)
        _ = try Migration(request).run()
        #expect(try filled.rows("SELECT ZHEAD FROM ZNOTE") == ["'x'", "'x'", "'x'"])
        let (unfilled, empty) = try Self.mapped(TransformEntity("Note") { Leave("head") })
        defer { withExtendedLifetime(unfilled) {} }
        let error = try failure { _ = try Migration(empty).plan() }
        #expect("\(error)".contains("3 rows of Note (p1, p2, p3)"), "\(error)")
    }

    @Test("where a filter or an expression decides, the plan says so, and the step checks again when it begins")
    func behindFilter() throws {
        let (good, filtering) = try Self.mapped(
            TransformEntity("Note") {
                Rename("title", to: "head")
                Filter("title != nil")
            })
        let notices = try Migration(filtering).plan().notices
        #expect(notices.count == 1)
        #expect(notices[0].contains("V3: Note.head is mandatory now") && notices[0].contains("1 row of Note (p2)"))
        #expect(notices[0].contains("the mapping “NoteToNote”"), "\(notices)")
        #expect(notices[0].contains("V2 → V3 checks it"), "\(notices)")
        _ = try Migration(filtering).run()
        #expect(try good.rows("SELECT Z_PK FROM ZNOTE") == ["1", "3"])
        let (bad, keeping) = try Self.mapped(
            TransformEntity("Note") {
                Rename("title", to: "head")
                Filter("title == nil")
            })
        let store = try Database.dump(bad.store)
        let error = try failure { _ = try Migration(keeping).run() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("V3: Note.head") && $0.contains("(p2)") }, "\(error)")
        #expect(try Database.dump(bad.store) == store)
        let (computed, computing) = try Self.mapped(
            TransformEntity("Note") { Compute("head", "uppercase($source.title)") })
        defer { withExtendedLifetime(computed) {} }
        #expect(try Migration(computing).plan().notices.contains { $0.contains("depends on an expression") })
    }

    @Test("a mandatory value that a mapping model doesn't set is refused at once, unless such rows are rejected")
    func ownStep() throws {
        let scenario = try Scenario(
            model(entity("Note", attribute("title"))), model(entity("Note", attribute("head", optional: false))),
            rows: "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'one'), (2, 1, 1, NULL);")
        var request = scenario.request(to: "V2")
        request.code.add(
            SwiftMappingModel(from: "V1", to: "V2") { TransformEntity("Note") { Rename("title", to: "head") } })
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(request).plan() }
        #expect(
            error.details == [
                """
                V2: Note.head is mandatory, and the mapping gives it the value of title, but it is NULL in 1 row of Note \
                (p2)
                """
            ])
        #expect(error.remedy.contains("--on-violation reject --rejects FILE"))
        #expect(try snapshot(scenario.folder) == before)
        (request.violations, request.rejects) = (.reject, scenario.folder + "/rejects.jsonl")
        #expect(try Migration(request).plan().notices.isEmpty)
        #expect(try Migration(request).run().rejectedRows == 1)
    }

    @Test("links that are stored in another table are checked too")
    func otherForms() throws {
        func version(_ tags: String, _ notes: String) -> String {
            model(entity("Note", attribute("title"), tags), entity("Tag", notes))
        }
        let many = version(toMany("tag", "Tag", inverse: "notes"), toMany("notes", "Note", inverse: "tag"))
        let one = version(
            toOne("tag", "Tag", inverse: "notes").replacingOccurrences(of: "optional=\"YES\"", with: Self.mandatory),
            toMany("notes", "Note", inverse: "tag"))
        let scenario = try Scenario(
            many, one,
            rows: """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1);
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1);
                """)
        let table = try scenario.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'Z_1%' AND type = 'table'")[0]
            .dropFirst().dropLast()
        try Scenario.execute("INSERT INTO \(table) VALUES (1, 1), (3, 1)", scenario.store)
        let error = try failure { _ = try Migration(scenario.request(to: "V2")).plan() }
        #expect(error.details == ["V2: Note.tag is mandatory now, but it is missing in 1 row of Note (p2)"], "\(error)")
        var request = scenario.request(to: "V2")
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        #expect(try Migration(request).run().quarantinedRows == 1)
        #expect(try scenario.rows("SELECT Z_PK, ZTAG FROM ZNOTE") == ["1|1", "3|1"])
    }
}
