import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// The swap of a migration in place, and the publication of an output.
@Suite("In place and to an output", .timeLimit(.minutes(60)))
struct SwapTests {
    static let from = FailureTests.from
    static let to = FailureTests.to
    static let rows = FailureTests.rows

    private func inode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? NSNumber)?.intValue
    }

    private func header(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)).prefix(100))
    }

    @Test("the backup is the original file, and nothing else is left beside the new store", arguments: [true, false])
    func inPlace(wal: Bool) throws {
        let scenario = try Scenario(Self.from, Self.to, wal: wal, rows: Self.rows)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: scenario.store)
        let original = try inode(scenario.store)
        let bytes = try Data(contentsOf: URL(filePath: scenario.store))
        let outcome = try scenario.migrate()
        #expect(outcome.backup == scenario.backup)
        #expect(outcome.rows == 2)
        #expect(try inode(scenario.backup) == original)
        #expect(try inode(scenario.store) != original)
        if !wal { #expect(try Data(contentsOf: URL(filePath: scenario.backup)) == bytes) }
        #expect(try header(scenario.store)[18...19] == (wal ? [2, 2] : [1, 1]))
        let permissions = try FileManager.default.attributesOfItem(atPath: scenario.store)[.posixPermissions]
        #expect(permissions as? NSNumber == 0o640)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scenario.folder).sorted() == [
                "Model.xcdatamodeld", "Store.sqlite", URL(filePath: scenario.backup).lastPathComponent,
            ])
        #expect(scenario.backup.dropFirst(scenario.store.count).count == ".premigration-".count + 8)
        #expect(try Database.rows("SELECT * FROM ZTHING", in: scenario.backup) == ["1|1|1|'a'", "2|1|1|'a'"])
        #expect(try scenario.rows("SELECT * FROM ZTHING") == ["1|1|1|'a'|NULL", "2|1|1|'a'|NULL"])
    }

    @Test("rows that are only in the -wal are migrated, in place and to an output")
    func pendingWAL() throws {
        for output in [nil, "Out.sqlite"] {
            let scenario = try Scenario(Self.from, Self.to, wal: true)
            let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
            try writer.setNoCheckpointOnClose(true)
            try writer.execute(Self.rows)
            try writer.close()
            let wal = try FileManager.default.attributesOfItem(atPath: scenario.store + "-wal")[.size] as? NSNumber
            try #require((wal?.intValue ?? 0) > 0)
            var path = scenario.store
            if let output {
                let before = try snapshot(scenario.folder).filter { !$0.key.hasSuffix("-shm") }
                path = try EngineRun.output(scenario.request(to: "V2"), as: output)
                let after = try snapshot(scenario.folder).filter { !$0.key.hasSuffix("-shm") && $0.key != output }
                #expect(after == before)
            } else {
                try scenario.migrate()
                #expect(!FileManager.default.fileExists(atPath: scenario.store + "-wal"))
            }
            #expect(try Database.rows("SELECT Z_PK FROM ZTHING", in: path) == ["1", "2"])
        }
    }

    @Test("a leftover journal of PERSIST mode is ignored", arguments: [false, true])
    func spentJournal(isResumed: Bool) throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        func leaveJournal() throws {
            try Scenario.execute(
                "PRAGMA journal_mode = PERSIST; UPDATE ZTHING SET ZTEXT = ZTEXT; PRAGMA user_version = 7",
                scenario.store)
            #expect(try FileManager.default.attributesOfItem(atPath: scenario.store + "-journal")[.size] as? Int != 0)
        }
        try leaveJournal()
        if isResumed {
            try scenario.interrupt(scenario.careful()) { if case .phaseBegan("indexes") = $0 { true } else { false } }
        }
        try scenario.migrate()
        #expect(!FileManager.default.fileExists(atPath: scenario.store + "-journal"))
        #expect(try Database.rows("SELECT ZTEXT FROM ZTHING", in: scenario.backup) == ["'a'", "'a'"])
        try leaveJournal()
        let outcome = try BackupRollback(store: scenario.store).run()
        #expect(!FileManager.default.fileExists(atPath: scenario.store + "-journal"))
        #expect(try Database.rows("PRAGMA user_version", in: try #require(outcome.keptAt)) == ["7"])
    }

    @Test("a second migration makes a second backup")
    func twoBackups() throws {
        let scenario = try Scenario(Self.from, Self.to, model(entity("Thing")), rows: Self.rows)
        let first = try #require(try Migration(scenario.request(to: "V2")).run().backup)
        let second = try #require(try Migration(scenario.request(to: "V3")).run().backup)
        #expect(scenario.backups == [first, second].sorted())
        #expect(try Database.rows("SELECT count(*) FROM pragma_table_info('ZTHING')", in: first) == ["4"])
        #expect(try Database.rows("SELECT ZTEXT FROM ZTHING", in: second) == ["'a'", "'a'"])
    }

    @Test("a hard-linked store is refused in place, and read for an output")
    func hardLink() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        try FileManager.default.linkItem(atPath: scenario.store, toPath: scenario.folder + "/Other.sqlite")
        let before = try snapshot(scenario.folder)
        #expect(try failure { try scenario.migrate() }.kind == .sourceData)
        #expect(try snapshot(scenario.folder) == before)
        _ = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
    }

    @Test("a symbolic link stays, and its target is replaced")
    func symbolicLink() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        let link = scenario.folder + "/Link.sqlite"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "Store.sqlite")
        var request = scenario.request(to: "V2")
        request.store = link
        let outcome = try Migration(request).run()
        #expect(outcome.store == scenario.store)
        #expect(outcome.backup == scenario.backup)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "Store.sqlite")
        #expect(try Database.rows("SELECT count(*) FROM pragma_table_info('ZTHING')", in: link) == ["5"])
    }

    @Test("a store that another connection writes to is busy", arguments: ["IMMEDIATE", "EXCLUSIVE"])
    func busy(_ kind: String) throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        let other = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try other.execute("BEGIN \(kind)")
        #expect(try failure { try scenario.migrate() }.kind == .busy)
        try other.rollback()
        try scenario.migrate()
    }

    @Test("a WAL store that another connection has open is busy, and stays in WAL mode")
    func busyWAL() throws {
        let scenario = try Scenario(Self.from, Self.to, wal: true, rows: Self.rows)
        let other = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try other.execute("UPDATE ZTHING SET Z_OPT = 3")
        let bytes = try Data(contentsOf: URL(filePath: scenario.store))
        #expect(try failure { try scenario.migrate() }.kind == .busy)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == bytes)
        try other.execute("UPDATE ZTHING SET Z_OPT = 4")
        try other.close()
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_OPT FROM ZTHING") == ["4", "4"])
    }

    @Test("a failed migration of a WAL store leaves rows and journal mode")
    func failedWAL() throws {
        let scenario = try Scenario(
            Self.from, model(entity("Thing", attribute("must", optional: false))), wal: true, rows: Self.rows)
        let rows = try Database.dump(scenario.store)
        #expect(try failure { try scenario.migrate() }.kind == .sourceData)
        #expect(try header(scenario.store)[18...19] == [2, 2])
        #expect(try Database.dump(scenario.store) == rows)
    }

    @Test("two migrators: the second is told that the first is at work")
    func twoMigrators() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        var second: EngineError?
        let first = Migration(scenario.request(to: "V2")) { event in
            guard case .phaseBegan("check") = event else { return }
            second = try? failure { try scenario.migrate() }
        }
        _ = try first.run()
        #expect(second?.kind == .busy)
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["2"])
    }

    @Test("during a migration a writer gets SQLITE_BUSY, and readers work")
    func othersMeanwhile() throws {
        let scenario = try Scenario(Self.from, Self.to, wal: true, rows: Self.rows)
        var code: ResultCode?
        var seen: [String]?
        _ = try Migration(scenario.request(to: "V2")) { event in
            guard case .phaseBegan("indexes") = event else { return }
            seen = try? scenario.rows("SELECT Z_PK FROM ZTHING")
            do throws(SQLiteError) {
                let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
                try writer.setBusyTimeout(milliseconds: 0)
                try writer.execute("UPDATE ZTHING SET Z_OPT = 9")
            } catch {
                code = error.code
            }
        }.run()
        #expect(code == .busy)
        #expect(seen == ["1", "2"])
        #expect(try scenario.rows("SELECT Z_OPT FROM ZTHING") == ["1", "1"])
    }

    @Test("a work folder that isn't ours is left alone")
    func foreignWorkDirectory() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        let folder = scenario.workDirectory
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(filePath: folder + "/precious"))
        #expect(try failure { try scenario.migrate() }.kind == .undecided)
        #expect(FileManager.default.fileExists(atPath: folder + "/precious"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        #expect(try failure { try scenario.migrate() }.kind == .cannotCreate)
    }

    @Test("an output never replaces a file, and leaves every byte of the source", arguments: [true, false])
    func output(wal: Bool) throws {
        let scenario = try Scenario(Self.from, Self.to, wal: wal, rows: Self.rows)
        let before = try snapshot(scenario.folder)
        let output = try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite")
        var after = try snapshot(scenario.folder)
        after["Out.sqlite"] = nil
        #expect(after == before)
        #expect(try Database.rows("SELECT Z_PK, ZTEXT FROM ZTHING ORDER BY Z_PK", in: output) == ["1|'a'", "2|'a'"])
        let made = try snapshot(scenario.folder)
        // The same request is answered by what is there, another one isn't.
        #expect(try EngineRun.output(scenario.request(to: "V2"), as: "Out.sqlite") == output)
        var other = scenario.request(to: "V2")
        other.verification = .none
        #expect(try failure { _ = try EngineRun.output(other, as: "Out.sqlite") }.kind == .cannotCreate)
        #expect(
            try failure { _ = try EngineRun.output(scenario.request(to: "V2"), as: "Store.sqlite") }.kind
                == .cannotCreate)
        #expect(try snapshot(scenario.folder) == made)
        #expect(
            try failure { _ = try EngineRun.output(scenario.request(to: "V2"), as: "none/Out.sqlite") }.kind
                == .cannotCreate)
    }

    @Test("a plan changes no byte", arguments: [true, false])
    func planOnly(wal: Bool) throws {
        let scenario = try Scenario(Self.from, Self.to, wal: wal, rows: Self.rows)
        let before = try snapshot(scenario.folder)
        let prepared = try Migration(scenario.request(to: "V2")).prepare()
        #expect(prepared.path == ["V1", "V2"])
        #expect(prepared.rows == [2])
        #expect(try snapshot(scenario.folder) == before)
    }
}
