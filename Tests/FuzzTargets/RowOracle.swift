import CausewaySQLite

/// The rows of a database as stock SQLite reads them. A migration must not lose them.
struct RowOracle: Sendable {
    /// Tables and columns that a migration carries unchanged, by table.
    let columns: [String: [String]]

    /// The digests of rows by key; several if damage repeats a key.
    typealias Rows = [Int64: Set<Int>]

    /// What a result lacks.
    struct Loss {
        var rows: Int
        var text: String
    }

    /// Finds what is the same before and after one undisturbed migration.
    ///
    /// - Throws: also if nothing is the same: the oracle would find no loss.
    init(before: String, after: String) throws {
        let source = try Connection(path: before, mode: .readOnly, hardening: .untrusted)
        let result = try Connection(path: after, mode: .readOnly, hardening: .untrusted)
        let (old, new) = (try Self.tables(of: source), try Self.tables(of: result))
        var columns: [String: [String]] = [:]
        var rows = 0
        for (table, names) in old {
            guard let others = new[table] else { continue }
            let shared = names.filter { $0 != "Z_PK" && others.contains($0) }
            let first = try Self.cells(of: table, shared, source)
            let second = try Self.cells(of: table, shared, result)
            guard first.keys == second.keys else { continue }
            rows += first.count
            // Without rows it is unknown which columns are carried: only the keys are compared.
            columns[table] = shared.indices.filter { index in
                !first.isEmpty && first.allSatisfy { second[$0.key]?[index] == $0.value[index] }
            }.map { shared[$0] }
        }
        guard rows > 0, columns.contains(where: { !$0.value.isEmpty }) else {
            throw HarnessFailure("the undisturbed migration carries no row unchanged: nothing could be seen to be lost")
        }
        self.columns = columns
    }

    /// Rows of a damaged source that can be read and are missing or changed in the result.
    ///
    /// - Throws: if the result, or a table of the source that must be carried, can't be read.
    func losses(from source: String, to result: String) throws -> [Loss] {
        let old = try Connection(path: source, mode: .readOnly, hardening: .untrusted)
        let new = try Connection(path: result, mode: .readOnly, hardening: .untrusted)
        var losses: [Loss] = []
        for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
            let before = try Self.rows(of: table, names, old).rows
            let (after, failure) = try Self.rows(of: table, names, new)
            if let failure { throw failure }
            let lost = before.filter { key, digests in after[key].map { $0.isDisjoint(with: digests) } ?? true }
            guard !lost.isEmpty else { continue }
            losses.append(
                Loss(
                    rows: lost.count,
                    text: "\(table): \(lost.count) of \(before.count) readable rows are missing or changed, "
                        + "for example p\(lost.keys.min() ?? 0)"))
        }
        return losses
    }

    /// The tables that lack rows which were readable before, even if the bytes differ.
    static func missingRows(from before: String, to after: String) throws -> [Loss] {
        let old = try contents(of: before)
        let new = try contents(of: after)
        return old.sorted { $0.key < $1.key }.compactMap { table, rows in
            let lost = rows.subtracting(new[table] ?? [])
            return lost.isEmpty ? nil : Loss(rows: lost.count, text: "\(table): \(lost.count) rows are gone")
        }
    }

    /// Every row of every table that can be read; nothing if the schema can't be read.
    private static func contents(of path: String) throws -> [String: Set<Int>] {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
        var names: [String] = []
        do throws(SQLiteError) {
            var statement = try connection.prepare(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT GLOB 'sqlite_*'")
            while try statement.step() {
                if let name = try statement.string(at: 0) { names.append(name) }
            }
        } catch {
            return [:]
        }
        var result: [String: Set<Int>] = [:]
        for name in names {
            var rows: Set<Int> = []
            do throws(SQLiteError) {
                var statement = try connection.prepare("SELECT * FROM \(SQLIdentifier(name)) NOT INDEXED")
                while try statement.step() { rows.insert(digest(statement, 0..<statement.columnCount)) }
            } catch {
                // Damage: the rows before it count.
            }
            result[name] = rows
        }
        return result
    }

    private static func tables(of connection: borrowing Connection) throws -> [String: [String]] {
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

    private static func select(
        _ columns: [String], of table: String, _ connection: borrowing Connection
    ) throws -> Statement {
        let names = try (["Z_PK"] + columns).map { try SQLIdentifier($0).quoted }.joined(separator: ", ")
        return try connection.prepare("SELECT \(names) FROM \(try SQLIdentifier(table)) NOT INDEXED")
    }

    /// The digest of each cell of a sound table.
    private static func cells(
        of table: String, _ columns: [String], _ connection: borrowing Connection
    ) throws -> [Int64: [Int]] {
        var statement = try select(columns, of: table, connection)
        var rows: [Int64: [Int]] = [:]
        while try statement.step() {
            rows[statement.int64(at: 0)] = columns.indices.map { digest(statement, $0 + 1..<$0 + 2) }
        }
        return rows
    }

    /// Every row that a full scan gives until it fails, and the error with which it failed.
    private static func rows(
        of table: String, _ columns: [String], _ connection: borrowing Connection
    ) throws -> (rows: Rows, failure: (any Error)?) {
        var statement = try select(columns, of: table, connection)
        var rows: Rows = [:]
        do {
            while try statement.step() {
                let digest = digest(statement, 1..<columns.count + 1)
                rows[statement.int64(at: 0), default: []].insert(digest)
            }
        } catch {
            // Damage: the rows before it count.
            return (rows, error)
        }
        return (rows, nil)
    }

    private static func digest(_ statement: borrowing Statement, _ columns: Range<Int>) -> Int {
        var digest = Hasher()
        for index in columns {
            let type = statement.type(at: index)
            if type == .real {
                let number = statement.double(at: index)
                // A flipped bit makes a date of whole seconds. In a numeric column SQLite stores it as an integer when
                // it is written again; whoever reads it gets the same number.
                if let whole = Int64(exactly: number) {
                    digest.combine(StorageClass.integer.rawValue)
                    digest.combine(Array(String(whole).utf8))
                } else {
                    digest.combine(type.rawValue)
                    digest.combine(number.bitPattern)
                }
            } else {
                digest.combine(type.rawValue)
                digest.combine(statement.bytes(at: index) ?? [])
            }
        }
        return digest.finalize()
    }
}
