import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct RTreeTests {
    private static let entities = """
        <entity name="Place">
            <attribute name="latitude" attributeType="Double"/><attribute name="longitude" attributeType="Double"/>
            <fetchIndex name="bounds"><fetchIndexElement property="latitude" type="RTree" order="ascending"/>
            <fetchIndexElement property="longitude" type="RTree" order="ascending"/></fetchIndex>
        </entity>
        """

    @Test("an R-tree is a virtual table with three triggers")
    func texts() throws {
        let statements = try TestModels.layout(Self.entities).statements()
        #expect(
            statements.rTreeStatements.map(\.sql) == [
                "CREATE VIRTUAL TABLE Z_RT_Place_bounds USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, "
                    + "ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)"
            ])
        #expect(
            statements.triggerStatements.map(\.sql).first
                == "CREATE TRIGGER Z_RT_Place_bounds_INSERT AFTER INSERT ON ZPLACE FOR EACH ROW BEGIN INSERT OR REPLACE "
                + "INTO Z_RT_Place_bounds (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) VALUES "
                + "(NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END")
        #expect(statements.triggerStatements.map(\.table) == ["ZPLACE", "ZPLACE", "ZPLACE"])
        #expect(statements.indexStatements.isEmpty)
    }

    @Test("filling it at once gives the same rows as the triggers")
    func fill() throws {
        let layout = try TestModels.layout(Self.entities)
        let store = try TestModels.store(layout)
        // Hardened connections don't allow triggers to write to a virtual table.
        try store.execute("PRAGMA trusted_schema = ON")
        try store.execute(
            """
            INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZLATITUDE, ZLONGITUDE)
            VALUES (1, 1, 1, 48.137, 11.575), (5, 1, 1, -33.9, 18.4), (9, 1, 1, NULL, NULL);
            """)
        let select = """
            SELECT quote(Z_PK) || quote(ZLATITUDE_MIN) || quote(ZLATITUDE_MAX) || quote(ZLONGITUDE_MIN)
            || quote(ZLONGITUDE_MAX) FROM Z_RT_Place_bounds ORDER BY Z_PK
            """
        let byTriggers = try store.texts(select)
        #expect(byTriggers.count == 3)
        try store.execute("DELETE FROM Z_RT_Place_bounds")
        try store.execute(try #require(try layout.statements().rTreeFills["Z_RT_Place_bounds"]))
        #expect(try store.texts(select) == byTriggers)
    }
}
