import CausewaySQLite
import Foundation
import Testing

/// Statements that only some changes need: derived attributes, relationships of another form.
extension LinearStatementTests {
    /// Every form in which links are stored, counted from both ends; copies of counts; subentities whose Z_ENTs lie in
    /// the middle of a table.
    private static func library(isDerived: Bool) -> String {
        func count(_ name: String, _ relationship: String) -> String {
            isDerived
                ? #"<attribute name="\#(name)" attributeType="Integer 64" optional="YES" derived="YES" "#
                    + #"derivationExpression="\#(relationship).@count"/>"# : ""
        }
        let copy =
            isDerived
            ? #"<attribute name="authorBooks" attributeType="Integer 64" optional="YES" derived="YES" "#
                + #"derivationExpression="author.bookCount"/>"# : ""
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Author" parentEntity="Person">
                \(count("bookCount", "books"))
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" \
            inverseEntity="Book"/>
            </entity>
            <entity name="Book">
                \(copy)\(count("readerCount", "readers"))\(count("pageCount", "pages"))
                <attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" \
            inverseName="books" inverseEntity="Author"/>
                <relationship name="readers" optional="YES" toMany="YES" ordered="YES" destinationEntity="Person" \
            inverseName="read" inverseEntity="Person"/>
                <relationship name="pages" optional="YES" toMany="YES" destinationEntity="Page"/>
            </entity>
            <entity name="Page"><attribute name="text" optional="YES" attributeType="String"/></entity>
            <entity name="Person" isAbstract="NO">
                <attribute name="name" optional="YES" attributeType="String"/>
                \(count("readCount", "read"))
                <relationship name="read" optional="YES" toMany="YES" destinationEntity="Book" inverseName="readers" \
            inverseEntity="Book"/>
            </entity>
            <entity name="Zealot" parentEntity="Person"/>
            </model>
            """
    }

    /// The counts row by row, as Core Data's triggers keep them.
    private static func expected(_ join: String, _ book: String, _ person: String) -> [(sql: String, wrong: String)] {
        [
            (
                "ZPERSON WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Author')",
                "ZBOOKCOUNT IS NOT (SELECT count(*) FROM ZBOOK AS b WHERE b.ZAUTHOR = ZPERSON.Z_PK)"
            ),
            (
                "ZPERSON WHERE 1",
                "ZREADCOUNT IS NOT (SELECT count(*) FROM \(join) AS j WHERE j.\(person) = ZPERSON.Z_PK)"
            ),
            ("ZBOOK WHERE 1", "ZREADERCOUNT IS NOT (SELECT count(*) FROM \(join) AS j WHERE j.\(book) = ZBOOK.Z_PK)"),
            ("ZBOOK WHERE 1", "ZPAGECOUNT IS NOT (SELECT count(*) FROM ZPAGE AS p WHERE p.Z1PAGES = ZBOOK.Z_PK)"),
            (
                "ZBOOK WHERE ZAUTHOR IS NOT NULL",
                "ZAUTHORBOOKS IS NOT (SELECT a.ZBOOKCOUNT FROM ZPERSON AS a WHERE a.Z_PK = ZBOOK.ZAUTHOR)"
            ),
        ]
    }

    @Test(
        "of derived attributes, whose values are those that Core Data's triggers keep",
        arguments: [519, 866, 1_044, 1_509])
    func derived(frameworkVersion: Int) async throws {
        let folder = try TemporaryFolder()
        let models = folder.path("Library.xcdatamodeld")
        for (version, isDerived) in [("v1", false), ("v2", true)] {
            let path = "\(models)/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(Self.library(isDerived: isDerived).utf8).write(to: URL(filePath: path + "/contents"))
        }
        let history = History(
            name: "Library", models: models, version: "v1", target: "v2", frameworkVersion: frameworkVersion)
        let judgement = try await StatementPlans.judging(folder.url) { try await examine(history, in: folder) }
        #expect(judgement.faults.isEmpty)
        for name in ["result-true.sqlite", "result-false.sqlite", "source.sqlite"] {
            let store = folder.path(name)
            let join = try #require(
                StoreRows.texts(store, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
                    .first)
            let columns = try StoreRows.texts(store, "SELECT name FROM pragma_table_info('\(join)')")
            let book = try #require(columns.first { !$0.hasPrefix("Z_FOK") && $0.hasSuffix("READ") })
            let person = try #require(columns.first { !$0.hasPrefix("Z_FOK") && $0.contains("READERS") })
            for (rows, wrong) in Self.expected(join, book, person) {
                #expect(try StoreRows.texts(store, "SELECT count(*) FROM \(rows)") != ["0"])
                #expect(try StoreRows.texts(store, "SELECT count(*) FROM \(rows) AND \(wrong)") == ["0"], "\(wrong)")
            }
        }
    }

    // MARK: - Relationships that change their form

    /// Many-to-many relationships become to-ones at either end, and to-ones become many-to-many.
    private static func forms(_ isLater: Bool) -> String {
        func relationship(_ name: String, _ to: String, _ inverse: String, isMany: Bool, isOrdered: Bool = false)
            -> String
        {
            #"<relationship name="\#(name)" optional="YES" destinationEntity="\#(to)" inverseName="\#(inverse)" "#
                + #"inverseEntity="\#(to)" \#(isMany ? #"toMany="YES""# : #"maxCount="1""#) "#
                + #"\#(isOrdered ? #"ordered="YES""# : "")/>"#
        }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="A"><attribute name="n" optional="YES" attributeType="String"/>
            \(relationship("b", "B", "a", isMany: !isLater))
            \(relationship("c", "C", "a", isMany: !isLater, isOrdered: !isLater))
            \(relationship("d", "D", "a", isMany: isLater))
            \(relationship("e", "B", "e", isMany: true))
            </entity>
            <entity name="B"><attribute name="n" optional="YES" attributeType="String"/>
            \(relationship("a", "A", "b", isMany: true))\(relationship("e", "A", "e", isMany: !isLater))</entity>
            <entity name="B1" parentEntity="B"/>
            <entity name="C"><attribute name="n" optional="YES" attributeType="String"/>
            \(relationship("a", "A", "c", isMany: true, isOrdered: isLater))</entity>
            <entity name="D"><attribute name="n" optional="YES" attributeType="String"/>
            \(relationship("a", "A", "d", isMany: true))</entity>
            </model>
            """
    }

    @Test("of relationships that change their form, with old join tables too", arguments: [519, 866, 1_509])
    func forms(frameworkVersion: Int) async throws {
        let folder = try TemporaryFolder()
        let models = folder.path("Forms.xcdatamodeld")
        for (version, isLater) in [("v1", false), ("v2", true)] {
            let path = "\(models)/\(version).xcdatamodel"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(Self.forms(isLater).utf8).write(to: URL(filePath: path + "/contents"))
        }
        let history = History(
            name: "Forms", models: models, version: "v1", target: "v2", frameworkVersion: frameworkVersion)
        let judgement = try await StatementPlans.judging(folder.url) { try await examine(history, in: folder) }
        #expect(judgement.faults.isEmpty)
        // The first link of each, whichever end the join table is named for.
        let result = folder.path("result-true.sqlite")
        for (from, to) in [("ZA", "ZB"), ("ZA", "ZC"), ("ZB", "ZE")] {
            #expect(try StoreRows.texts(result, "SELECT count(*) FROM \(from) WHERE \(to) IS NOT NULL") != ["0"])
        }
    }
}
