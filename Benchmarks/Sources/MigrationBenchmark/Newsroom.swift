import Causeway
import Foundation

/// The model history that is measured, and its migration as a person would write it in SQL.
enum Newsroom {
    static let source = "v1"
    static let target = "v2"

    /// `Models/` beside the sources of this package.
    static let models: String = {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return package.appendingPathComponent("Models/Newsroom.xcdatamodeld").path
    }()

    /// Rows and links by table, the destination's columns beside what fills them.
    private static let transfers = [
        """
        INSERT INTO ZARTICLE (Z_PK, Z_ENT, Z_OPT, ZISDRAFT, ZISFEATURED, ZVIEWS, ZAUTHOR, ZCREATED, ZRATING, ZBODY,
            ZHEADLINE, ZIDENTIFIER)
        SELECT Z_PK, Z_ENT, Z_OPT, ZISDRAFT, 0, ZVIEWS, ZAUTHOR, ZCREATED, ZRATING, ZBODY, ZTITLE, ZIDENTIFIER
        FROM source.ZARTICLE
        """,
        """
        INSERT INTO Z_1TAGS (Z_1ARTICLES, Z_4TAGS) SELECT Z_1ARTICLES, Z_4TAGS FROM source.Z_1TAGS
        """,
        """
        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZEMAIL, ZNAME)
        SELECT Z_PK, Z_ENT, Z_OPT, 'unknown', ZEMAIL, ZNAME FROM source.ZAUTHOR
        """,
        """
        INSERT INTO ZCOMMENT (Z_PK, Z_ENT, Z_OPT, ZARTICLE, ZAUTHOR, ZPOSTED, ZMESSAGE)
        SELECT Z_PK, Z_ENT, Z_OPT, ZARTICLE, ZAUTHOR, ZPOSTED, ZTEXT FROM source.ZCOMMENT
        """,
        """
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM source.ZTAG
        """,
        // A few kilobytes whatever the store's size; what stands in the last two doesn't matter to the time.
        "INSERT INTO Z_PRIMARYKEY SELECT * FROM source.Z_PRIMARYKEY",
        "INSERT INTO Z_METADATA SELECT * FROM source.Z_METADATA",
        "INSERT INTO Z_MODELCACHE SELECT * FROM source.Z_MODELCACHE",
    ]

    /// Tables whose rows must be the same in both results.
    private static let tables = ["ZARTICLE", "Z_1TAGS", "ZAUTHOR", "ZCOMMENT", "ZTAG", "Z_PRIMARYKEY"]

    /// The whole work as SQL: the same tables as the migration makes, the rows, then the same indexes.
    static func script(for store: String) throws -> String {
        let plan = try Migrator(store: store, models: models).plan()
        let schema = plan.steps.flatMap(\.statements)
        let isTable = { (sql: String) in sql.hasPrefix("CREATE TABLE") }
        let statements = schema.filter(isTable) + transfers + schema.filter { !isTable($0) }
        return statements.map { "\($0);\n" }.joined()
    }

    /// Tables that differ between two stores, with the number of rows that only one of them has.
    static func differences(_ first: String, _ second: String) throws -> [String] {
        let database = try Database(first)
        try database.execute("ATTACH '\(second)' AS other")
        return try tables.compactMap { table in
            let only = try [("main", "other"), ("other", "main")].map { here, there in
                try database.integer(
                    "SELECT count(*) FROM (SELECT * FROM \(here).\(table) EXCEPT SELECT * FROM \(there).\(table))")
            }
            return only == [0, 0] ? nil : "\(table) (\(only[0]), \(only[1]))"
        }
    }
}
