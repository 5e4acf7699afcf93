import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite("Statements that read a source table")
struct RowSelectTests {
    private func name(_ text: String) throws -> SQLIdentifier { try SQLIdentifier(text) }

    @Test("columns are named, quoted, and taken once")
    func columns() throws {
        var select = RowSelect(table: try name("ZA\"B"))
        #expect(select.index(of: .column(try name("Z_PK"))) == 0)
        #expect(select.index(of: .column(try name("order"))) == 1)
        #expect(select.index(of: .column(try name("Z_PK"))) == 0)
        #expect(select.sql == #"SELECT t."Z_PK", t."order" FROM "ZA""B" AS t ORDER BY t.rowid"#)
        #expect(select.countSQL == #"SELECT count(*) FROM "ZA""B" AS t"#)
    }

    @Test("a link in another table gives the first key by order, then by key; and its Z_ENT")
    func related() throws {
        let key = RowSelect.RelatedKey(
            table: try name("Z_1X"), key: try name("a"), value: try name("b"), order: try name("o"))
        let plain = RowSelect.RelatedKey(table: try name("ZB"), key: try name("a"), value: try name("Z_PK"))
        let select = RowSelect(
            table: try name("ZA"), cells: [.related(key), .relatedEntity(plain, table: try name("ZB"))])
        let first = #"(SELECT o."b" FROM "Z_1X" AS o WHERE o."a" = t."Z_PK" ORDER BY o."o", o."b" LIMIT 1)"#
        let second = #"(SELECT o."Z_PK" FROM "ZB" AS o WHERE o."a" = t."Z_PK" ORDER BY o."Z_PK" LIMIT 1)"#
        #expect(
            select.sql
                == "SELECT \(first), (SELECT r.\"Z_ENT\" FROM \"ZB\" AS r WHERE r.\"Z_PK\" = \(second)) "
                + "FROM \"ZA\" AS t ORDER BY t.rowid")
    }

    @Test("places of a new list are 2048, 3072, … by key")
    func position() throws {
        let select = RowSelect(
            table: try name("ZA"),
            cells: [.position(owner: .column(try name("ZOWNER")), by: try name("Z_PK"))])
        #expect(
            select.sql == """
                SELECT CASE WHEN t."ZOWNER" IS NULL THEN NULL ELSE 1024 + 1024 * row_number() OVER (PARTITION BY \
                t."ZOWNER" ORDER BY t."Z_PK") END FROM "ZA" AS t ORDER BY t.rowid
                """)
    }

    @Test("conditions hold for the rows and for their count")
    func conditions() throws {
        let select = RowSelect(
            table: try name("Z_1X"), cells: [.column(try name("a")), .column(try name("b"))],
            conditions: [
                .notNull(.column(try name("a"))), .oneOf(try name("b"), [1, 2]),
                .targetIsNot(try name("b"), table: try name("ZB"), entities: [3, 4]),
            ], order: [1, 2])
        let conditions = """
            WHERE t."a" IS NOT NULL AND t."b" IN (1, 2) AND NOT EXISTS (SELECT 1 FROM "ZB" AS e \
            WHERE e."Z_PK" = t."b" AND e."Z_ENT" IN (3, 4))
            """
        #expect(select.sql == "SELECT t.\"a\", t.\"b\" FROM \"Z_1X\" AS t \(conditions) ORDER BY 1, 2")
        #expect(select.countSQL == "SELECT count(*) FROM \"Z_1X\" AS t \(conditions)")
    }

    @Test("rows in another order than the table's are read as they lie and sorted, unless an index has all of them")
    func order() throws {
        let cells = try ["a", "b", "o"].map { RowSelect.Cell.column(try name($0)) }
        let list = RowSelect(table: try name("Z_1X"), cells: cells, order: [1, 2])
        #expect(list.sql == #"SELECT t."a", t."b", t."o" FROM "Z_1X" AS t NOT INDEXED ORDER BY 1, 2"#)
        let set = RowSelect(table: try name("Z_1X"), cells: Array(cells.prefix(2)), order: [1, 2])
        #expect(set.sql == #"SELECT t."a", t."b" FROM "Z_1X" AS t ORDER BY 1, 2"#)
    }
}
