import CausewaySQLite

/// The rows of a database as stock SQLite reads them, whoever made the file: what must not be lost.
struct RowOracle {
    /// Tables and columns that a migration carries unchanged, by table.
    let columns: [String: [String]]

    /// A row's digest by key; several where damage gives a key twice.
    typealias Rows = [Int64: Set<Int>]

    /// What of one undisturbed migration is the same before and after.
    init(before: String, after: String) throws {
        let (old, new) = (try Self.tables(of: before), try Self.tables(of: after))
        var columns: [String: [String]] = [:]
        for (table, names) in old {
            guard let others = new[table] else { continue }
            let kept = try names.filter { name in
                guard name != "Z_PK", others.contains(name) else { return false }
                let before = try Self.rows(of: table, [name], in: before)
                return try before == Self.rows(of: table, [name], in: after)
            }
            let keys = try Self.rows(of: table, [], in: before).keys
            guard try keys == Self.rows(of: table, [], in: after).keys else { continue }
            columns[table] = kept
        }
        self.columns = columns
    }

    /// Rows of a damaged source that can be read and are missing or changed in the result: a line each.
    func losses(from source: String, to result: String) throws -> [String] {
        var losses: [String] = []
        for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
            let before = (try? Self.rows(of: table, names, in: source)) ?? [:]
            let after = (try? Self.rows(of: table, names, in: result)) ?? [:]
            let lost = before.filter { key, digests in after[key].map { $0.isDisjoint(with: digests) } ?? true }
            if !lost.isEmpty {
                losses.append(
                    "\(table): \(lost.count) of \(before.count) readable rows are missing or changed, "
                        + "for example p\(lost.keys.min() ?? 0)")
            }
        }
        return losses
    }

    private static func tables(of path: String) throws -> [String: [String]] {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
        var statement = try connection.prepare(
            """
            SELECT m.name, x.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) x \
            WHERE m.type = 'table' AND m.rootpage > 0 AND m.name GLOB 'Z[A-Z]*' ORDER BY 1, x.cid
            """)
        var result: [String: [String]] = [:]
        while try statement.step() {
            guard let table = try statement.string(at: 0), let column = try statement.string(at: 1) else { continue }
            result[table, default: []].append(column)
        }
        return result.filter { $0.value.contains("Z_PK") }
    }

    /// Every row that a full scan gives until it fails.
    private static func rows(of table: String, _ columns: [String], in path: String) throws -> Rows {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
        let names = try (["Z_PK"] + columns).map { try SQLIdentifier($0).quoted }.joined(separator: ", ")
        var statement = try connection.prepare("SELECT \(names) FROM \(try SQLIdentifier(table)) NOT INDEXED")
        var rows: Rows = [:]
        do {
            while try statement.step() {
                var digest = Hasher()
                for index in columns.indices {
                    let type = statement.type(at: index + 1)
                    digest.combine(type.rawValue)
                    if type == .real {
                        digest.combine(statement.double(at: index + 1).bitPattern)
                    } else {
                        digest.combine(statement.bytes(at: index + 1) ?? [])
                    }
                }
                rows[statement.int64(at: 0), default: []].insert(digest.finalize())
            }
        } catch {
            // Damage: what came before it counts.
            return rows
        }
        return rows
    }
}
