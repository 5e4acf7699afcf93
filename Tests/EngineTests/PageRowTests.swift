import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import Foundation
import Testing

@testable import CausewayEngine

/// SQLite writes a table. The values that a statement gives for a row must be those that a view finds in the
/// row's record in the file.
@Suite("Rows read from a file's pages", .timeLimit(.minutes(60)))
struct PageRowTests {
    private static let made = """
        CREATE TABLE T (V FLOAT, B BLOB, Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, N VARCHAR, D TIMESTAMP);
        WITH RECURSIVE i(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM i WHERE k < 700)
        INSERT INTO T SELECT
          CASE k % 7 WHEN 0 THEN NULL WHEN 1 THEN k WHEN 2 THEN k + 0.5 WHEN 3 THEN -k * 1000000000 WHEN 4 THEN 9e300
            WHEN 5 THEN 'text' ELSE -0.0 END,
          CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN zeroblob(k * 40) ELSE randomblob(k % 50) END,
          CASE k WHEN 1 THEN -9223372036854775807 - 1 WHEN 2 THEN -5 WHEN 3 THEN 0 WHEN 700 THEN 9223372036854775807
            ELSE k * 8 END,
          k % 3, CASE k % 11 WHEN 0 THEN hex(zeroblob(k * 9)) WHEN 1 THEN '' ELSE 'name ' || k END,
          CASE k % 4 WHEN 0 THEN NULL WHEN 1 THEN k * 1.0 ELSE k / 3.0 END FROM i;
        """
    private static let later = """
        ALTER TABLE T ADD COLUMN C VARCHAR DEFAULT 'new';
        ALTER TABLE T ADD COLUMN R FLOAT DEFAULT 2;
        ALTER TABLE T ADD COLUMN W INTEGER DEFAULT 1;
        INSERT INTO T (Z_PK, V, C, R) VALUES (100000, 3, NULL, 4), (100001, 3.5, 'own', 0.25);
        ALTER TABLE T ADD COLUMN L FLOAT;
        UPDATE T SET L = 1 WHERE Z_PK = 100001;
        """
    /// The table's columns.
    private static let columns = ["V", "B", "Z_PK", "Z_ENT", "N", "D", "C", "R", "W", "L"]
    private static let defaults: [CellValue] = [
        .null, .null, .null, .null, .null, .null, .text("new"), .integer(2), .integer(1), .null,
    ]
    private static let reals: Set = ["V", "R", "L"]

    /// The pass's columns, in the order in which it wants them.
    static let orders = [
        columns, ["Z_PK", "Z_ENT", "V", "D"], ["Z_PK", "Z_ENT", "C", "R", "V", "B", "N"],
        ["Z_PK", "Z_ENT", "L", "W", "R", "C", "D", "N", "B", "V"],
    ]

    private static func recipes(_ order: [String]) -> [CellRecipe] {
        let cell = { (name: String) in order.firstIndex(of: name) ?? 0 }
        let made: [CellRecipe] = [
            .literal(.integer(5)), .carryOr(cell("V"), .real(1)), .key(cell("V"), entity: cell("Z_ENT"), dropped: [2]),
            .entityNumber(cell("Z_ENT"), numbers: [1: 4]),
            .converted(cell("V"), NumericConversion(from: .double, to: .integer64), ifNull: nil),
            .first(.carry(cell("V")), position: cell("Z_PK")), .literalIfPresent(cell("V"), .text("here")),
            .carry(cell("V")), .carry(cell("Z_PK")),
        ]
        return order.indices.map { .carry($0) } + made
    }

    @Test(
        "are the same as a statement's rows for projector, digests and screening", arguments: orders,
        ["PRAGMA page_size = 512", "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL"])
    func same(order: [String], settings: String) throws {
        let path = NSTemporaryDirectory() + "causeway-pages-\(UUID().uuidString).sqlite"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        try connection.execute(settings + ";" + Self.made + Self.later)
        let root = try Self.root(connection)

        let key = order.firstIndex(of: "Z_PK") ?? 0
        var pass = try RowFixture.pass(Self.recipes(order), columns: order)
        pass.key = key
        let map = try RowMap(
            order.map { name in
                name == "Z_PK"
                    ? .rowid : .column(Self.columns.firstIndex(of: name) ?? 0, isReal: Self.reals.contains(name))
            }, defaults: Self.defaults)
        let statements = try RowFixture.batch(pass, in: connection)
        let pages = try TableLeaves(path).rows(root: root)
        #expect(statements.count == 702 && pages.count == 702)

        let (page, statement) = (RowView(map), RowView(capacity: order.count))
        for row in 0..<pages.count {
            try page.load(row, of: pages)
            try statement.load(row, of: statements)
            #expect(page.rowid == statement.rowid)
            for cell in order.indices {
                let (one, other) = (try RowFixture.value(page, cell), try RowFixture.value(statement, cell))
                #expect(one == other, "row \(page.rowid), \(order[cell])")
            }
        }

        let bad = BadRow(code: .migration, property: "v", reason: "NULL")
        let screening = RowScreening(
            pass: pass, demands: [0: [.notNull(cell: order.firstIndex(of: "V") ?? 0, bad)]], takesStrangers: true,
            columns: zip(order, 0...).map { ($0, $1) }, entities: [:], storeUUID: "")
        for screening in [nil, screening] {
            let (one, other) = (RowBatch(), RowBatch())
            let ofPages = try RowProjector(pass, map: map, external: RowFixture.external, screening: screening)
            let ofStatements = try RowProjector(pass, external: RowFixture.external, screening: screening)
            try ofPages.project(pages, into: one)
            try ofStatements.project(statements, into: other)
            #expect(one.count == other.count && one.count == (screening == nil ? 702 : 602))
            for row in 0..<one.count {
                #expect(one.rowid(at: row) == other.rowid(at: row))
                #expect(unsafe one.record(at: row).elementsEqual(other.record(at: row)))
            }
            let digest = ofPages.takeDigest()
            #expect(digest == ofStatements.takeDigest() && digest.differenceOfSides().isEmpty)
            let (lines, others) = (ofPages.takeQuarantined(), ofStatements.takeQuarantined())
            #expect(lines.lines == others.lines && lines.keys == others.keys && lines.count == 702 - one.count)
        }
    }

    private static func root(_ connection: borrowing Connection) throws -> Int {
        var statement = try connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'T'")
        try #require(try statement.step())
        return Int(statement.int64(at: 0))
    }
}
