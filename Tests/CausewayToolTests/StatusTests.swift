import Causeway
import CausewayTool
import Foundation
import Testing

/// `status`, and the flags for unfinished work.
@Suite("Unfinished work", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct StatusTests {
    private let folder: WorkFolder
    private let store: String
    private let migration: [String]

    init() throws {
        folder = try WorkFolder()
        store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        migration = [
            "migrate", store, "--models", SharedStores.models, "--to", "CoreDataMigration_Example 2", "--batch-size",
            "1",
            "--checkpoint-interval", "0", "--jobs", "1",
        ]
    }

    private func status() throws -> MigrationStatus {
        let run = try ToolProcess(["status", store, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        return try JSONDecoder().decode(MigrationStatus.self, from: Data(run.output.utf8))
    }

    @Test("there is none before and after a migration")
    func none() throws {
        let run = try ToolProcess(["status", store])
        #expect(run.status == 0)
        #expect(run.output.hasSuffix("Store.sqlite: no migration is running or unfinished\n"))
        #expect(try ToolProcess(migration).status == 0)
        let after = try status()
        #expect(after.state == .none)
        #expect(after.checkpoints == [])
        #expect(after.processID == nil)
    }

    @Test("a missing store is refused")
    func missing() throws {
        let run = try ToolProcess(["status", folder.path("No.sqlite"), "--json"])
        #expect(run.status == 66)
        #expect(run.output.contains("\"exitCode\":66"))
    }

    @Test("an orphaned folder is distinguished from a migration")
    func foreign() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path(".Store.sqlite.migration"), withIntermediateDirectories: true)
        #expect(try status().state == .starting)
    }

    @Test("the text of a run says how long the rest takes, or that it is estimating")
    func remaining() throws {
        func lines(_ rest: String) throws -> [String] {
            let json = """
                {"state": "running", "store": "/s", "workDirectory": "/w", "workBytes": 0, "path": [], "step": 1,
                 "stepCount": 1, "versions": [], "rows": 0, "bytes": 0, "totalRows": 0, "checkpoints": [],
                 "processID": 1, "fraction": 0.42\(rest)}
                """
            return StatusText(status: try JSONDecoder().decode(MigrationStatus.self, from: Data(json.utf8))).lines
        }
        #expect(try lines(", \"remainingSeconds\": 72.4").contains("Done        42 %, about 1:12 left"))
        #expect(try lines("").contains("Done        42 %, estimating the time left"))
    }

    @Test("the text names step, place, rows and checkpoint, and says what to do")
    func text() throws {
        let json = """
            {"state": "running", "store": "/s", "workDirectory": "/w", "workBytes": 3000, "path": ["a", "b", "c"],
             "step": 2, "stepCount": 2, "versions": ["b", "c"], "station": "pass 3", "rows": 1200, "bytes": 64000,
             "totalRows": 4800, "fraction": 0.315,
             "checkpoints": [{"file": "ckpt-2-00000007.cwz", "sequence": 7, "bytes": 512, "ageSeconds": 2.1}]}
            """
        let status = try JSONDecoder().decode(MigrationStatus.self, from: Data(json.utf8))
        #expect(
            StatusText(status: status).lines == [
                "Store       /s", "State       not running; it ended while moving rows",
                "Version     a → b → c", "Step        2 of 2: b → c", "At          pass 3",
                "Done        31 %",
                "Rows        1,200 of about 4,800 (25 %), 64.0 kB read", "Checkpoint  7, 512 B, 2.1 s ago",
                "Disk        3.0 kB in /w", "", "Run the same migration again: it resumes.",
            ])
    }

    #if DEBUG
        /// Ends a migration with SIGKILL after its third checkpoint.
        private func kill() throws {
            let run = try ToolProcess(migration, environment: ["CAUSEWAY_KILL_AT": "checkpointWritten:3"])
            #expect(run.status == 128 + SIGKILL)
        }

        @Test("a killed run's checkpoints are shown, and `status` changes nothing")
        func killed() throws {
            try kill()
            let before = try folder.content()
            let found = try status()
            #expect(found.state == .running)
            #expect(found.processID == nil)
            #expect(found.stepCount == 1)
            #expect(found.checkpoints.count == 2)
            #expect(found.rows > 0)
            #expect(found.totalRows >= found.rows)
            let text = try ToolProcess(["status", store])
            #expect(text.output.contains("Run the same migration again: it resumes."))
            #expect(try folder.content() == before)
        }

        @Test("it is resumed, with other sizes too")
        func resumed() throws {
            try kill()
            let run = try ToolProcess(migration.dropLast(6) + ["--json", "--verify", "full"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("\"event\":\"resumed\""))
            let backup = try #require(try folder.backup(of: "Store.sqlite"))
            #expect(try Set(folder.content().keys) == ["Store.sqlite", backup])
        }

        @Test("--no-resume refuses it and changes nothing; --restart starts over")
        func policies() throws {
            try kill()
            let before = try folder.content()
            let refusal = try ToolProcess(migration + ["--no-resume"])
            #expect(refusal.status == 76)
            #expect(refusal.errors.contains("--no-resume"))
            #expect(try folder.content() == before)
            let restart = try ToolProcess(migration + ["--restart", "--json"])
            #expect(restart.status == 0, "\(restart.errors)")
            #expect(!restart.output.contains("\"event\":\"resumed\""))
        }

        @Test("another plan is refused, naming what differs")
        func otherPlan() throws {
            try kill()
            let before = try folder.content()
            let rejects = folder.path("Rejects.jsonl")
            let run = try ToolProcess(migration + ["--bad-rows", "quarantine", "--rejects", rejects])
            #expect(run.status == 77)
            #expect(run.errors.contains("--bad-rows: was “fail”, is “quarantine”"), "\(run.errors)")
            #expect(run.errors.contains("--restart"))
            #expect(try folder.content() == before)
        }

        @Test("a store that was written to since is refused")
        func changedStore() throws {
            try kill()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: store)) + Data(count: 4_096)
            try bytes.write(to: URL(fileURLWithPath: store))
            let before = try folder.content()
            let run = try ToolProcess(migration)
            #expect(run.status == 76, "\(run.errors)")
            #expect(try folder.content() == before)
        }

        @Test("backups aren't touched meanwhile", arguments: ["rollback", "purge-backup"])
        func backups(command: String) throws {
            try kill()
            _ = try folder.copy(SharedStores.version1, as: "Store.sqlite.premigration-00000000")
            let before = try folder.content()
            #expect(try ToolProcess([command, store]).status == 76)
            #expect(try folder.content() == before)
        }
    #endif
}
