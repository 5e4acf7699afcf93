import CausewayModel
import CausewayStoreFormat
import Foundation

/// A store of a random model, with values, sizes, gaps and free pages that a page engine may stumble over. All follows
/// from the seed.
struct RandomStore {
    let seed: Int
    let scenario: Scenario
    let pageSize: Int
    /// 0 none, 1 full, 2 incremental: PRAGMA auto_vacuum.
    let autoVacuum: Int

    init(seed: Int, _ random: inout Seeded) throws {
        self.seed = seed
        var versions = try RandomModel.history(Int.random(in: 2...4, using: &random), &random)
        for index in versions.indices { versions[index] = Self.embellished(versions[index], &random) }
        let framework = Bool.random(using: &random) ? 1509 : 866
        let layout = try StoreLayout(
            model: try ModelReader.model(source: Array(versions[0].utf8)), frameworkVersion: framework)
        pageSize =
            512
            << (Int.random(in: 0..<3, using: &random) > 0
                ? Int.random(in: 0...3, using: &random) : Int.random(in: 4...7, using: &random))
        autoVacuum = Int.random(in: 0...2, using: &random)
        let count = [1, 4, 15, 60].randomElement(using: &random) ?? 4
        var rows = RandomRows(layout)
        var values = RandomValues(layout, pageSize: pageSize, rows: count)
        let start = rows.statements(count, &random)
        scenario = try Scenario(
            versions: versions, framework: framework,
            rows: "BEGIN;" + start + values.own(&random) + values.changes(&random) + "COMMIT;")
        try Scenario.execute(
            """
            PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(autoVacuum); VACUUM;
            BEGIN; \(values.changes(&random)) COMMIT;
            \(Bool.random(using: &random) ? "PRAGMA incremental_vacuum(3);" : "")
            \(Int.random(in: 0..<4, using: &random) == 0 ? "PRAGMA journal_mode = WAL;" : "")
            """, scenario.store)
    }

    /// Attributes of the types that `RandomModel` lacks, in roots, and indexes.
    private static func embellished(_ version: String, _ random: inout Seeded) -> String {
        let parts = version.split(separator: "<entity ", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            guard index > 0, let start = part.firstIndex(of: ">"), let end = part.range(of: "</entity>") else {
                return String(part)
            }
            let head = part[...start]
            var properties = String(part[part.index(after: start)..<end.lowerBound])
            let isRoot = !head.contains("parentEntity")
            for (name, type) in Self.types where isRoot && Int.random(in: 0..<4, using: &random) > 0 {
                properties += attribute(name, type)
            }
            // Each begins with `<attribute name="`.
            let names = properties.split(separator: "<attribute name=\"", omittingEmptySubsequences: false).dropFirst()
                .compactMap { $0.split(separator: "\"").first }
            for name in names where Int.random(in: 0..<4, using: &random) == 0 {
                properties += """
                    <fetchIndex name="by\(name)"><fetchIndexElement property="\(name)" type="Binary" \
                    order="\(Bool.random(using: &random) ? "ascending" : "descending")"/></fetchIndex>
                    """
            }
            return head + properties + part[end.lowerBound...]
        }.joined(separator: "<entity ")
    }

    private static let types = [
        ("xdata", "Binary"), ("xday", "Date"), ("xprice", "Decimal"), ("xid", "UUID"), ("xsize", "Float"),
        ("xlink", "URI"), ("xcount", "Integer 32"),
    ]
}

/// Statements that change a store's cells, in place and by deleting rows.
struct RandomValues {
    private let layout: StoreLayout
    private let pageSize: Int
    private let rows: Int
    /// The app's own tables.
    private var tables: [String] = []

    init(_ layout: StoreLayout, pageSize: Int, rows: Int) {
        self.layout = layout
        self.pageSize = pageSize
        self.rows = rows
    }

    /// Lengths at which a record stays on its page or just doesn't, and at which an overflow page is just full
    /// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
    private func length(_ random: inout Seeded) -> Int {
        let small = Int.random(in: 0...60, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return small
        case 1: return max(0, pageSize - 35 - small)
        case 2: return max(0, (pageSize - 12) * 32 / 255 - 23 + small - 30)
        case 3: return (pageSize - 4) * Int.random(in: 1...4, using: &random) - 30 + small
        case 4: return rows > 20 ? small : min(70_000, pageSize * 12)
        default: return small * 5
        }
    }

