import Causeway
import CausewayCheckers
import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import Foundation
import Testing

/// A migration of a store in shared/stores by mapping models, with the policies that they name.
struct PoliciesExample: CustomTestStringConvertible, Sendable {
    var name: String
    /// Paths in shared/stores.
    let store: String
    let models: String
    /// nil is the models' current version.
    var target: String?
    var mappings: [String] = []
    var code = MigrationCode()
    var frameworkVersion: Int?
    /// Columns whose values differ in every run: `ZCOLOR.ZCOLORID`.
    var random: [String] = []
    /// A store in shared/stores from which names of join tables are taken that the model doesn't determine.
    var template: String?

    var testDescription: String { name }

    /// How a run works. The rows must not depend on it.
    struct Work: CustomTestStringConvertible, Sendable {
        let batchRows: Int
        let jobs: Int
        var engine = EngineChoice.auto
        var testDescription: String {
            "batches of \(batchRows), \(jobs) jobs\(engine == .statements ? ", statements" : "")"
        }

        static let usual = Work(batchRows: 1_024, jobs: 2)
        static let every = onBothEngines(
            [1, 7, 1_024].flatMap { rows in (1...4).map { Work(batchRows: rows, jobs: $0) } })
        /// For stores of thousands of rows.
        static let sample = onBothEngines([
            Work(batchRows: 1, jobs: 3), Work(batchRows: 7, jobs: 1), Work(batchRows: 7, jobs: 4),
            Work(batchRows: 1_024, jobs: 2), Work(batchRows: 1_024, jobs: 4),
        ])

        static func onBothEngines(_ works: [Work]) -> [Work] {
            works + works.map { Work(batchRows: $0.batchRows, jobs: $0.jobs, engine: .statements) }
        }

        func options(now: Double) -> EngineOptions {
            var options = EngineOptions(batchRows: batchRows, jobs: jobs, now: now)
            options.engine = engine
            return options
        }
    }

    /// The time of a policy's clock, so that two runs agree.
    private static let now = 700_000_000.0

    func request(store: String, output: String, _ work: Work = .usual) -> MigrationRequest {
        var request = MigrationRequest(
            store: store, models: StoreRows.shared(models), output: output, target: target,
            options: work.options(now: Self.now))
        request.frameworkVersion = frameworkVersion
        request.schemaTemplate = template.map { StoreRows.shared($0) }
        request.mappings = mappings.map { StoreRows.shared($0) }
        request.code = code
        return request
    }

    /// Migrates a copy of the store.
    func migrate(
        _ work: Work = .usual, in folder: borrowing TemporaryFolder, as name: String = "result"
    ) throws -> String {
        try migrate(from: StoreRows.shared(store), work, in: folder, as: name)
    }

    /// Migrates a copy of another store of the same version.
    func migrate(
        from store: String, _ work: Work = .usual, in folder: borrowing TemporaryFolder, as name: String
    ) throws -> String {
        let source = try folder.copyStore(store, as: "source-of-\(name)")
        let output = folder.path(name)
        _ = try Migration(request(store: source, output: output, work)).run()
        return output
    }

