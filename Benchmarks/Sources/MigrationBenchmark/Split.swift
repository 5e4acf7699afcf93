import ArgumentParser
import Causeway
import CausewayGenerator
import Foundation

/// Splits every post by a Swift policy, side by side with the same split as SQL.
struct Split: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures a policy that splits an entity against the same split as SQL; prints JSON.",
        discussion: """
            Posts of Fixtures/ColourfulPosts v2 become posts and sections of v3. A post takes about 300 bytes; the folder \
            needs room for three stores.
            """)

    @Option(help: ArgumentHelp("Posts of the store.", valueName: "posts"))
    var posts = 5_000_000

    @Option(help: ArgumentHelp("How often each kind of work runs.", valueName: "number"))
    var rounds = 3

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Option(help: ArgumentHelp("Worker threads of the migration. (default: one per core)", valueName: "threads"))
    var jobs: Int?

    func run() async throws {
        let scratch = URL(fileURLWithPath: folder).appendingPathComponent("causeway-split-\(getpid())")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = Files(scratch)
        var generation = StoreGeneration(model: Posts.models, output: files.source, rows: posts, seed: 1)
        generation.version = Posts.source
        _ = try generation.run()
        try Posts.script(for: files.source).write(toFile: files.script, atomically: true, encoding: .utf8)
        var results: [Work: [Outcome]] = [:]
        for round in 1...max(1, rounds) {
            for kind in [Work.transfer, .migrate] {
                let arguments =
                    kind == .migrate
                    ? ["split-once", files.source, files.result(kind)] + (jobs.map { ["--jobs", String($0)] } ?? [])
                    : kind.arguments(files, jobs: jobs)
                let outcome = try ChildProcess.run(arguments)
                FileHandle.standardError.write(
                    Data("round \(round) of \(rounds): \(kind.rawValue) \(outcome.seconds.rounded3) s\n".utf8))
                results[kind, default: []].append(outcome)
                if round == 1, kind == .migrate {
                    let differences = try Posts.differences(files.result(.transfer), files.result(.migrate))
                    guard differences.isEmpty else {
                        throw BenchmarkError("the results differ: \(differences.joined(separator: ", "))")
                    }
                }
            }
            try files.clearResults()
        }
        let bytes = try files.sourceBytes()
        let report = SplitReport(
            posts: posts, storeBytes: bytes, transfer: Report.Series(results[.transfer] ?? []),
            migrate: Report.Series(results[.migrate] ?? []))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}

/// What is printed.
struct SplitReport: Encodable {
    var machine = Report.Machine()
    var posts: Int
    var storeBytes: Int
    var postsPerSecond: Int
    var rowsWrittenPerSecond: Int
    var peakMemoryBytes: Int?
    var timeRatioToSQL: Double
    var insertSelect: Report.Series
    var causeway: Report.Series

    init(posts: Int, storeBytes: Int, transfer: Report.Series, migrate: Report.Series) {
        self.posts = posts
        self.storeBytes = storeBytes
        let seconds = migrate.median(\.seconds)
        postsPerSecond = Int(Double(posts) / seconds)
        rowsWrittenPerSecond = Int(Double(migrate.outcomes.first?.rows ?? 0) / seconds)
        peakMemoryBytes = migrate.peakMemoryBytes
        timeRatioToSQL = zip(migrate.outcomes, transfer.outcomes).map { $0.seconds / $1.seconds }.median.rounded3
        insertSelect = transfer
        causeway = migrate
    }
}

/// The history that is split, and the split as a person would write it in SQL.
enum Posts {
    static let source = "v2"
    static let target = "v3"

    /// `Fixtures/ColourfulPosts` of the repository; the mapping model lies beside the models.
    static let models: String = {
        let repository = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return repository.appendingPathComponent("Fixtures/ColourfulPosts/ColourfulPosts.xcdatamodeld").path
    }()

    static func migrator(store: String, output: String? = nil, jobs: Int? = nil) -> Migrator {
        var options = MigrationOptions()
        options.output = output
        options.target = target
        options.jobs = jobs
        var code = MigrationCode()
        code.register(PostToSectionsPolicy.self)
        return Migrator(store: store, models: models, options: options, code: code)
    }

    private static let transfers = [
        """
        INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZDATE, ZHEXCOLOR, ZPOSTID)
        SELECT Z_PK, Z_ENT, 1, ZDATE, ZHEXCOLOR, ZPOSTID FROM source.ZPOST
        """,
        """
        INSERT INTO ZSECTION (Z_ENT, Z_OPT, ZINDEX, ZPOST, ZBODY, ZTITLE)
        SELECT 2, 1, 0, Z_PK, ZCONTENT, substr(ZCONTENT, 1, 4) || '...' FROM source.ZPOST WHERE ZCONTENT IS NOT NULL
        ORDER BY Z_PK
        """,
        "INSERT INTO Z_PRIMARYKEY SELECT 1, 'Post', 0, max(Z_PK) FROM ZPOST",
        "INSERT INTO Z_PRIMARYKEY SELECT 2, 'Section', 0, max(Z_PK) FROM ZSECTION",
        "INSERT INTO Z_METADATA SELECT * FROM source.Z_METADATA",
        "INSERT INTO Z_MODELCACHE SELECT * FROM source.Z_MODELCACHE",
    ]

    /// The whole work as SQL: the same tables as the migration makes, the rows, then the same indexes.
    static func script(for store: String) throws -> String {
        let schema = try migrator(store: store).plan().steps.flatMap(\.statements)
        let isTable = { (sql: String) in sql.hasPrefix("CREATE TABLE") }
        let statements = schema.filter(isTable) + transfers + schema.filter { !isTable($0) }
        return statements.map { "\($0);\n" }.joined()
    }

    static func differences(_ first: String, _ second: String) throws -> [String] {
        let database = try Database(first)
        try database.execute("ATTACH '\(second)' AS other")
        return try ["ZPOST", "ZSECTION", "Z_PRIMARYKEY"].compactMap { table in
            let only = try [("main", "other"), ("other", "main")].map { here, there in
                try database.integer(
                    "SELECT count(*) FROM (SELECT * FROM \(here).\(table) EXCEPT SELECT * FROM \(there).\(table))")
            }
            return only == [0, 0] ? nil : "\(table) (\(only[0]), \(only[1]))"
        }
    }
}

/// The split by the policy, with everything that belongs to it.
struct SplitOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var source: String
    @Argument var result: String
    @Option var jobs: Int?

    func run() async throws {
        let migrator = Posts.migrator(store: source, output: result, jobs: jobs)
        let outcome = try await Outcome.measuring {
            let watch = PhaseWatch()
            let summary = try await migrator.migrate { watch.receive($0) }
            return (summary.rows, watch.seconds())
        }
        try outcome.printed()
    }
}
