import Causeway
import CausewayGenerator
import Foundation

/// Work that inference can't do, and the same work as a person would write it in SQL.
struct ExplicitWork {
    /// Who does it.
    struct Contender {
        let name: String
        /// nil: SQL by hand.
        let code: MigrationCode?
        var verification = VerificationChoice.quick
        var target: String
        /// Whose time counts as 1.
        var base = ExplicitWork.sql
        /// How many times as fast it should be.
        var promised: Double?

        var isMigration: Bool { code != nil }
    }

    static let sql = "SQL by hand"

    let name: String
    let title: String
    /// Makes the source.
    let source: Source
    let target: String
    /// Which are compared.
    let tables: [String]
    /// The rows, from the attached store `source`.
    let transfers: [String]
    let contenders: [Contender]

    enum Source {
        /// Posts of `Fixtures/ColourfulPosts`.
        case posts
        /// Lines of orders, or texts, in versions of their own.
        case orders(OrdersHistory)
    }

    static let all = [split, expressions, filter, merge, chain]

    static func named(_ name: String) -> ExplicitWork? { all.first { $0.name == name } }

    /// `Fixtures/ColourfulPosts` of the repository; the mapping model lies beside the models.
    private static let posts: String = {
        let repository = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return repository.appendingPathComponent("Fixtures/ColourfulPosts/ColourfulPosts.xcdatamodeld").path
    }()

    private func models(in folder: URL) -> String {
        switch source {
        case .posts: Self.posts
        case .orders: folder.appendingPathComponent("Orders.xcdatamodeld").path
        }
    }

    /// Writes models and the store.
    func prepare(_ store: String, rows: Int, in folder: URL) throws {
        switch source {
        case .posts:
            var generation = StoreGeneration(model: Self.posts, output: store, rows: rows, seed: 1)
            generation.version = "v2"
            _ = try generation.run()
        case .orders(let history):
            try history.write(to: models(in: folder))
            var generation = StoreGeneration(model: models(in: folder), output: store, rows: 10, seed: 1)
            generation.version = "v1"
            _ = try generation.run()
            let database = try Database(store)
            for sql in history.fill(rows) { try database.execute(sql) }
        }
    }

    func migrator(
        store: String, output: String? = nil, in folder: URL, _ contender: Contender, jobs: Int? = nil
    ) -> Migrator {
        var options = MigrationOptions()
        options.verification = contender.verification.level
        options.output = output
        options.target = contender.target
        options.jobs = jobs
        return Migrator(
            store: store, models: models(in: folder), options: options, code: contender.code ?? MigrationCode())
    }

    /// The whole work as SQL: the same tables as the migration makes, the rows, then the same indexes.
    func script(for store: String, in folder: URL) throws -> String {
        guard let contender = contenders.first(where: { $0.isMigration && $0.target == target }) else {
            throw BenchmarkError("\(name): nobody migrates")
        }
        let plan = try migrator(store: store, in: folder, contender).plan()
        guard let schema = plan.steps.last?.statements else { throw BenchmarkError("\(name): nothing to do") }
        let isTable = { (sql: String) in sql.hasPrefix("CREATE TABLE") }
        let house = ["Z_METADATA", "Z_MODELCACHE"].map { "INSERT INTO \($0) SELECT * FROM source.\($0)" }
        let statements = schema.filter(isTable) + transfers + house + schema.filter { !isTable($0) }
        let settings = [
            "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL",
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", "ATTACH 'file:\(store)?immutable=1' AS source",
        ]
        return (settings + statements).map { "\($0);\n" }.joined()
    }
}

extension ExplicitWork {
    /// A policy makes two rows of one.
    static let split = ExplicitWork(
        name: "split", title: "a policy splits posts", source: .posts, target: "v3",
        tables: ["ZPOST", "ZSECTION", "Z_PRIMARYKEY"],
        transfers: [
            """
            INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZDATE, ZHEXCOLOR, ZPOSTID)
            SELECT Z_PK, Z_ENT, 1, ZDATE, ZHEXCOLOR, ZPOSTID FROM source.ZPOST
            """,
            """
            INSERT INTO ZSECTION (Z_ENT, Z_OPT, ZINDEX, ZPOST, ZBODY, ZTITLE)
            SELECT 2, 1, 0, Z_PK, ZCONTENT, substr(ZCONTENT, 1, 4) || '...' FROM source.ZPOST
            WHERE ZCONTENT IS NOT NULL ORDER BY Z_PK
            """,
            "INSERT INTO Z_PRIMARYKEY SELECT 1, 'Post', 0, max(Z_PK) FROM ZPOST",
            "INSERT INTO Z_PRIMARYKEY SELECT 2, 'Section', 0, max(Z_PK) FROM ZSECTION",
        ],
        contenders: [
            Contender(name: sql, code: nil, target: "v3"),
            Contender(name: "policy with strings", code: splitting(.strings), target: "v3", promised: 1.5),
            Contender(name: "policy with spans", code: splitting(.spans), target: "v3", promised: 2.2),
            Contender(
                name: "policy with spans, --verify none", code: splitting(.spans), verification: .none, target: "v3",
                promised: 3),
        ])

    private static func splitting(_ form: PolicyForm) -> MigrationCode {
        var code = MigrationCode()
        code.register(form.policy, as: "PostToSectionsPolicy")
        return code
    }

