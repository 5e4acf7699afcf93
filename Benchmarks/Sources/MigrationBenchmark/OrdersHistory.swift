import Foundation

/// Versions of a model that mapping models lead through, written out when they are needed.
struct OrdersHistory {
    static let chainSteps = 4

    /// The models' contents, from v1 on.
    private let versions: [String]
    /// Fills a store of v1 with so many rows.
    let fill: @Sendable (Int) -> [String]

    /// Writes the bundle of models.
    func write(to bundle: String) throws {
        for (index, content) in versions.enumerated() {
            let folder = "\(bundle)/v\(index + 1).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(content)</model>
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/contents"))
        }
    }

    /// Rows of Z_PRIMARYKEY; entities are numbered in the order of their names.
    static func keys(_ entities: [String]) -> [String] {
        entities.enumerated().map { index, entity in
            "INSERT INTO Z_PRIMARYKEY SELECT \(index + 1), '\(entity)', 0, max(Z_PK) FROM Z\(entity.uppercased())"
        }
    }

    static let computed = OrdersHistory(
        versions: [
            orders(code + numbers),
            orders(code + attribute("total", "Double") + attribute("makerName") + attribute("size")),
        ], fill: lines)

    static let kept = OrdersHistory(
        versions: [orders(code + numbers), orders(code + numbers, maker: "founded")], fill: lines)

    static let chain = OrdersHistory(
        versions: (0...chainSteps).map { step in
            let own = step == 0 ? "" : attribute("step\(step)", "Integer 16", value: String(step))
            return orders(code + numbers + own)
        }, fill: lines)

    static let merged = OrdersHistory(
        versions: [
            text("Draft", "draft") + text("Letter", "letter")
                + entity(
                    "Remark",
                    attribute("words") + toOne("draft", "Draft", "remarks") + toOne("letter", "Letter", "remarks")),
            text("Text", "subject") + entity("Remark", attribute("words") + toOne("subject", "Text", "remarks")),
        ], fill: texts)

    // MARK: - Rows

    private static func lines(_ rows: Int) -> [String] {
        let makers = max(1, rows / 1_000)
        return [
            "DELETE FROM ZLINE", "DELETE FROM ZMAKER",
            """
            WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(rows))
            INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZPRICE, ZQUANTITY, ZMAKER)
            SELECT k, 1, 1, printf('%08d-%064x', k, k * 7919), k % 1000 / 4.0, k * 7 % 100 + 1, k * 31 % \(makers) + 1
            FROM n
            """,
            """
            WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(makers))
            INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT k, 2, 1, 'maker ' || k FROM n
            """,
            """
            UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Line' THEN \(rows) ELSE \(makers) END
            """,
        ]
    }

    private static func texts(_ rows: Int) -> [String] {
        let each = max(1, rows / 4)
        let remarks = max(2, rows - 2 * each)
        let count = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < "
        return [
            "DELETE FROM ZDRAFT", "DELETE FROM ZLETTER", "DELETE FROM ZREMARK",
            """
            \(count)\(each)) INSERT INTO ZDRAFT (Z_PK, Z_ENT, Z_OPT, ZBODY)
            SELECT k, 1, 1, printf('draft %08d-%064x', k, k * 7919) FROM n
            """,
            """
            \(count)\(each)) INSERT INTO ZLETTER (Z_PK, Z_ENT, Z_OPT, ZBODY)
            SELECT k, 2, 1, printf('letter %08d-%064x', k, k * 7919) FROM n
            """,
            """
            \(count)\(remarks)) INSERT INTO ZREMARK (Z_PK, Z_ENT, Z_OPT, ZWORDS, ZDRAFT, ZLETTER)
            SELECT k, 3, 1, printf('words %08d', k), iif(k % 2, k * 31 % \(each) + 1, NULL),
                iif(k % 2, NULL, k * 37 % \(each) + 1) FROM n
            """,
            """
            UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Remark' THEN \(remarks) ELSE \(each) END
            """,
        ]
    }

    // MARK: - Models

    private static let code = attribute("code")
    private static let numbers = attribute("price", "Double") + attribute("quantity", "Integer 32")

    private static func orders(_ line: String, maker: String = "") -> String {
        let more = maker.isEmpty ? "" : attribute(maker, "Integer 16")
        return entity("Line", line + toOne("maker", "Maker", "lines"))
            + entity("Maker", attribute("name") + more + toMany("lines", "Line", "maker"))
    }

    private static func text(_ name: String, _ inverse: String) -> String {
        entity(name, attribute("body") + toMany("remarks", "Remark", inverse))
    }

    private static func entity(_ name: String, _ content: String) -> String {
        "<entity name=\"\(name)\">\(content)</entity>"
    }

    private static func attribute(_ name: String, _ type: String = "String", value: String? = nil) -> String {
        let value = value.map { " defaultValueString=\"\($0)\"" } ?? ""
        return "<attribute name=\"\(name)\" attributeType=\"\(type)\" optional=\"YES\"\(value)/>"
    }

    private static func toOne(_ name: String, _ entity: String, _ inverse: String) -> String {
        relationship(name, entity, inverse, "maxCount=\"1\"")
    }

    private static func toMany(_ name: String, _ entity: String, _ inverse: String) -> String {
        relationship(name, entity, inverse, "toMany=\"YES\"")
    }

    private static func relationship(_ name: String, _ entity: String, _ inverse: String, _ count: String) -> String {
        """
        <relationship name="\(name)" optional="YES" \(count) deletionRule="Nullify" destinationEntity="\(entity)" \
        inverseName="\(inverse)" inverseEntity="\(entity)"/>
        """
    }
}
