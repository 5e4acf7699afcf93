import CausewayModel
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct FetchIndexTests {
    private func statements(_ index: String, frameworkVersion: Int = 1509) throws -> SchemaStatements {
        try TestModels.layout(
            """
            <entity name="Foo">
                <attribute name="a" attributeType="Integer 16"/><attribute name="b" attributeType="Integer 16"/>
                <attribute name="c" attributeType="Integer 16"/><attribute name="flag" attributeType="Boolean"/>
                <attribute name="gone" attributeType="String" transient="YES"/>
                <relationship name="one" maxCount="1" destinationEntity="Foo"/>
                \(index)
            </entity>
            """, frameworkVersion: frameworkVersion
        ).statements()
    }

    private func partial(_ predicate: String, frameworkVersion: Int = 1509) throws -> String? {
        let index = """
            <fetchIndex name="byB" partialIndexPredicate="\(predicate)"><fetchIndexElement property="b" type="Binary" \
            order="descending"/></fetchIndex>
            """
        return try statements(index, frameworkVersion: frameworkVersion).indexStatements
            .first { $0.name == "Z_Foo_byB" }?.sql
    }

    @Test("elements keep their order and direction; self and entity are house columns")
    func elements() throws {
        let index = """
            <fetchIndex name="Mixed"><fetchIndexElement property="b" type="Binary" order="descending"/>
            <fetchIndexElement expression="self" expressionType="Integer 64" type="Binary" order="ascending"/>
            <fetchIndexElement property="one" type="Binary" order="ascending"/></fetchIndex>
            """
        #expect(
            try statements(index).indexStatements.map(\.sql) == [
                "CREATE INDEX ZFOO_ZONE_INDEX ON ZFOO (ZONE)",
                "CREATE INDEX Z_Foo_Mixed ON ZFOO (ZB COLLATE BINARY DESC, Z_PK COLLATE BINARY ASC, "
                    + "ZONE COLLATE BINARY ASC)",
            ])
    }

    @Test("an index on a to-one alone or on what isn't stored is left out", arguments: ["one", "gone"])
    func skipped(property: String) throws {
        let index = """
            <fetchIndex name="x"><fetchIndexElement property="\(property)" type="Binary" order="descending"/></fetchIndex>
            """
        #expect(try statements(index).indexStatements.map(\.name) == ["ZFOO_ZONE_INDEX"])
    }

    @Test("a one-element ascending index gives a second one with the attribute's name, before it")
    func implicit() throws {
        let index = """
            <fetchIndex name="byA"><fetchIndexElement property="a" type="Binary" order="ascending"/></fetchIndex>
            """
        #expect(try statements(index).indexStatements.map(\.name) == ["ZFOO_ZONE_INDEX", "Z_Foo_a", "Z_Foo_byA"])
    }

    @Test(
        "a partial index has every compound in its own brackets",
        arguments: [
            ("a == 1", "ZA = 1"), ("a != -1", "ZA <> -1"), ("a &gt; 3", "ZA > 3"), ("a == nil", "ZA IS NULL"),
            ("one != nil", "ZONE IS NOT NULL"), ("flag == YES", "ZFLAG = 1"),
            ("a = 0 AND b = 5", "(ZA = 0 AND ZB = 5)"),
            ("a = nil AND b = 0 AND (c != 0 OR flag = NO)", "(ZA IS NULL AND ZB = 0 AND (ZC <> 0 OR ZFLAG = 0))"),
        ])
    func predicates(text: String, sql: String) throws {
        let head = "CREATE INDEX Z_Foo_byB ON ZFOO (ZB COLLATE BINARY DESC) WHERE"
        #expect(try partial(text) == "\(head) \(sql)")
        #expect(try partial(text, frameworkVersion: 977) == "\(head)  \(sql)")
    }

    @Test("an index with a predicate of unknown form is left out, and that is reported")
    func unknownPredicate() throws {
        let index = """
            <fetchIndex name="byB" partialIndexPredicate="a IN {1, 2}"><fetchIndexElement property="b" type="Binary" \
            order="descending"/></fetchIndex>
            """
        let statements = try statements(index)
        #expect(statements.indexStatements.map(\.name) == ["ZFOO_ZONE_INDEX"])
        #expect(statements.unsupported.count == 1)
    }
}
