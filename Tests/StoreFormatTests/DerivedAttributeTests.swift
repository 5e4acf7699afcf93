import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct DerivedAttributeTests {
    private static let entities = """
        <entity name="Author">
            <attribute name="bookCount" attributeType="Integer 64" derived="YES" derivationExpression="books.@count"/>
            <attribute name="name" attributeType="String"/>
            <relationship name="books" toMany="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        </entity>
        <entity name="Novelist" parentEntity="Author"/>
        <entity name="Book">
            <attribute name="authorName" attributeType="String" derived="YES" derivationExpression="author.name"/>
            <attribute name="saved" attributeType="Date" derived="YES" derivationExpression="now()"/>
            <attribute name="title" attributeType="String"/>
            <attribute name="sortTitle" attributeType="String" derived="YES" derivationExpression="lowercase:(title)"/>
            <attribute name="readerCount" attributeType="Integer 64" derived="YES" derivationExpression="readers.@count"/>
            <relationship name="author" maxCount="1" destinationEntity="Author" inverseName="books" \
        inverseEntity="Author"/>
            <relationship name="readers" toMany="YES" destinationEntity="Reader" inverseName="read" \
        inverseEntity="Reader"/>
        </entity>
        <entity name="Reader">
            <attribute name="readCount" attributeType="Integer 64" derived="YES" derivationExpression="read.@count"/>
            <relationship name="read" toMany="YES" destinationEntity="Book" inverseName="readers" \
        inverseEntity="Book"/></entity>
        """

    @Test("triggers are made with the entity that they depend on")
    func order() throws {
        #expect(
            try TestModels.layout(Self.entities).statements().triggerStatements.map(\.name) == [
                "Z_DA_ZBOOK_Book_authorName_SOURCE_INSERT", "Z_DA_ZBOOK_Book_authorName_SOURCE_UPDATE",
                "Z_DA_ZAUTHOR_Book_authorName_PARAMETER_INSERT", "Z_DA_ZAUTHOR_Book_authorName_PARAMETER_UPDATE",
                "Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT",
                "Z_DA_ZBOOK_Author_bookCount_PARAMETER_UPDATE_INCREMENT",
                "Z_DA_ZBOOK_Author_bookCount_PARAMETER_UPDATE_DECREMENT",
                "Z_DA_ZBOOK_Author_bookCount_PARAMETER_DELETE", "Z_DA_ZAUTHOR_Author_bookCount_SOURCE_INSERT",
                "Z_DA_ZBOOK_Book_saved_INSERT", "Z_DA_ZBOOK_Book_saved_UPDATE",
            ])
    }

    @Test("at 1044 the triggers of an entity with subentities test Z_ENT, later ones don't", arguments: [1044, 1344])
    func range(version: Int) throws {
        let text = try TestModels.layout(Self.entities, frameworkVersion: version).statements().triggerStatements
            .first { $0.name == "Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT" }?.sql
        let range = version == 1044 ? " AND 1 <= Z_ENT AND Z_ENT <= 2" : ""
        #expect(
            text == "CREATE TRIGGER Z_DA_ZBOOK_Author_bookCount_PARAMETER_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW "
                + "WHEN (NEW.ZAUTHOR NOT NULL) BEGIN UPDATE ZAUTHOR SET ZBOOKCOUNT = IFNULL(ZBOOKCOUNT, 0) + 1 "
                + "WHERE Z_PK = NEW.ZAUTHOR\(range); SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZAUTHOR', "
                + "Z_ENT, Z_PK, 'bookCount', ZBOOKCOUNT) FROM ZAUTHOR WHERE Z_PK = NEW.ZAUTHOR\(range); END")
    }

    @Test("an unknown derivation has a column, no trigger and a message")
    func unknownForms() throws {
        let layout = try TestModels.layout(Self.entities)
        let unsupported = try layout.statements().unsupported
        #expect(unsupported.count == 3)
        #expect(unsupported.contains { $0.contains("Book.sortTitle") })
        #expect(unsupported.contains { $0.contains("Book.readerCount") })
        #expect(unsupported.contains { $0.contains("Reader.readCount") })
        #expect(layout.column(of: "sortTitle", in: "Book") != nil)
        #expect(layout.derivedValue(of: "sortTitle", declaredBy: "Book") == nil)
    }

    /// Up to framework version 519 join tables have no index that leads with their second column.
    @Test(
        "values of a new derived attribute are computed by SQL, with indexes and without", arguments: [519, 1344],
        [true, false])
    func values(version: Int, hasIndexes: Bool) throws {
        let layout = try TestModels.layout(Self.entities, frameworkVersion: version)
        let store = try TestModels.store(layout)
        for trigger in try layout.statements().triggerStatements { try store.execute("DROP TRIGGER \(trigger.name)") }
        if !hasIndexes {
            for name in try store.texts("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL") {
                try store.execute("DROP INDEX \(name)")
            }
        }
        try store.execute(
            """
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ann'), (2, 2, 1, 'Bob');
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 3, 1, 1), (2, 3, 1, 1), (3, 3, 1, NULL),
                (4, 3, 1, 'x'), (5, 3, 1, 99);
            INSERT INTO Z_3READERS VALUES (1, 7), (1, 8), (2, 7);
            INSERT INTO ZREADER (Z_PK, Z_ENT, Z_OPT) VALUES (7, 4, 1), (8, 4, 1), (9, 4, 1);
            """)
        for (entity, attribute) in [
            ("Author", "bookCount"), ("Book", "authorName"), ("Book", "readerCount"), ("Reader", "readCount"),
        ] {
            let value = try #require(layout.derivedValue(of: attribute, declaredBy: entity))
            for sql in value.statements() { try store.execute(sql) }
            // A second run, when every row has the right value, writes nothing.
            for sql in value.statements(onlyChanges: true) where sql.hasPrefix("UPDATE") == false {
                try store.execute(sql)
                let update = try #require(value.statements(onlyChanges: true).first { $0.hasPrefix("UPDATE") })
                if sql.hasPrefix("INSERT") {
                    let before = store.totalChanges
                    try store.execute(update)
                    #expect(store.totalChanges == before)
                }
            }
        }
        #expect(try store.texts("SELECT ZBOOKCOUNT FROM ZAUTHOR") == ["2", "0"])
        #expect(try store.texts("SELECT ZAUTHORNAME FROM ZBOOK") == ["Ann", "Ann", "NULL", "NULL", "NULL"])
        #expect(try store.texts("SELECT ZREADERCOUNT FROM ZBOOK") == ["2", "1", "0", "0", "0"])
        #expect(try store.texts("SELECT ZREADCOUNT FROM ZREADER") == ["2", "1", "0"])
        let saved = layout.derivedValue(of: "saved", declaredBy: "Book")
        #expect(saved?.source == .now)
        #expect(saved?.statements() == [])
        #expect(layout.derivedValue(of: "title", declaredBy: "Book") == nil)
    }

    @Test("a copy of a derived value is computed after it, whatever the entities' names; a cycle ends")
    func dependencies() {
        func value(_ table: String, copies other: String?) -> DerivedValue {
            DerivedValue(
                table: table, column: "ZX", entityNumbers: 1...1,
                source: other.map { .copy(table: $0, column: "ZX", key: "ZY") } ?? .count(table: "ZC", key: "ZY"))
        }
        let values = [value("ZA", copies: "ZB"), value("ZB", copies: "ZC"), value("ZC", copies: nil)]
        #expect(DerivedValue.inOrder(values).map(\.table) == ["ZC", "ZB", "ZA"])
        #expect(DerivedValue.inOrder(values.reversed()).map(\.table) == ["ZC", "ZB", "ZA"])
        let circle = [value("ZA", copies: "ZB"), value("ZB", copies: "ZA")]
        #expect(Set(DerivedValue.inOrder(circle)) == Set(circle))
        let long = (0..<50_000).map { value("Z\($0)", copies: "Z\($0 + 1)") }
        #expect(DerivedValue.inOrder(long) == long.reversed())
    }
}

extension Connection {
    /// The first column of every row as text.
    borrowing func texts(_ sql: String) throws -> [String] {
        var statement = try prepare(sql)
        var result: [String] = []
        while try statement.step() { result.append(try statement.string(at: 0) ?? "NULL") }
        return result
    }
}
