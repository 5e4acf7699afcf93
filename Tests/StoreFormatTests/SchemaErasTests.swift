import CausewayModel
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct SchemaErasTests {
    private static let entities = """
        <entity name="Tag">
            <attribute name="name" attributeType="String" indexed="YES"/>
            <attribute name="kind" attributeType="Integer 16"/>
            <relationship name="notes" toMany="YES" destinationEntity="Note" inverseName="tags" inverseEntity="Note"/>
            <relationship name="owner" maxCount="1" destinationEntity="Note"/>
            <compoundIndexes><compoundIndex><index value="kind"/><index value="name"/></compoundIndex></compoundIndexes>
            <uniquenessConstraints>
                <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
                <uniquenessConstraint><constraint value="kind"/><constraint value="owner"/></uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
        <entity name="Note">
            <relationship name="tags" toMany="YES" destinationEntity="Tag" inverseName="notes" inverseEntity="Tag"/>
        </entity>
        """

    private func names(_ version: Int) throws -> [String] {
        try TestModels.layout(Self.entities, frameworkVersion: version).statements().inOrder.map(\.name)
    }

    @Test("up to 519 indexes follow their table, join tables have none, and there is no model cache")
    func ancient() throws {
        #expect(
            try names(519) == [
                "ZNOTE", "Z_1TAGS", "ZTAG", "ZTAG_ZNAME_INDEX", "ZTAG_ZOWNER_INDEX", "ZTAG_ZKIND_ZNAME",
                "Z_PRIMARYKEY", "Z_METADATA",
            ])
    }

    @Test("up to 754 all tables come first and indexes are named for table and column")
    func old() throws {
        #expect(
            try names(754) == [
                "ZNOTE", "Z_1TAGS", "ZTAG", "Z_1TAGS_Z_2TAGS_INDEX", "ZTAG_ZNAME_INDEX", "ZTAG_ZOWNER_INDEX",
                "ZTAG_ZKIND_ZNAME", "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE",
            ])
    }

    @Test("from 847 fetch indexes are named for entity and index")
    func fetchIndexes() throws {
        #expect(
            try names(851).dropLast(3) == [
                "ZNOTE", "Z_1TAGS", "ZTAG", "Z_1TAGS_Z_2TAGS_INDEX", "ZTAG_ZOWNER_INDEX", "Z_Tag_kind_name",
                "Z_Tag_name",
            ])
    }

    @Test("uniqueness is part of the table up to 851", arguments: [519, 754, 851])
    func uniqueTables(version: Int) throws {
        #expect(
            try TestModels.layout(Self.entities, frameworkVersion: version).tableText("Tag")
                == "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZKIND INTEGER, "
                + "ZOWNER INTEGER, ZNAME VARCHAR UNIQUE, CONSTRAINT ZKIND_ZOWNER UNIQUE (ZKIND, ZOWNER))")
    }

    @Test("uniqueness is an index from 865", arguments: [866, 1509])
    func uniqueIndexes(version: Int) throws {
        let statements = try TestModels.layout(Self.entities, frameworkVersion: version).statements()
        #expect(
            statements.indexStatements.filter { $0.index?.isUnique == true }.map(\.sql) == [
                "CREATE UNIQUE INDEX Z_Tag_UNIQUE_name ON ZTAG (ZNAME COLLATE BINARY ASC)",
                "CREATE UNIQUE INDEX Z_Tag_UNIQUE_kind_owner ON ZTAG (ZKIND COLLATE BINARY ASC, ZOWNER COLLATE BINARY ASC)",
            ])
        #expect(statements.tableStatements.allSatisfy { !$0.sql.contains("UNIQUE") })
    }

    @Test("an index's value has the meaning that SQLite gives to its text", arguments: [519, 754, 851, 866, 1509])
    func indexValues(version: Int) throws {
        let layout = try TestModels.layout(Self.entities, frameworkVersion: version)
        let statements = try layout.statements()
        let known = (statements.indexStatements + statements.historyStatements).compactMap(\.index)
        let understood = try DestinationSchema(statements, hasHistory: true).indexes([])
        #expect(!known.isEmpty)
        for index in known {
            let found = try #require(understood.first { $0.name == index.name })
            #expect(found.table == index.table && found.columns == index.columns)
            #expect(found.isUnique == index.isUnique && found.isPartial == index.isPartial)
        }
        // Every other index belongs to a constraint.
        let others = understood.filter { index in !known.contains { $0.name == index.name } }
        #expect(others.allSatisfy { $0.origin == .constraint && $0.isUnique })
        #expect(others.map(\.table).contains("Z_1TAGS"))
    }

    @Test("all phases together make the whole schema")
    func phases() throws {
        let statements = try TestModels.layout(Self.entities).statements()
        let phases =
            statements.tableStatements + statements.indexStatements + statements.rTreeStatements
            + statements.triggerStatements
        #expect(Set(phases) == Set(statements.modelStatements))
        #expect(phases.count == statements.modelStatements.count)
    }
}
