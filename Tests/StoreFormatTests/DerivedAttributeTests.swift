import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite struct DerivedAttributeTests {
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
        <entity name="Reader"><relationship name="read" toMany="YES" destinationEntity="Book" inverseName="readers" \
        inverseEntity="Book"/></entity>
        """

    @Test("triggers come with the entity that they depend on")
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

    @Test("a derivation that no store shows has a column, no trigger and a sentence")
    func unknownForms() throws {
        let layout = try TestModels.layout(Self.entities)
        let unsupported = try layout.statements().unsupported
        #expect(unsupported.count == 2)
        #expect(unsupported.contains { $0.contains("Book.sortTitle") })
        #expect(unsupported.contains { $0.contains("Book.readerCount") })
        #expect(layout.column(of: "sortTitle", in: "Book") != nil)
        #expect(layout.derivedValue(of: "sortTitle", declaredBy: "Book") == nil)
    }

    @Test("values of a new derived attribute are computed by SQL")
    func values() throws {
        let layout = try TestModels.layout(Self.entities)
        let store = try TestModels.store(layout)
        for trigger in try layout.statements().triggerStatements { try store.execute("DROP TRIGGER \(trigger.name)") }
        try store.execute(
            """
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ann'), (2, 2, 1, 'Bob');
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 3, 1, 1), (2, 3, 1, 1), (3, 3, 1, NULL);
            INSERT INTO Z_3READERS VALUES (1, 7), (1, 8), (2, 7);
            """)
        for (entity, attribute) in [("Author", "bookCount"), ("Book", "authorName"), ("Book", "readerCount")] {
            let value = try #require(layout.derivedValue(of: attribute, declaredBy: entity))
            let expression = try #require(value.expression)
            try store.execute(
                """
                UPDATE \(value.table) SET \(value.column) = \(expression)
                WHERE Z_ENT BETWEEN \(value.entityNumbers.lowerBound) AND \(value.entityNumbers.upperBound)
                """)
        }
        #expect(try store.texts("SELECT ZBOOKCOUNT FROM ZAUTHOR") == ["2", "0"])
        #expect(try store.texts("SELECT ZAUTHORNAME FROM ZBOOK") == ["Ann", "Ann", "NULL"])
        #expect(try store.texts("SELECT ZREADERCOUNT FROM ZBOOK") == ["2", "1", "0"])
        let saved = layout.derivedValue(of: "saved", declaredBy: "Book")
        #expect(saved != nil && saved?.expression == nil)
        #expect(layout.derivedValue(of: "title", declaredBy: "Book") == nil)
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
