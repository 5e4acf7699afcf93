import CausewayPreparation
internal import CausewaySQLite
internal import Foundation

/// Changes a generated store into a state in which an application may have left it.
struct SubjectState {
    let store: String
    let chain: Subject.Chain
    let engine: EngineChoice

    func bring(to state: Subject.SourceState) throws {
        do {
            let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
            if let sql = fill { try connection.execute(sql) }
            try connection.setJournalMode(.delete)
            if engine == .pages { try spread(connection) }
            try connection.close()
        }
        switch state {
        case .clean: break
        case .unmergedWAL: try leaveUnmergedWAL()
        case .hotJournal: try leaveHotJournal()
        }
    }

    /// Values that the generator can't invent (Fixtures/README.md).
    private var fill: String? {
        if chain == .fused { return "UPDATE ZENTRY SET ZAMOUNT = iif(Z_PK % 5, Z_PK * 37 % 201 - 100, 0)" }
        guard chain == .staged else { return nil }
        return #"""
            UPDATE ZTRACK SET ZARTISTSJSON = CASE
                WHEN Z_PK % 10 = 0 THEN NULL
                WHEN Z_PK % 10 = 5 THEN '[]'
                ELSE printf('[{"id":%d,"name":"Ren\u00e9 %d"},{"name":"Ren\u00e9 %d","id":%d}]',
                            Z_PK % 97 + 1, Z_PK % 97 + 1, Z_PK * 7 % 97 + 1, Z_PK * 7 % 97 + 1)
                END
            """#
    }

    /// Gives the page engine several batches in a pass, overflow chains and many pointer-map pages: its batches have
    /// 256 pages of any size.
    private func spread(_ connection: borrowing Connection) throws {
        if chain == .inferred {
            try connection.execute(
                """
                UPDATE ZPLANT SET ZVARIETY = printf('%d %.*c', Z_PK, 7000 + Z_PK, 'v');
                UPDATE ZVISIT SET ZREMARK = printf('%d %.*c', Z_PK, 9000 - Z_PK, 'r');
                """)
        }
        if chain == .fused {
            try connection.execute("UPDATE ZENTRY SET ZMEMO = printf('%d %.*c', Z_PK, 3000 + Z_PK, 'm')")
        }
        try connection.setPragma("page_size", to: 512)
        try connection.execute("VACUUM")
    }

    /// Leaves commits only in the -wal: store and -wal are copied while a connection is open that would checkpoint it.
    private func leaveUnmergedWAL() throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.setJournalMode(.wal)
        try connection.setPragma("wal_autocheckpoint", to: 0)
        for table in try Self.entityTables(connection) {
            try connection.execute("UPDATE \"\(table)\" SET Z_OPT = Z_OPT + 7 WHERE Z_PK % 2 = 0")
        }
        try copy("-wal")
        try connection.close()
        try putBack("-wal")
    }

    /// Leaves a transaction that has written to the store: store and journal are copied before it is rolled back.
    private func leaveHotJournal() throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        // Pages: so few that changed ones must be written before the commit.
        try connection.setPragma("cache_size", to: 4)
        try connection.begin(.immediate)
        for table in try Self.entityTables(connection) {
            try connection.execute("UPDATE \"\(table)\" SET Z_OPT = 999")
        }
        // Fills the cache and makes the store grow, which the rollback must undo too.
        try connection.execute("CREATE TABLE unfinished AS SELECT randomblob(2000) FROM sqlite_schema")
        try copy("-journal")
        try connection.rollback()
        try connection.close()
        try putBack("-journal")
    }

    /// Copies the store and a sidecar as they are now.
    private func copy(_ suffix: String) throws {
        for name in [store, store + suffix] {
            try FileManager.default.copyItem(atPath: name, toPath: name + ".kept")
        }
    }

    /// Puts the copies back, once no connection has the store open.
    private func putBack(_ suffix: String) throws {
        let files = FileManager.default
        for name in [store, store + suffix] {
            if files.fileExists(atPath: name) { try files.removeItem(atPath: name) }
            try files.moveItem(atPath: name + ".kept", toPath: name)
        }
    }

    private static func entityTables(_ connection: borrowing Connection) throws -> [String] {
        var statement = try connection.prepare(
            """
            SELECT s.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c \
            WHERE s.type = 'table' AND s.name LIKE 'Z%' AND c.name = 'Z_OPT' ORDER BY 1
            """)
        var result: [String] = []
        while try statement.step() { result.append(try statement.string(at: 0) ?? "") }
        return result
    }
}