    private static let integers = [
        "0", "1", "-1", "2", "127", "128", "-128", "-129", "32767", "32768", "-32769", "8388607", "8388608",
        "2147483647", "2147483648", "140737488355327", "140737488355328", "9223372036854775807",
        "-9223372036854775807 - 1",
    ]
    private static let reals = [
        "0.0", "-0.0", "0.5", "1e300", "-1e-300", "9e999", "-9e999", "3.0", "140737488355328.0", "9007199254740993.0",
    ]
    /// Values of a storage class that Core Data doesn't write into the column.
    private static let strangers = ["'abc'", "'12'", "'1.50'", "x'00ff'", "''", "x''", "7", "2.25", "'5e3'"]

    private func value(_ type: String, _ random: inout Seeded, odd: Bool) -> String {
        if odd, Int.random(in: 0..<5, using: &random) == 0 {
            return Self.strangers.randomElement(using: &random) ?? "NULL"
        }
        switch type {
        case "INTEGER": return Self.integers.randomElement(using: &random) ?? "1"
        case "VARCHAR": return "printf('%.*c', \(length(&random)), '\(Bool.random(using: &random) ? "x" : "é")')"
        case "BLOB": return "zeroblob(\(length(&random)))"
        default:
            return Int.random(in: 0..<3, using: &random) == 0
                ? Self.integers.randomElement(using: &random) ?? "1" : Self.reals.randomElement(using: &random) ?? "1.5"
        }
    }

    private func some(_ key: String, _ random: inout Seeded) -> String {
        let modulus = Int.random(in: 1...9, using: &random)
        return "\(key) % \(modulus) = \(Int.random(in: 0..<modulus, using: &random))"
    }

    /// Attributes get other values, rows go.
    mutating func changes(_ random: inout Seeded) -> String {
        // Preflight may refuse such values; then both engines must.
        let isOdd = Int.random(in: 0..<8, using: &random) == 0
        var result = ""
        for table in layout.tables {
            for column in table.columns {
                guard case .attribute = column.role, Bool.random(using: &random) else { continue }
                let new = value(column.declaredType, &random, odd: isOdd)
                result += "UPDATE \(table.name) SET \(column.name) = \(new) WHERE \(some("Z_PK", &random));\n"
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                result += "DELETE FROM \(table.name) WHERE \(some("(Z_PK / 3)", &random));\n"
            }
        }
        for table in tables {
            result +=
                "UPDATE \(table) SET b = \(value("VARCHAR", &random, odd: true)) WHERE \(some("rowid", &random));\n"
            if Bool.random(using: &random) { result += "DELETE FROM \(table) WHERE \(some("rowid", &random));\n" }
        }
        return result
    }

    /// Tables of the app's own, with every storage class and extreme rowids.
    mutating func own(_ random: inout Seeded) -> String {
        let kinds = [
            "(a, b)", "(id INTEGER PRIMARY KEY, b TEXT, c REAL)", "(a INT, b BLOB, c NUMERIC)",
            "(a FLOAT, b VARCHAR) STRICT", "(b, rowid2 INTEGER PRIMARY KEY AUTOINCREMENT)", "(a TEXT UNIQUE, b)",
            "(a, b DEFAULT 'x')",
        ]
        var result = ""
        for number in 0..<Int.random(in: 0...2, using: &random) {
            let kind = kinds.randomElement(using: &random) ?? kinds[0]
            // STRICT knows no such types.
            let text = kind.hasSuffix("STRICT") ? "(a REAL, b ANY) STRICT" : kind
            let table = "app\(number)"
            tables.append(table)
            result += "CREATE TABLE \(table) \(text);\n"
            if Bool.random(using: &random) { result += "CREATE INDEX \(table)i ON \(table)(b);\n" }
            var rowid =
                ["-9223372036854775807", "-100", "0", "4611686018427387904"].randomElement(using: &random) ?? "0"
            for _ in 0..<rows * 2 {
                let type = ["INTEGER", "VARCHAR", "BLOB", "FLOAT"].randomElement(using: &random) ?? "BLOB"
                result += "INSERT INTO \(table) (rowid, b) VALUES (\(rowid), \(value(type, &random, odd: true)));\n"
                rowid = "(SELECT max(rowid) + \(Int.random(in: 1...300, using: &random)) FROM \(table))"
            }
        }
        return result
    }
}
