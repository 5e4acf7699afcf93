import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

extension SeededNumbers {
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// A table of a test's source, with what becomes of it.
struct KeptTable {
    enum Fate: CaseIterable {
        case keep
        case patch
        /// Emptied, dropped, and its name taken by a new table.
        case replace
        /// Emptied and filled again; its indexes are kept.
        case refill
    }

    let name: String
    let fate: Fate
    var rows: [MadeRow]

    /// Values of the column `e` and what they become: of one byte, of two, and those without a byte.
    static let values: [Int64: Int64] = Dictionary(
        uniqueKeysWithValues: [(0, 0), (1, 1)] + (2...40).map { ($0, $0 + 1) } + (200...230).map { ($0, $0 + 40) })
    /// What the column `f` becomes in rows with these values of `e`.
    static let odd = Set(values.keys.filter { $0 % 2 == 1 })

    /// The rows as they must be in the copy.
    var wanted: [MadeRow] {
        guard fate == .patch else { return rows }
        return rows.map { row in
            var row = row
            guard case .integer(let e) = row.cells[0] else { return row }
            row.cells[0] = .integer(Self.values[e] ?? e)
            if Self.odd.contains(e), case .integer(let f) = row.cells[1] {
                row.cells[1] = .integer(Self.values[f] ?? f)
            }
            return row
        }
    }
}

/// A database with tables of all fates, with free pages, made by stock SQLite. No byte of a kept page has the marker;
/// freed trees and free pages are full of it.
struct KeptStore {
    static let marker = Array("~freed-value~".utf8)

    let store: NewStore
    let tables: [KeptTable]
    let pageSize: Int
    let autoVacuum: Int

    init(seed: UInt64) throws {
        var random = SeededNumbers(seed)
        let (pageSize, autoVacuum) = (512 << random.pick([0, 0, 0, 1, 1, 2, 3, 4, 5, 7]), random.below(3))
        try self.init(pageSize: pageSize, autoVacuum: autoVacuum, &random)
    }

    init(
        pageSize: Int, autoVacuum: Int, fates: [KeptTable.Fate]? = nil, rows: Int? = nil,
        _ random: inout SeededNumbers
    ) throws {
        self.pageSize = pageSize
        self.autoVacuum = autoVacuum
        var made: [KeptTable] = []
        let fates = fates ?? (0..<random.below(6) + 1).map { _ in random.pick(KeptTable.Fate.allCases) }
        for (number, fate) in fates.enumerated() {
            let count = rows ?? random.pick([0, 1, 3, random.below(60), random.below(600), random.below(600)])
            made.append(KeptTable(name: "t\(number)", fate: fate, rows: Self.rows(count, fate, pageSize, &random)))
        }
        tables = made
        let names = tables.map(\.name)
        store = try NewStore(
            pageSize: pageSize, autoVacuum: autoVacuum,
            names.map(Self.schema).joined() + Self.schema("gone") + Self.schema("used"))
        let connection = try store.open()
        // Debian's SQLite overwrites what it frees.
        try connection.execute("PRAGMA secure_delete = OFF; BEGIN")
        // The rows with the marker come last: no page that they have left is a kept one.
        for table in tables where table.fate != .replace { try Self.insert(table, on: connection) }
        for table in tables where table.fate == .replace { try Self.insert(table, on: connection) }
        for name in ["gone", "used"] {
            let rows = Self.rows(rows ?? 20 + random.below(300), KeptTable.Fate.replace, pageSize, &random)
            try Self.insert(KeptTable(name: name, fate: .replace, rows: rows), on: connection)
        }
        try connection.execute("COMMIT; DROP TABLE gone; DELETE FROM used WHERE rowid % 3 > 0")
        if random.below(2) == 0 { try connection.execute("DELETE FROM used") }
        try connection.close()
    }

    static func schema(_ name: String) -> String {
        "CREATE TABLE \(name)(e, f, x, p); CREATE INDEX \(name)e ON \(name)(e, x); "
            + "CREATE INDEX \(name)p ON \(name)(p DESC);"
    }