    /// Every row of every table as text, Z_OPT and Core Data's own tables included.
    func rows(_ store: String) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        for table in try StoreRows.texts(store, "SELECT name FROM sqlite_master WHERE type = 'table'") {
            let columns = try StoreRows.texts(store, "SELECT name FROM pragma_table_info('\(table)')")
                .filter { !random.contains("\(table).\($0)") }
            let cells = columns.map { "quote(\"\($0)\")" }.joined(separator: " || '|' || ")
            result[table] = try StoreRows.texts(
                store, "SELECT \(cells) FROM \"\(table)\" ORDER BY \"\(columns[0])\", \"\(columns.last ?? "")\"")
        }
        return result
    }

    /// Expects that two runs gave the same, cell by cell.
    func expectSameRows(_ store: String, _ other: String, _ comment: Comment? = nil) throws {
        #expect(try differences(rows(store), rows(other)) == [], comment)
    }

    /// For each table one row that differs between two runs.
    private func differences(_ a: [String: [String]], _ b: [String: [String]]) -> [String] {
        Set(a.keys).union(b.keys).sorted().filter { a[$0] != b[$0] }.map { table in
            guard let rows = a[table], let others = b[table] else { return "\(table) isn't in both" }
            return "\(table): \(rows.first { !others.contains($0) } ?? "order or count")"
        }
    }

    /// The ways to work that give other rows than the usual one, of this example or of another.
    func differences(_ works: [Work], from other: PoliciesExample? = nil) throws -> [String] {
        let usual: [String: [String]]
        do {
            let folder = try TemporaryFolder()
            usual = try rows((other ?? self).migrate(in: folder))
        }
        try #require(!usual.isEmpty)
        return try works.flatMap { work in
            let folder = try TemporaryFolder()
            return try differences(rows(migrate(work, in: folder)), usual).map { "\(work.testDescription): \($0)" }
        }
    }

    /// Expects that layout, version hashes and every cell but keys are what Core Data made. `edits` undo in the
    /// reference what the app changed after the migration.
    func expectReference(
        _ result: String, _ reference: String, without edits: [String] = [], in folder: borrowing TemporaryFolder
    ) throws {
        let reference = try folder.copyStore(StoreRows.shared(reference), as: "reference")
        for sql in edits { try StoreRows.execute(reference, sql) }
        let found = try Checker.compare(result, reference, ignoring: random, flags: ["--modulo-pk"])
        #expect(found.isEmpty, "\(found)")
        try expectSchema(result)
        try expectMetadata(result, reference)
    }

    func expectSchema(_ result: String) throws {
        let schema = try Checker.schema(result)
        #expect(schema.status == 0, "\(schema.text)")
        let hashes = try Checker.hashes(result)
        #expect(hashes.status == 0, "\(hashes.text)")
        #expect(try StoreRows.texts(result, "PRAGMA integrity_check") == ["ok"])
        for name in try StoreRows.texts(result, "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0") {
            let isEnough = "SELECT Z_MAX >= ifnull((SELECT max(Z_PK) FROM \"Z\(name.uppercased())\"), 0)"
            #expect(
                try StoreRows.texts(result, "\(isEnough) FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'") == ["1"],
                "the next \(name) of the app would get a key that is taken")
        }
    }

    private func expectMetadata(_ result: String, _ reference: String) throws {
        #expect(
            try StoreRows.texts(result, "SELECT Z_VERSION || ' ' || Z_UUID FROM Z_METADATA")
                == StoreRows.texts(reference, "SELECT Z_VERSION || ' ' || Z_UUID FROM Z_METADATA"))
        let (a, b) = (try StoreRows.metadata(result), try StoreRows.metadata(reference))
        #expect(a.isEqual(b), "\(a) against \(b)")
    }
}

/// What a test reads from a store, by plain SQL.
enum StoreRows {
    /// The first column of every row as text; NULL is "NULL".
    static func texts(_ store: String, _ sql: String) throws -> [String] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        var statement = try connection.prepare(sql)
        var result: [String] = []
        while try statement.step() { result.append(try statement.string(at: 0) ?? "NULL") }
        return result
    }

    static func execute(_ store: String, _ sql: String) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.execute(sql)
    }

    /// A path in shared/stores, which may hold spaces.
    static func shared(_ path: String) -> String {
        SharedStores.folder.appending(path: path).path(percentEncoded: false)
    }

    static func metadata(_ store: String) throws -> NSDictionary {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        var statement = try connection.prepare("SELECT Z_PLIST FROM Z_METADATA")
        guard try statement.step(), let bytes = statement.bytes(at: 0) else { return [:] }
        let list = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        return try #require(list as? NSDictionary)
    }
}
