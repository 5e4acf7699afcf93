import Foundation

extension HostileInput {
    /// Hostile tables of the app's own: expressions of unbounded cost, and names that belong to us.
    static let hostileTables: [HostileInput] = [
        HostileInput("an index over an expression without bound in a table of the app's own") { folder in
            try HostileGround(folder).boundless("CREATE TABLE app (a);", "CREATE INDEX i ON app (length(a));")
        },
        HostileInput("an index with a condition without bound in a table of the app's own") { folder in
            try HostileGround(folder).boundless(
                "CREATE TABLE app (a);", "CREATE INDEX i ON app (a) WHERE length(a) > 0;")
        },
        HostileInput("a stored generated column without bound in a table of the app's own") { folder in
            try HostileGround(folder).boundless("CREATE TABLE app (a, b AS (length(a)) STORED);")
        },
        HostileInput("a table of the app's own with the name of our progress") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["CREATE TABLE zz_causeway_progress (id INTEGER PRIMARY KEY, a)"])
            return ground.run(exits: [65])
        },
        HostileInput("a table of the app's own with the name of our progress, in capitals") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["CREATE TABLE ZZ_CAUSEWAY_PROGRESS (id INTEGER PRIMARY KEY, a)"])
            return ground.run(exits: [65])
        },
        HostileInput("a table of the app's own with the name of our quarantine") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["CREATE TABLE causeway_quarantined (a, b)"])
            return ground.run(exits: [65])
        },
    ]
}

extension HostileGround {
    /// Makes a table with `length(a)` in it, which is replaced by an expression of unbounded cost once there are rows.
    /// The step doesn't carry what has it, and names it. Everything else arrives, in bounded time.
    fileprivate func boundless(_ statements: String...) throws -> HostileInput.Run {
        try editSchema(
            statements + [
                "INSERT INTO app (a) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20) SELECT x FROM c;",
                "UPDATE sqlite_master SET sql = replace(sql, 'length(a)', '\(expression)') WHERE tbl_name = 'app';",
            ])
        var run = run(exits: [0], more: ["--output", folder + "/New.sqlite"])
        run.phrases = ["app"]
        run.limits = BoundedProcess.Limits(seconds: 10, memoryKibibytes: 3 << 20)
        return run
    }
}

/// Each evaluation takes 900 MB and a second; SQLite sets no limit on it.
private let expression = "length(hex(zeroblob(450000000)))"
