import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// `--bad-rows quarantine`: rows that a pass can't convert are left out and written to the rejects file.
@Suite("Quarantine of bad rows", .timeLimit(.minutes(60)))
struct QuarantineTests {
    @Test(
        "every kind of bad row is left out, counted and written down as it was", arguments: VerificationLevel.allCases)
    func kinds(level: VerificationLevel) throws {
        let office = try BadOffice()
        var request = office.request()
        request.verification = level
        let outcome = try Migration(request).run()
        #expect(outcome.quarantinedRows == BadOffice.badRows)
        #expect(try office.scenario.rows("SELECT count(*) FROM ZPERSON") == ["\(60 - BadOffice.badPersons.count)"])
        #expect(
            try office.scenario.rows(
                "SELECT Z_PK FROM ZPERSON WHERE Z_PK IN (\(BadOffice.badPersons.map(String.init).joined(separator: ",")))"
            ).isEmpty)
        #expect(try office.scenario.rows("SELECT Z_PK FROM ZFIRM") == ["1", "2", "4", "5"])
        let lines = try office.lines()
        // In the passes' order: one table after the other, each by its keys.
        #expect(lines.map(\.key) == [3, 7, 11, 12, 13, 17, 19, 4])
        #expect(lines.map(\.table) == ["ZFIRM"] + Array(repeating: "ZPERSON", count: 6) + ["ZTAG"])
        let stranger = lines[1]
        #expect(stranger.uri == nil && stranger.entity == nil)
        #expect(stranger.reason == "its Z_ENT 99 names no entity of this table")
        #expect(stranger.values["ZNAME"] == .text("name 7 \"\u{e9}\""))
        #expect(stranger.values["Z_ENT"] == .number(99))
        #expect(stranger.values["ZOLD"] == .number(70), "a column that the destination no longer has")
        #expect(lines[2].reason.contains("Z_ENT NULL"))
        let worker = lines[3]
        #expect(worker.entity == "Worker")
        #expect(worker.uri == "x-coredata://\(Scenario.uuid)/Worker/p12")
        #expect(worker.property == "name" && worker.code == 1570)
        #expect(worker.reason == "V2: Worker.name is mandatory now and has no default, but is NULL", "\(worker.reason)")
        #expect(worker.values["ZNAME"] == .null)
        #expect(worker.values["ZWAGE"] == .number(12.5))
        #expect(lines[5].property == "photo" && lines[5].reason.contains("can't be read"))
        #expect(lines[5].values["ZPHOTO"] == .text(BadOffice.reference.base64EncodedString()))
        #expect(
            lines[6].reason == "photo: a binary attribute holds a number" && lines[6].values["ZPHOTO"] == .number(5))
    }

    @Test("for each table, rows read are rows made plus rows quarantined")
    func counts() throws {
        let office = try BadOffice()
        let tables = ["ZPERSON", "ZFIRM", "ZTAG", "ZBADGE", "ZSITE"]
        let before = try tables.map { try Int(office.scenario.rows("SELECT count(*) FROM \($0)")[0]) ?? 0 }
        _ = try Migration(office.request()).run()
        let lines = try office.lines()
        for (table, rows) in zip(tables, before) {
            let after = try Int(office.scenario.rows("SELECT count(*) FROM \(table)")[0]) ?? 0
            #expect(rows == after + lines.count { $0.table == table }, "\(table)")
        }
    }

    @Test("links to quarantined rows end: keys with Z_ENT and order, both ends of a one-to-one, join rows")
    func links() throws {
        let office = try BadOffice()
        let before = try office.scenario.rows(
            "SELECT Z_3PEOPLE, \(office.tags) FROM Z_3TAGS ORDER BY 1, 2")
        var warnings: [String] = []
        let outcome = try Migration(office.request()) { event in
            if case .warning(let text) = event { warnings.append(text) }
        }.run()
        // Staff of firm 3.
        #expect(try office.scenario.rows("SELECT Z_PK FROM ZPERSON WHERE ZBOSS = 3").isEmpty)
        let staff = (1...60).filter { 1 + $0 % 5 == 3 && !BadOffice.badPersons.contains($0) }
        #expect(
            try office.scenario.rows("SELECT Z_PK FROM ZPERSON WHERE ZBOSS IS NULL AND Z_FOK_BOSS IS NULL")
                == staff.map(String.init))
        #expect(
            try office.scenario.rows("SELECT Z_PK FROM ZPERSON WHERE ZBOSS IS NULL AND Z_FOK_BOSS NOT NULL").isEmpty)
        // Badges of quarantined persons.
        #expect(
            try office.scenario.rows("SELECT Z_PK FROM ZBADGE WHERE ZOWNER IS NULL AND Z3_OWNER IS NULL ORDER BY Z_PK")
                == BadOffice.badPersons.map(String.init))
        // Sites refer to their firm by the column of a to-many without inverse.
        #expect(try office.scenario.rows("SELECT Z_PK FROM ZSITE WHERE Z2SITES IS NULL") == ["3"])
        #expect(
            try office.scenario.rows("SELECT Z_3PEOPLE, \(office.tags) FROM Z_3TAGS ORDER BY 1, 2")
                == before.filter { row in
                    let keys = row.split(separator: "|").compactMap { Int($0) }
                    return !BadOffice.badPersons.contains(keys[0]) && keys[1] != 4
                })
        #expect(warnings.contains { $0.contains("Person.boss: 9 links") && $0.contains("mandatory") }, "\(warnings)")
        #expect(outcome.warnings.contains { $0.contains("rows that lack a mandatory object now: 9") })
        #expect(warnings.contains { $0 == "table ZPERSON: Z_ENT is NULL in 1 row (p11); to be quarantined" })
        #expect(
            warnings.contains { $0.contains("Person.name is mandatory") && $0.contains("in 1 row of Person (p13)") })
        #expect(!(warnings + outcome.warnings).contains { $0.contains("name 7") })
    }

    @Test("without quarantine the run fails, and nothing is written")
    func failing() throws {
        let office = try BadOffice()
        var request = office.request()
        request.badRows = .fail
        request.rejects = nil
        let before = try snapshot(office.scenario.folder)
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains("table ZPERSON: Z_ENT names no entity of the model in 1 row (p7)"))
        #expect(error.details.contains("table ZPERSON: Z_ENT is NULL in 1 row (p11)"))
        #expect(error.details.contains("table ZFIRM: Z_ENT is that of an entity with another table in 1 row (p3)"))
        #expect(error.remedy.contains("--bad-rows quarantine --rejects FILE"))
        #expect(error.details.contains { $0.contains("Worker.name is mandatory now") && $0.contains("p12") })
        #expect(try snapshot(office.scenario.folder) == before)
    }

    @Test("without quarantine a value that can't be inlined is named by its row before the first byte")
    func failingInPass() throws {
        let office = try BadOffice()
        try Scenario.execute(
            "DELETE FROM ZPERSON WHERE Z_PK IN (7, 11, 12, 13, 17); DELETE FROM ZFIRM WHERE Z_PK = 3; "
                + "DELETE FROM ZTAG WHERE Z_PK = 4", office.scenario.store)
        var request = office.request()
        request.badRows = .fail
        request.rejects = nil
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData)
        #expect(error.details.contains { $0.contains("photo") && $0.contains("p19") }, "\(error)")
    }

    @Test("quarantine needs a file")
    func withoutFile() throws {
        let office = try BadOffice()
        var request = office.request()
        request.rejects = nil
        let before = try snapshot(office.scenario.folder)
        #expect(try failure { _ = try Migration(request).run() }.kind == .usage)
        #expect(try snapshot(office.scenario.folder) == before)
    }

    @Test("a store without bad rows gives the same result as without quarantine; the file is empty")
    func nothingBad() throws {
        let (plain, quarantined) = (try BadOffice(isGood: true), try BadOffice(isGood: true))
        var request = plain.request()
        (request.badRows, request.rejects) = (.fail, nil)
        _ = try Migration(request).run()
        #expect(try Migration(quarantined.request()).run().quarantinedRows == 0)
        #expect(try Database.dump(quarantined.scenario.store) == Database.dump(plain.scenario.store))
        #expect(try quarantined.file().isEmpty)
    }

    @Test(
        "rows that an earlier step leaves out are missing in a later one, fused with it or not",
        arguments: [true, false])
    func missedLater(fuses: Bool) throws {
        let (link, strict) = (toOne("b", "B"), toOne("b", "B").replacing("optional=\"YES\"", with: "optional=\"NO\""))
        let scenario = try Scenario(
            model(entity("A", link), entity("B", attribute("t"))),
            model(entity("A", link), entity("B", attribute("t", optional: false))),
            model(entity("A", strict), entity("B", attribute("t", optional: false))),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 2);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZT) VALUES (1, 2, 1, NULL), (2, 2, 1, 'x');
                """)
        var request = scenario.request(to: "V3", fuses: fuses)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        var warnings: [String] = []
        let outcome = try Migration(request) { event in
            if case .warning(let text) = event { warnings.append(text) }
        }.run()
        #expect(outcome.quarantinedRows == 3)
        // Rows that have lost their link in an earlier step are new bad rows for the later step.
        #expect(warnings.count { $0.contains("V3: A.b is mandatory now, it is missing in 2 rows of A (p1, p2)") } == 1)
        #expect(try scenario.rows("SELECT Z_PK, ZB FROM ZA") == ["3|2"])
        #expect(try scenario.rows("SELECT Z_PK FROM ZB") == ["2"])
        let lines = try BadLine.read(scenario.folder + "/rejects.jsonl")
        #expect(lines.map { "\($0.entity ?? "")\($0.key)" } == ["B1", "A1", "A2"])
    }

    @Test(
        "all rows of an entity that gets a mandatory attribute, or becomes abstract, are left out",
        arguments: [true, false])
    func wholeEntities(fuses: Bool) throws {
        let scenario = try Scenario(
            model(entity("A", attribute("x")), entity("B", attribute("y")), entity("C", attribute("z"))),
            model(
                entity("A", attribute("x"), attribute("must", optional: false)), entity("B", attribute("y")),
                entity("C", attribute("z"))),
            model(
                entity("A", attribute("x"), attribute("must", optional: false)),
                entity("B", extra: "isAbstract=\"YES\"", attribute("y")), entity("C", attribute("z"))),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b');
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZY) VALUES (1, 2, 1, 'a');
                INSERT INTO ZC (Z_PK, Z_ENT, Z_OPT, ZZ) VALUES (1, 3, 1, 'a');
                """)
        var request = scenario.request(to: "V3", fuses: fuses)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        let outcome = try Migration(request).run()
        #expect(outcome.quarantinedRows == 3)
        #expect(try scenario.rows("SELECT count(*) FROM ZA UNION ALL SELECT count(*) FROM ZB") == ["0", "0"])
        #expect(try scenario.rows("SELECT Z_PK, ZZ FROM ZC") == ["1|'a'"])
        let lines = try BadLine.read(scenario.folder + "/rejects.jsonl")
        #expect(lines.map { "\($0.entity ?? "")\($0.key)" } == ["A1", "A2", "B1"])
    }

    @Test("one notice for each row and reason, whatever the number of steps", arguments: [true, false])
    func toldOnce(fuses: Bool) throws {
        func version(_ note: String...) -> String {
            model(
                entity("Author", attribute("name"), toMany("books", "Note", inverse: "author", was: "books")),
                entity("Note", note.joined()))
        }
        let author = toOne("author", "Author", inverse: "books")
        let writer = toOne("writer", "Author", inverse: "books", was: "author")
        func later(_ title: String, _ size: String, _ rate: String, _ extra: String = "") -> String {
            version(title, attribute("size", size), attribute("rate", rate), writer, extra)
                .replacing("inverseName=\"author\"", with: "inverseName=\"writer\"")
        }
        let head = attribute("head", optional: false)
        let scenario = try Scenario(
            version(attribute("title"), attribute("size", "Double"), attribute("rate", "Double"), author),
            later(attribute("head", was: "title"), "Double", "Double"), later(head, "Integer 16", "Float"),
            later(head, "Integer 16", "Float", attribute("more")),
            rows: """
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSIZE, ZRATE, ZAUTHOR) VALUES
                (1, 2, 1, 'one', 1.0, 0.5, 1), (2, 2, 1, NULL, 2.0, 0.5, 1), (3, 2, 1, 'three', 3.0, 0.1, 9),
                (4, 2, 1, 'four', 70000.0, 0.5, 1);
                """)
        var request = scenario.request(to: "V4", fuses: fuses)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        request.verification = .full
        var warnings: [String] = []
        let outcome = try Migration(request) { event in
            if case .warning(let text) = event { warnings.append(text) }
        }.run()
        #expect(outcome.quarantinedRows == 2)
        for notice in [
            "V3: Note.head is mandatory now", "that Integer 16 can't hold", "values that lose precision: 1",
            "as in the source",
        ] {
            #expect(warnings.count { $0.contains(notice) } == 1, "\(notice): \(warnings)")
            #expect(outcome.warnings.count { $0.contains(notice) } == 1, "\(notice): \(outcome.warnings)")
        }
    }

    @Test("more rows than a step can leave out are found beforehand, in all entities together")
    func tooMany() throws {
        func version(_ extra: String...) -> String {
            model(
                entity("Base", extra: "isAbstract=\"YES\"", extra.joined()), entity("Left", parent: "Base"),
                entity("Right", parent: "Base"))
        }
        let scenario = try Scenario(
            version(), version(attribute("must", optional: false)),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 1000000)
                INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT) SELECT i, 2 + i % 2, 1 FROM n;
                """)
        var request = scenario.request(to: "V2")
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        for error in [
            try failure { _ = try Migration(request).plan() }, try failure { _ = try Migration(request).run() },
        ] {
            #expect(error.kind == .sourceData)
            #expect(
                error.details == [
                    """
                    V1 → V2: more than 1000000 rows would be quarantined in one step: at least 1000001, of Left, Right
                    """
                ])
        }
        try Scenario.execute("DELETE FROM ZBASE WHERE Z_PK = 7", scenario.store)
        #expect(try Migration(request).plan().notices.count == 2)
    }
}
