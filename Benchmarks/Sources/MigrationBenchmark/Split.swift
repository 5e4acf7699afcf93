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

    /// What a round measures.
    private struct Entrant {
        let name: String
        /// nil: the SQL.
        let form: PolicyForm?
        let verification: VerificationChoice

        static let all = [
            Entrant(name: "SQL by hand", form: nil, verification: .quick),
            Entrant(name: "policy with strings", form: .strings, verification: .quick),
            Entrant(name: "policy with spans", form: .spans, verification: .quick),
            Entrant(name: "policy with spans --verify none", form: .spans, verification: .none),
        ]
    }

    func run() async throws {
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        let source = scratch.folder.appendingPathComponent("source.sqlite").path
        var generation = StoreGeneration(model: Posts.models, output: source, rows: posts, seed: 1)
        generation.version = Posts.source
        _ = try generation.run()
        let byHand = scratch.folder.appendingPathComponent("by-hand.sqlite").path
        let migrated = scratch.folder.appendingPathComponent("migrated.sqlite").path
        var outcomes = [[Outcome]](repeating: [], count: Entrant.all.count)
        for round in 1...max(1, rounds) {
            for (place, entrant) in Entrant.all.enumerated() {
                let result = entrant.form == nil ? byHand : migrated
                outcomes[place].append(try measure(entrant, source, to: result, scratch))
                say("round \(round) of \(rounds): \(entrant.name): \(outcomes[place].last?.seconds ?? 0) s")
                guard entrant.form != nil else { continue }
                if round == 1 { try compare(byHand, migrated) }
                try FileManager.default.removeItem(atPath: migrated)
            }
            try FileManager.default.removeItem(atPath: byHand)
        }
        let sql = Series(outcomes[0])
        try FigureFile.print(
            SplitReport(
                machine: Machine(scratch.folder), posts: posts, storeBytes: try Workplace.size(source),
                entrants: zip(Entrant.all, outcomes).map { entrant, outcomes in
                    let series = Series(outcomes)
                    return SplitReport.Entrant(
                        name: entrant.name, figures: series, timesAsFastAsSQL: Ratio(sql.ratios(to: series)))
                }))
    }

    private func measure(
        _ entrant: Entrant, _ source: String, to result: String, _ scratch: Scratch
    ) throws -> Outcome {
        sync()
        let measuring = Measuring(folder: scratch.folder)
        guard let form = entrant.form else {
            let script = scratch.folder.appendingPathComponent("transfer.sql").path
            try Posts.script(for: source).write(toFile: script, atomically: true, encoding: .utf8)
            return try measuring.outcome { programs in
                try programs.runShell(script, on: result)
                try Programs.sync(result)
                try Programs.sync(scratch.folder.path)
                return nil
            }
        }
        let arguments =
            ["split-once", source, result, "--form", form.rawValue, "--verify", entrant.verification.rawValue]
            + (jobs.map { ["--jobs", String($0)] } ?? [])
        return try measuring.outcome { programs in try programs.runSelf(arguments) }
    }

    private func compare(_ byHand: String, _ migrated: String) throws {
        let differences = try Posts.differences(byHand, migrated)
        guard differences.isEmpty else {
            throw BenchmarkError("the results differ: \(differences.joined(separator: ", "))")
        }
    }
}

/// What is printed.
struct SplitReport: Encodable {
    struct Entrant: Encodable {
        let name: String
        let figures: Series
        let timesAsFastAsSQL: Ratio?
    }

    let machine: Machine
    let posts: Int
    let storeBytes: Int
    let entrants: [Entrant]
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

    static func migrator(
        store: String, output: String? = nil, form: PolicyForm = .strings, verification: VerificationChoice = .quick,
        jobs: Int? = nil
    ) -> Migrator {
        var options = MigrationOptions()
        options.verification = verification.level
        options.output = output
        options.target = target
        options.jobs = jobs
        var code = MigrationCode()
        code.register(form.policy, as: "PostToSectionsPolicy")
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
    @Option var form = PolicyForm.strings
    @Option var verify = VerificationChoice.quick
    @Option var jobs: Int?

    func run() async throws {
        let migrator = Posts.migrator(
            store: source, output: result, form: form, verification: verify, jobs: jobs)
        try await MigrationAccount(running: migrator).printed()
    }
}