    /// Arithmetic, a key path to a to-one, a ternary.
    static let expressions = ExplicitWork(
        name: "expressions", title: "a mapping model computes", source: .orders(.computed), target: "v2",
        tables: ["ZLINE", "ZMAKER"],
        transfers: [
            """
            INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZTOTAL, ZMAKERNAME, ZSIZE, ZMAKER)
            SELECT l.Z_PK, l.Z_ENT, 1, l.ZCODE, l.ZQUANTITY * l.ZPRICE, m.ZNAME,
                iif(l.ZQUANTITY > 50, 'large', 'small'), l.ZMAKER
            FROM source.ZLINE l LEFT JOIN source.ZMAKER m ON m.Z_PK = l.ZMAKER
            """,
            "INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, Z_ENT, 1, ZNAME FROM source.ZMAKER",
        ] + OrdersHistory.keys(["Line", "Maker"]),
        contenders: migrating(
            SwiftMappingModel(from: "v1", to: "v2") {
                TransformEntity("Line") {
                    Compute("total", "$source.quantity * $source.price")
                    Compute("makerName", "$source.maker.name")
                    Compute("size", "TERNARY($source.quantity > 50, 'large', 'small')")
                }
                TransformEntity("Maker")
            }, promised: 2))

    static let filter = ExplicitWork(
        name: "filter", title: "a filter keeps half of the rows", source: .orders(.kept), target: "v2",
        tables: ["ZLINE", "ZMAKER"],
        transfers: [
            """
            INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZPRICE, ZQUANTITY, ZMAKER)
            SELECT Z_PK, Z_ENT, 1, ZCODE, ZPRICE, ZQUANTITY, ZMAKER FROM source.ZLINE WHERE ZQUANTITY > 50
            """,
            "INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, Z_ENT, 1, ZNAME FROM source.ZMAKER",
        ] + OrdersHistory.keys(["Line", "Maker"]),
        contenders: migrating(
            SwiftMappingModel(from: "v1", to: "v2") {
                CopyEntity("Line") { Filter("quantity > 50") }
                TransformEntity("Maker")
            }, promised: 4))

    static let merge = ExplicitWork(
        name: "merge", title: "two entities become one, and links follow", source: .orders(.merged), target: "v2",
        tables: ["ZTEXT", "ZREMARK"],
        transfers: [
            """
            INSERT INTO ZTEXT (Z_PK, Z_ENT, Z_OPT, ZBODY)
            SELECT Z_PK, 2, 1, ZBODY FROM source.ZDRAFT
            """,
            """
            INSERT INTO ZTEXT (Z_PK, Z_ENT, Z_OPT, ZBODY)
            SELECT Z_PK + (SELECT max(Z_PK) FROM source.ZDRAFT), 2, 1, ZBODY FROM source.ZLETTER ORDER BY Z_PK
            """,
            """
            INSERT INTO ZREMARK (Z_PK, Z_ENT, Z_OPT, ZWORDS, ZSUBJECT)
            SELECT Z_PK, 1, 1, ZWORDS, coalesce(ZDRAFT, ZLETTER + (SELECT max(Z_PK) FROM source.ZDRAFT))
            FROM source.ZREMARK
            """,
        ] + OrdersHistory.keys(["Remark", "Text"]),
        contenders: migrating(
            SwiftMappingModel(from: "v1", to: "v2") {
                TransformEntity("Draft", to: "Text")
                TransformEntity("Letter", to: "Text")
                TransformEntity("Remark") {
                    Link("subject", "TERNARY($source.draft != nil, \(moved("Draft")), \(moved("Letter")))")
                }
            }, promised: 1.5))

    private static func moved(_ entity: String) -> String {
        """
        FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "\(entity)ToText", \
        $source.\(entity.lowercased()))
        """
    }

    private static func migrating(_ mapping: SwiftMappingModel, promised: Double) -> [Contender] {
        var code = MigrationCode()
        code.add(mapping)
        return [
            Contender(name: sql, code: nil, target: "v2"),
            Contender(name: "mapping model", code: code, target: "v2", promised: promised),
            Contender(name: "mapping model, --verify none", code: code, verification: .none, target: "v2"),
        ]
    }

    /// Each step raises a number.
    static let chain: ExplicitWork = {
        var code = MigrationCode()
        for step in 1...OrdersHistory.chainSteps {
            code.add(
                SwiftMappingModel(from: "v\(step)", to: "v\(step + 1)") {
                    TransformEntity("Line") { Compute("quantity", "$source.quantity + 1") }
                    TransformEntity("Maker")
                })
        }
        let last = "v\(OrdersHistory.chainSteps + 1)"
        return ExplicitWork(
            name: "chain", title: "four mapping models, against one", source: .orders(.chain), target: last,
            tables: ["ZLINE", "ZMAKER"],
            transfers: [
                """
                INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZPRICE, ZQUANTITY, ZMAKER, ZSTEP4)
                SELECT Z_PK, Z_ENT, 1, ZCODE, ZPRICE, ZQUANTITY + 4, ZMAKER, 4 FROM source.ZLINE
                """,
                "INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, Z_ENT, 1, ZNAME FROM source.ZMAKER",
            ] + OrdersHistory.keys(["Line", "Maker"]),
            contenders: [
                Contender(name: sql, code: nil, target: last),
                Contender(name: "one step", code: code, target: "v2"),
                Contender(name: "four steps", code: code, target: last, base: "one step", promised: 0.625),
            ])
    }()
}
