import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite("Row shapes and the statements that read them", .timeLimit(.minutes(60)))
struct RowShapeTests {
    private func name(_ text: String) throws -> SQLIdentifier { try SQLIdentifier(text) }

    @Test("columns are named, quoted, and selected once")
    func columns() throws {
        var shape = RowShape(table: try name("ZA\"B"))
        #expect(shape.index(of: .column(try name("Z_PK"))) == 0)
        #expect(shape.index(of: .column(try name("order"))) == 1)
        #expect(shape.index(of: .column(try name("Z_PK"))) == 0)
        #expect(shape.sql == #"SELECT t."Z_PK", t."order" FROM "ZA""B" AS t NOT INDEXED ORDER BY t.rowid"#)
        #expect(shape.countSQL == #"SELECT count(*) FROM "ZA""B" AS t"#)
    }

    @Test("a link in another table gives the first key by order, then by key; and its Z_ENT")
    func related() throws {
        let key = RowShape.RelatedKey(
            table: try name("Z_1X"), key: try name("a"), value: try name("b"), order: try name("o"))
        let plain = RowShape.RelatedKey(table: try name("ZB"), key: try name("a"), value: try name("Z_PK"))
        let shape = RowShape(
            table: try name("ZA"), cells: [.related(key), .relatedEntity(plain, table: try name("ZB"))])
        func links(_ place: Int, _ key: RowShape.RelatedKey) -> String {
            " LEFT JOIN (SELECT k, v FROM (\(key.first)) WHERE n = 1) AS f\(place) ON f\(place).k = t.\"Z_PK\""
        }
        #expect(
            shape.sql
                == "SELECT f0.v, (SELECT r.\"Z_ENT\" FROM \"ZB\" AS r WHERE r.\"Z_PK\" = f1.v) "
                + "FROM \"ZA\" AS t NOT INDEXED" + links(0, key) + links(1, plain) + " ORDER BY t.rowid")
        #expect(
            key.first == """
                SELECT o."a" AS k, o."b" AS v, row_number() OVER (PARTITION BY o."a" ORDER BY o."o", o."b") AS n \
                FROM "Z_1X" AS o NOT INDEXED
                """)
    }

    @Test("places of a new list are 2048, 3072, … by key")
    func position() throws {
        let shape = RowShape(
            table: try name("ZA"),
            cells: [.position(owner: .column(try name("ZOWNER")), by: try name("Z_PK"))])
        #expect(
            shape.sql == """
                SELECT p0.v FROM "ZA" AS t NOT INDEXED LEFT JOIN (SELECT t.rowid AS k, 1024 + 1024 * row_number() \
                OVER (PARTITION BY t."ZOWNER" ORDER BY t."Z_PK", t.rowid) AS v FROM "ZA" AS t NOT INDEXED \
                WHERE t."ZOWNER" IS NOT NULL) AS p0 ON p0.k = t.rowid ORDER BY t.rowid
                """)
    }

    @Test("conditions apply to the rows and to their count")
    func conditions() throws {
        let shape = RowShape(
            table: try name("Z_1X"), cells: [.column(try name("a")), .column(try name("b"))],
            conditions: [
                .notNull(.column(try name("a"))), .oneOf(try name("b"), [1, 2]),
                .targetIsNot(try name("b"), table: try name("ZB"), entities: [3, 4]),
            ], order: [0, 1])
        let conditions = """
            WHERE t."a" IS NOT NULL AND t."b" IN (1, 2) AND NOT EXISTS (SELECT 1 FROM "ZB" AS e \
            WHERE e."Z_PK" = t."b" AND e."Z_ENT" IN (3, 4))
            """
        #expect(shape.sql == "SELECT t.\"a\", t.\"b\" FROM \"Z_1X\" AS t NOT INDEXED \(conditions) ORDER BY 1, 2")
        #expect(shape.countSQL == "SELECT count(*) FROM \"Z_1X\" AS t \(conditions)")
    }

    @Test("rows in another order than the table's are read as they lie and sorted, whatever an index has")
    func order() throws {
        let cells = try ["a", "b", "o"].map { RowShape.Cell.column(try name($0)) }
        let list = RowShape(table: try name("Z_1X"), cells: cells, order: [0, 1])
        #expect(list.sql == #"SELECT t."a", t."b", t."o" FROM "Z_1X" AS t NOT INDEXED ORDER BY 1, 2"#)
        let set = RowShape(table: try name("Z_1X"), cells: Array(cells.prefix(2)), order: [0, 1])
        #expect(set.sql == #"SELECT t."a", t."b" FROM "Z_1X" AS t NOT INDEXED ORDER BY 1, 2"#)
    }
}
