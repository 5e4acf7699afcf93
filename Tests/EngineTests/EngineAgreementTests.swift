import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Random stores, migrated by both engines: the same content, and files that SQLite finds sound and can go on with.
///
/// The suite tries `shortCount` seeds, always the same ones. A long search:
/// `CAUSEWAY_ENGINES_SEED=1000 CAUSEWAY_ENGINES_COUNT=5000 swift test --disable-xctest --filter EngineAgreementTests`.
/// A failure names its seed; with it and a count of 1 it comes again.
@Suite("Both engines, random stores", .timeLimit(.minutes(60)))
struct EngineAgreementTests {
    private static let shortCount = 25

    private static func setting(_ name: String, else value: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
    }

    private static let workers = 2

    @Test("make the same rows of the same store, and SQLite goes on with what pages made", arguments: 0..<workers)
    func agree(worker: Int) throws {
        let first = Self.setting("CAUSEWAY_ENGINES_SEED", else: 1)
        let count = Self.setting("CAUSEWAY_ENGINES_COUNT", else: Self.shortCount)
        var (rebuilt, migrated) = (0, 0)
        for seed in stride(from: first + worker, to: first + count, by: Self.workers) {
            do {
                var trial = try EngineAgreement(seed: seed)
                try trial.run()
                rebuilt += trial.rebuilt
                migrated += trial.isMigrated ? 1 : 0
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        print(
            "engines: \(count) stores from seed \(first), worker \(worker): \(migrated) migrated, \(rebuilt) tables by pages"
        )
        // A search in which pages make nothing shows nothing.
        if count >= 20 { #expect(rebuilt > count / 4 && migrated > count / 4) }
    }
}

/// One random store.
struct EngineAgreement {
    private let seed: Int
    private var random: Seeded
    private let store: RandomStore
    /// Tables that pages have made.
    private(set) var rebuilt = 0
    /// Whether the engines made a store; else both refused, or the store is current.
    private(set) var isMigrated = false
    /// Whether there is nothing to do: some random histories end with the model that they begin with.
    private var isCurrent = false

    init(seed: Int) throws {
        self.seed = seed
        random = Seeded(seed)
        store = try RandomStore(seed: seed, &random)
    }

    mutating func run() throws {
        let fuses = Bool.random(using: &random)
        let statements = Result { try migrated(.statements, fuses: fuses, as: "statements.sqlite") }
        let pages = Result { try migrated(.pages, fuses: fuses, as: "pages.sqlite") }
        let (one, other): (String, String)
        switch (statements, pages) {
        case (.success(let a), .success(let b)): (one, other) = (a, b)
        case (.failure(let a as EngineError), .failure(let b as EngineError)) where a.kind == b.kind: return
        default: throw Difference("statements: \(statements)\npages: \(pages)")
        }
        if isCurrent {
            let made = [one, other].filter { FileManager.default.fileExists(atPath: $0) }
            guard made.isEmpty else { throw Difference("the store is current, but \(made) were made of it") }
            return
        }
        isMigrated = true
        try requireSame(one, other, "as migrated")
        if Int.random(in: 0..<3, using: &random) == 0 {
            let again = try migrated(.pages, fuses: fuses, as: "again.sqlite")
            guard FileManager.default.contentsEqual(atPath: other, andPath: again) else {
                throw Difference("other batches or workers give other bytes")
            }
        }
        if Int.random(in: 0..<2, using: &random) == 0 {
            let made = try migrated(.pages, fuses: fuses, as: "made.sqlite", splices: false)
            guard FileManager.default.contentsEqual(atPath: other, andPath: made) else {
                throw Difference("rows that are spliced differ from those that are made cell by cell")
            }
        }
        try torture(one, other)
    }

    private mutating func migrated(
        _ engine: EngineChoice, fuses: Bool, as name: String, splices: Bool = true
    ) throws -> String {
        let scenario = store.scenario
        var request = scenario.request(
            to: scenario.lastVersion, fuses: fuses, batchRows: [1, 7, 100, 4_096].randomElement(using: &random) ?? 1,
            jobs: Int.random(in: 1...4, using: &random), engine: engine)
        request.options.batchBytes = 1 << Int.random(in: 10...20, using: &random)
        request.options.checkpointInterval = Bool.random(using: &random) ? 0 : 5
        request.verification = [.none, .quick, .full].randomElement(using: &random) ?? .quick
        request.options.splices = splices
        if engine == .pages, name == "pages.sqlite" {
            let steps = try Migration(request).plan().steps
            isCurrent = steps.isEmpty
            rebuilt = steps.flatMap(\.works).filter { $0.method == .rebuild }.count
        }
        return try EngineRun.output(request, as: name)
    }

    struct Difference: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    // MARK: - Comparing

    /// Schema, rowid, storage class and value of every cell; every index entry, too: where rows are the same and
    /// `integrity_check` finds an entry for each row, in order, and no more, entries are the same.
    private func requireSame(_ one: String, _ other: String, _ place: String) throws {
        try requireSound(one, other, place)
        for (a, b) in zip(try facts(one), try facts(other)) where a != b {
            throw Difference("\(place): by statements: \(a)\nby pages: \(b)")
        }
        let a = try Connection(path: one, mode: .readOnly, hardening: .own)
        let b = try Connection(path: other, mode: .readOnly, hardening: .own)
        for table in try Self.tables(one) {
            // A table WITHOUT ROWID has none to select.
            let columns = Self.hasRowID(table, a) && !Self.isUnordered(table) ? "rowid, *" : "*"
            let order = Self.isUnordered(table) ? " ORDER BY 1, 2" : ""
            var mine = try a.prepare("SELECT \(columns) FROM \"\(table)\"\(order)")
            var theirs = try b.prepare("SELECT \(columns) FROM \"\(table)\"\(order)")
            var row = 0
            while try mine.step() {
                row += 1
                guard try theirs.step() else { throw Difference("\(place): \(table): by pages \(row - 1) rows") }
                for column in 0..<mine.columnCount where !Self.isSame(mine, theirs, column) {
                    throw Difference(
                        """
                        \(place): \(table), row \(row), column \(column): by statements \(Self.text(mine, column)), \
                        by pages \(Self.text(theirs, column))
                        """)
                }
            }
            if try theirs.step() { throw Difference("\(place): \(table): by statements \(row) rows, by pages more") }
        }
    }

    /// Whether the rows' order, and their rowids, aren't part of the result: statements sort join tables, pages keep
    /// the source's order; and SQLite itself writes the keys of AUTOINCREMENT.
    private static func isUnordered(_ table: String) -> Bool {
        table == "sqlite_sequence" || table.hasPrefix("Z_") && table.dropFirst(2).first?.isNumber == true
    }

    private static func hasRowID(_ table: String, _ connection: borrowing Connection) -> Bool {
        do {
            _ = try connection.prepare("SELECT rowid FROM \"\(table)\"")
            return true
        } catch {
            return false
        }
    }

    private static func isSame(_ one: borrowing Statement, _ other: borrowing Statement, _ column: Int) -> Bool {
        guard one.type(at: column) == other.type(at: column) else { return false }
        switch one.type(at: column) {
        case .null: return true
        case .integer: return one.int64(at: column) == other.int64(at: column)
        case .real: return one.double(at: column).bitPattern == other.double(at: column).bitPattern
        case .text, .blob: return one.bytes(at: column) == other.bytes(at: column)
        }
    }

    private static func text(_ statement: borrowing Statement, _ column: Int) -> String {
        switch statement.type(at: column) {
        case .null: "NULL"
        case .integer: "\(statement.int64(at: column))"
        case .real: "\(statement.double(at: column))"
        case .text, .blob:
            "\(statement.type(at: column)) of \(statement.bytes(at: column)?.count ?? 0) bytes: "
                + "\(statement.bytes(at: column)?.prefix(40) ?? [])"
        }
    }

    private func facts(_ path: String) throws -> [String] {
        var result: [String] = []
        for pragma in ["page_size", "auto_vacuum", "encoding", "user_version", "application_id"] {
            result += try Database.rows("PRAGMA \(pragma)", in: path).map { "\(pragma) \($0)" }
        }
        // A store that begins as a copy has the source's order.
        result += try Database.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name", in: path)
        return result + ["end"]
    }

    private static func tables(_ path: String) throws -> [String] {
        try Database.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", in: path)
            .map { String($0.dropFirst().dropLast()) }
    }

    // MARK: - Going on

    /// SQLite changes both stores in the same way: rows go, grow, shrink and come, pages are freed and moved.
    private mutating func torture(_ one: String, _ other: String) throws {
        let tables = try Self.tables(one).filter { $0.hasPrefix("Z") && !$0.hasPrefix("Z_M") || $0.hasPrefix("app") }
        var script: [String] = []
        for table in tables {
            let columns = try Database.rows(
                "SELECT name FROM pragma_table_info('\(table)') WHERE pk = 0 AND type IN ('VARCHAR', 'BLOB', '', 'TEXT')",
                in: one
            ).map { String($0.dropFirst().dropLast()) }
            let name = "\"\(table)\""
            for column in columns.prefix(2) where Bool.random(using: &random) {
                let length = Int.random(in: 0...store.pageSize * 2, using: &random)
                script.append(
                    "UPDATE OR IGNORE \(name) SET \"\(column)\" = zeroblob(\(length) % (1 + abs(rowid) % 5000)) WHERE rowid % 2"
                )
            }
            if table.hasPrefix("app") || columns.count > 1, !table.hasPrefix("Z_") {
                script.append("DELETE FROM \(name) WHERE rowid % 3 = \(Int.random(in: 0..<3, using: &random))")
            }
        }
        script.append("PRAGMA incremental_vacuum(\(Int.random(in: 0...40, using: &random)))")
        for path in [one, other] {
            let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            for statement in script {
                do {
                    try connection.execute(statement)
                } catch {
                    throw Difference("\(statement): \(error)")
                }
            }
            try connection.close()
        }
        // Free pages are in another order, so that their number may differ once some are given back.
        try requireSound(one, other, "after changes")
        for path in [one, other] { try Scenario.execute("VACUUM", path) }
        try requireSame(one, other, "after VACUUM")
    }

    private func requireSound(_ one: String, _ other: String, _ place: String) throws {
        for path in [one, other] {
            let found = try Database.rows("PRAGMA integrity_check(3)", in: path)
            guard found == ["'ok'"] else { throw Difference("\(place): \(path): \(found)") }
        }
    }
}
