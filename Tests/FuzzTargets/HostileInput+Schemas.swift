import CausewaySQLite
import Foundation

extension HostileGround {
    /// Runs statements on the store with stock SQLite, as anyone can do to a file.
    func edit(_ statements: [String]) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        for statement in statements { try connection.execute(statement) }
        try connection.close()
    }

    /// Edits the schema table itself with the stock command; our own connections can't.
    func editSchema(_ statements: [String]) throws {
        let script = ([".dbconfig defensive off", "PRAGMA writable_schema=ON;"] + statements).joined(separator: "\n")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlite3", "-batch", store]
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        input.fileHandleForWriting.write(Data(script.utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw HarnessFailure("sqlite3 couldn't edit the schema table") }
    }
}

private let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"

extension HostileInput {
    /// Store files with a hostile schema.
    static let hostileSchemas: [HostileInput] = [
        HostileInput("a view over an endless query for an entity's table") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "DROP TABLE ZNOTE",
                "CREATE VIEW ZNOTE AS \(endless) x AS Z_PK, 1 AS Z_ENT, 1 AS Z_OPT, 1 AS ZSIZE, 1 AS ZFOLDER, 't' AS ZTEXT FROM c",
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a view over an endless query for the metadata") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "DROP TABLE Z_METADATA",
                "CREATE VIEW Z_METADATA AS \(endless) 1 AS Z_VERSION, 'u' AS Z_UUID, x'00' AS Z_PLIST FROM c WHERE x < 0",
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a virtual table for the entities' numbers") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "DROP TABLE Z_PRIMARYKEY",
                "CREATE VIRTUAL TABLE Z_PRIMARYKEY USING fts5(Z_ENT, Z_NAME, Z_SUPER, Z_MAX)",
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a generated column of 400 MB in an entity's table") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["ALTER TABLE ZNOTE ADD COLUMN ZEXTRA AS (zeroblob(400000000))"])
            return ground.run(exits: [65])
        },
        HostileInput("a generated column in the metadata") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "ALTER TABLE Z_METADATA RENAME COLUMN Z_PLIST TO OLD",
                "ALTER TABLE Z_METADATA ADD COLUMN Z_PLIST AS (zeroblob(900000000))",
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a mandatory generated column of 900 MB in a table of the app's own") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "CREATE TABLE app (a, b NOT NULL AS (hex(zeroblob(450000000))))", "INSERT INTO app (a) VALUES (1)",
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a constraint that computes 900 MB a row") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "PRAGMA ignore_check_constraints=ON",
                "CREATE TABLE app (a, CHECK (length(hex(zeroblob(450000000))) > 0))",
                "INSERT INTO app \(endless) x FROM c LIMIT 20",
            ])
            // The new store has the constraint too, because the table is the app's own: SQLite evaluates it for each
            // row there.
            return ground.run(exits: [0, 65, 70, 74], more: ["--output", folder + "/New.sqlite"])
        },
        HostileInput("triggers on every table") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(
                ["ZNOTE", "ZFOLDER", "Z_METADATA", "Z_PRIMARYKEY"].map {
                    "CREATE TRIGGER trap_\($0) BEFORE INSERT ON \($0) BEGIN SELECT RAISE(ABORT, 'trap'); END"
                })
            return ground.run(exits: [0, 65])
        },
        HostileInput("more than 20,000 tables") { folder in
            let ground = try HostileGround(folder)
            try ground.editSchema([
                """
                WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20100) \
                INSERT INTO sqlite_master SELECT 'table', 't' || x, 't' || x, 2, 'CREATE TABLE t' || x || '(a)' FROM c;
                """
            ])
            return ground.run(exits: [65])
        },
        HostileInput("more than 32 MiB of schema") { folder in
            let ground = try HostileGround(folder)
            let columns = (0..<1_900).map { "column_number_\($0) INTEGER" }.joined(separator: ",")
            try ground.editSchema([
                """
                WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 800) \
                INSERT INTO sqlite_master SELECT 'table', 't' || x, 't' || x, 2, \
                'CREATE TABLE t' || x || '(\(columns))' FROM c;
                """
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a second statement in a table's text") { folder in
            let ground = try HostileGround(folder)
            let victim = folder + "/victim.sqlite"
            try ground.editSchema([
                "CREATE TABLE app (a);",
                """
                UPDATE sqlite_master SET sql = \
                'CREATE TABLE app (a); ATTACH ''\(victim)'' AS v; CREATE TABLE v.pwned (a)' WHERE name = 'app';
                """,
            ])
            var run = ground.run(exits: [65])
            run.forbidden = [victim]
            return run
        },
        HostileInput("a second statement behind a trigger") { folder in
            let ground = try HostileGround(folder)
            let victim = folder + "/victim.sqlite"
            try ground.editSchema([
                "CREATE TABLE app (a);",
                "CREATE TRIGGER tr AFTER INSERT ON app BEGIN SELECT 1; END;",
                """
                UPDATE sqlite_master SET sql = 'CREATE TRIGGER tr AFTER INSERT ON app BEGIN SELECT 1; END; \
                ATTACH ''\(victim)'' AS v; CREATE TABLE v.pwned (a)' WHERE name = 'tr';
                """,
            ])
            var run = ground.run(exits: [65])
            run.forbidden = [victim]
            return run
        },
        HostileInput("quotes, semicolons and escape sequences in names") { folder in
            let ground = try HostileGround(folder)
            let name = "a\"\"b'; DROP TABLE ZNOTE; --\u{1B}[2J\u{202E}"
            try ground.edit([
                "CREATE TABLE \"\(name)\" (\"\(name)\" INTEGER)", "INSERT INTO \"\(name)\" VALUES (1)",
                "CREATE VIEW \"v\(name)\" AS SELECT 1", "ALTER TABLE ZNOTE ADD COLUMN \"\(name)\" INTEGER",
            ])
            return ground.run(exits: [0, 65])
        },
        HostileInput("escape sequences in the name of a generated column") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["ALTER TABLE ZNOTE ADD COLUMN \"\u{1B}]0;owned\u{7}\" AS (1)"])
            return ground.run(exits: [65])
        },
        HostileInput("NUL in a table's name") { folder in
            let ground = try HostileGround(folder)
            try ground.editSchema([
                "CREATE TABLE app (a);",
                "UPDATE sqlite_master SET name = 'a' || char(0) || 'b', tbl_name = name WHERE name = 'app';",
            ])
            return ground.run(exits: [0, 65])
        },
    ]
}
