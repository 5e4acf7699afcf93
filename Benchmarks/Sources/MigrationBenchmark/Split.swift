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
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        let source = scratch.folder.appendingPathComponent("source.sqlite").path
        let script = scratch.folder.appendingPathComponent("transfer.sql").path
        let results = ["by-hand.sqlite", "migrated.sqlite"].map { scratch.folder.appendingPathComponent($0).path }
        var generation = StoreGeneration(model: Posts.models, output: source, rows: posts, seed: 1)
        generation.version = Posts.source
        _ = try generation.run()
        try Posts.script(for: source).write(toFile: script, atomically: true, encoding: .utf8)
        var (byHand, migrated): ([Outcome], [Outcome]) = ([], [])
        for round in 1...max(1, rounds) {
            sync()
            byHand.append(
                try Measuring(folder: scratch.folder).outcome { programs in
                    try programs.runShell(script, on: results[0])
                    try Programs.sync(results[0])
                    try Programs.sync(scratch.folder.path)
                    return nil
                })
            sync()
            let arguments = ["split-once", source, results[1]] + (jobs.map { ["--jobs", String($0)] } ?? [])
            migrated.append(
                try Measuring(folder: scratch.folder).outcome { programs in try programs.runSelf(arguments) })
            say(
                "round \(round) of \(rounds): by hand \(byHand.last?.seconds ?? 0) s, "
                    + "migrated \(migrated.last?.seconds ?? 0) s")
            if round == 1 {
                let differences = try Posts.differences(results[0], results[1])
                guard differences.isEmpty else {
                    throw BenchmarkError("the results differ: \(differences.joined(separator: ", "))")
                }
            }
            for result in results { try FileManager.default.removeItem(atPath: result) }
        }
        try FigureFile.print(
            SplitReport(
                machine: Machine(scratch.folder), posts: posts, storeBytes: try Workplace.size(source),
                byHand: Series(byHand), migrated: Series(migrated)))
    }
}

/// What is printed.
struct SplitReport: Encodable {
    let machine: Machine
    let posts: Int
    let storeBytes: Int
    let postsPerSecond: Int
    let rowsWrittenPerSecond: Int
    let peakMemoryBytes: Int?
    let timeRatioToSQL: Ratio?
    let insertSelect: Series
    let causeway: Series

    init(machine: Machine, posts: Int, storeBytes: Int, byHand: Series, migrated: Series) {
        (self.machine, self.posts, self.storeBytes) = (machine, posts, storeBytes)
        postsPerSecond = Int(Double(posts) / migrated.seconds)
        rowsWrittenPerSecond = Int(Double(migrated.outcomes.first?.rows ?? 0) / migrated.seconds)
        peakMemoryBytes = migrated.peakMemoryBytes
        timeRatioToSQL = Ratio(migrated.ratios(to: byHand))
        (insertSelect, causeway) = (byHand, migrated)
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
        let settings = [
            "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL",
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", "ATTACH 'file:\(store)?immutable=1' AS source",
        ]
        return (settings + statements).map { "\($0);\n" }.joined()
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
        try await MigrationAccount(running: migrator).printed()
    }
}