    private static func rows(
        _ count: Int, _ fate: KeptTable.Fate, _ pageSize: Int, _ random: inout SeededNumbers
    ) -> [MadeRow] {
        let keys = KeptTable.values.keys.sorted()
        var rowid: Int64 = random.pick([0, 0, -50, .min, .max - 100_000])
        return (0..<count).map { _ in
            rowid += Int64(random.below(3) + 1)
            let length =
                switch random.below(12) {
                case 0: pageSize + random.below(3 * pageSize)
                case 1: pageSize / 4 + random.below(pageSize)
                default: random.below(80)
                }
            let start = random.below(251)
            let bytes = Array(MadeRow.pattern[start..<start + length])
            let payload = fate == .replace ? marker + bytes + marker : bytes
            let entity: CellValue = random.below(20) == 0 ? .null : .integer(random.pick(keys))
            let other: CellValue =
                random.below(6) == 0 ? .text("f") : .integer(random.pick([random.pick(keys), 70, 100_000]))
            return MadeRow(rowid, [entity, other, .integer(Int64(random.below(1_000))), .blob(payload)])
        }
    }

    static func insert(_ table: KeptTable, on connection: borrowing Connection) throws {
        var statement = try connection.prepare("INSERT INTO \(table.name)(rowid, e, f, x, p) VALUES (?, ?, ?, ?, ?)")
        for row in table.rows {
            try statement.bind(row.rowid, at: 1)
            for (index, cell) in row.cells.enumerated() {
                switch cell {
                case .null: try statement.bindNull(at: index + 2)
                case .integer(let value): try statement.bind(value, at: index + 2)
                case .real(let value): try statement.bind(value, at: index + 2)
                case .text(let value): try statement.bind(value, at: index + 2)
                case .blob(let value): try statement.bind(value, at: index + 2)
                }
            }
            try statement.run()
        }
    }

    func source() throws -> PageFile {
        let file = try OpenFile(store.path, mode: .read)
        let layout = try DatabaseLayout(of: file)
        return PageFile(file, layout)
    }

    /// Each tree's fate: tables and their two indexes, `used` too.
    func plan(of file: PageFile) throws -> CopyPlan {
        var (kept, patches, freed) = ([TreeRoot](), [TreePatch](), [TreeRoot]())
        for table in tables {
            let (root, entities) = (try store.root(table.name), try store.root(table.name + "e"))
            let payloads = try store.root(table.name + "p")
            let indexes = [TreeRoot(entities, .index), TreeRoot(payloads, .index)]
            switch table.fate {
            case .keep: kept += [TreeRoot(root, .table)] + indexes
            case .patch:
                kept.append(indexes[1])
                patches += try Self.patches(table: root, index: entities)
            case .replace:
                freed += [TreeRoot(root, .table)] + indexes
            case .refill:
                freed.append(TreeRoot(root, .table))
                kept += indexes
            }
        }
        freed.append(TreeRoot(try store.root("used"), .table))
        for index in ["usede", "usedp"] { freed.append(TreeRoot(try store.root(index), .index)) }
        return try CopyPlan(of: file, keeping: kept, patching: patches, freeing: freed)
    }

    static func patches(table: Int, index: Int) throws -> [TreePatch] {
        let open = try IntegerMap(KeptTable.values, others: .stay)
        let closed = try IntegerMap(KeptTable.values, others: .refuse)
        return [
            try TreePatch(
                TreeRoot(table, .table),
                [
                    ColumnPatch(column: 0, map: closed),
                    ColumnPatch(column: 1, map: open, where: .init(column: 0, values: KeptTable.odd)),
                ]),
            try TreePatch(TreeRoot(index, .index), [ColumnPatch(column: 0, map: closed)]),
        ]
    }

    static func contains(_ needle: [UInt8], in bytes: Data) -> Bool {
        bytes.range(of: Data(needle)) != nil
    }
}
