import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// What a failure says about the store and the work is true on disk.
@Suite("What a failure leaves", .timeLimit(.minutes(60)))
struct FailureStateTests {
    enum Cause: String, CaseIterable {
        case unknownTarget, badRows, busy, otherMigrator, stoppedInCheck, stoppedInRows, otherPlan, changedMind
    }

    private static let from = model(entity("Thing", attribute("text"), attribute("note")))
    private static let to = model(
        entity("Thing", attribute("text", optional: false), attribute("note"), attribute("more")))
    private static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, 'x' FROM n;
        """

    /// Writes rows that are only in the -wal, like a program that was killed.
    private func writeToWAL(_ scenario: Scenario) throws {
        let writer = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
        try writer.setNoCheckpointOnClose(true)
        try writer.execute("UPDATE ZTHING SET ZNOTE = 'late'")
        try writer.close()
    }

    /// Runs a migration that stops when an event comes.
    private func stopped(_ request: MigrationRequest, at isDue: @escaping (EngineEvent) -> Bool) throws -> EngineError {
        let cancellation = Cancellation()
        return try failure {
            _ = try Migration(request, cancellation: cancellation) { if isDue($0) { cancellation.cancel() } }.run()
        }
    }

    private func error(_ cause: Cause, _ scenario: Scenario, _ request: MigrationRequest) throws -> EngineError {
        var request = request
        let folder = (request.output.map { URL(filePath: $0).lastPathComponent } ?? "Store.sqlite")
        let work = "\(scenario.folder)/.\(folder).migration"
        switch cause {
        case .unknownTarget:
            request.target = "Nowhere"
            return try failure { _ = try Migration(request).run() }
        case .badRows: return try failure { _ = try Migration(request).run() }
        case .busy:
            let other = try Connection(path: scenario.store, mode: .readWrite, hardening: .own)
            try other.execute("BEGIN EXCLUSIVE")
            defer { try? other.rollback() }
            return try failure { _ = try Migration(request).run() }
        case .otherMigrator:
            try FileManager.default.createDirectory(
                atPath: work, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let lock = try FileLock(work + "/lock")
            let error = try failure { _ = try Migration(request).run() }
            try lock.removeAndRelease()
            try FileManager.default.removeItem(atPath: work)
            return error
        case .stoppedInCheck:
            return try stopped(request) { if case .phaseBegan("check") = $0 { true } else { false } }
        case .stoppedInRows:
            return try stopped(request) { if case .progress = $0 { true } else { false } }
        case .otherPlan:
            _ = try stopped(request) { if case .progress = $0 { true } else { false } }
            request.frameworkVersion = 1340
            return try failure { _ = try Migration(request).run() }
        case .changedMind:
            _ = try stopped(request) { if case .progress = $0 { true } else { false } }
            request.resume = .refuse
            return try failure { _ = try Migration(request).run() }
        }
    }

    @Test(
        "the store is untouched and work is kept where the error says so", arguments: Cause.allCases,
        [(false, false), (true, false), (false, true), (true, true)])
    func truth(cause: Cause, place: (wal: Bool, output: Bool)) throws {
        // A reader of a WAL store isn't blocked by a writer.
        if cause == .busy, place.wal, place.output { return }
        let scenario = try Scenario(Self.from, Self.to, wal: place.wal, rows: Self.rows)
        if cause == .badRows {
            try Scenario.execute("UPDATE ZTHING SET ZTEXT = NULL WHERE Z_PK = 7", scenario.store)
        }
        if place.wal { try writeToWAL(scenario) }
        let output = place.output ? scenario.folder + "/New.sqlite" : nil
        var request = scenario.request(to: "V2", output: output, batchRows: 1, jobs: 1, engine: .statements)
        request.options.checkpointInterval = 0
        let before = try files(scenario)
        let error = try error(cause, scenario, request)
        let after = try files(scenario)
        let isSame = before == after
        switch error.state {
        case .untouched: #expect(isSame || cause == .busy, "\(error)")
        case .settled: #expect(!isSame, "\(error)")
        case .alreadyNew, .restored: Issue.record("nothing was replaced: \(error)")
        }
        // Rows never change.
        if cause != .busy {
            #expect(try Database.rows("SELECT count(*) FROM ZTHING", in: scenario.store) == ["50"])
        }
        let name = place.output ? "New.sqlite" : "Store.sqlite"
        let plan = "\(scenario.folder)/.\(name).migration/plan.json"
        let hasWork = FileManager.default.fileExists(atPath: plan)
        #expect(hasWork == [.stoppedInRows, .otherPlan, .changedMind].contains(cause))
        #expect((error.work == .kept) == hasWork, "\(error.work)")
        #expect(error.isResumable == (cause == .stoppedInRows), "\(error)")
        #expect((error.work == .others) == (cause == .otherMigrator))
        if !hasWork {
            #expect(!FileManager.default.fileExists(atPath: "\(scenario.folder)/.\(name).migration"))
        }
    }

    /// The store's files without the -shm, which any reader may rebuild.
    private func files(_ scenario: Scenario) throws -> [String: String] {
        try snapshot(scenario.folder).filter { ["Store.sqlite", "Store.sqlite-wal"].contains($0.key) }
    }

    @Test("a store that stays in rollback mode for unfinished work isn't called untouched")
    func waiting() throws {
        let scenario = try Scenario(Self.from, Self.to, wal: true, rows: Self.rows)
        var request = scenario.request(to: "V2", batchRows: 1, jobs: 1, engine: .statements)
        for _ in 0..<2 {
            let error = try stopped(request) { if case .progress = $0 { true } else { false } }
            guard case .settled(let what) = error.state else {
                Issue.record("\(error.state)")
                continue
            }
            #expect(what.contains("rollback-journal mode"))
            #expect(error.isResumable)
        }
        request.resume = .restart
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING") == ["50"])
    }

    @Test("a journal that PERSIST mode has ended isn't called a transaction that was rolled back")
    func spentJournal() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        try Scenario.execute("PRAGMA journal_mode = PERSIST; UPDATE ZTHING SET ZNOTE = 'new'", scenario.store)
        let before = try files(scenario)
        let error = try stopped(scenario.request(to: "V2")) {
            if case .phaseBegan("indexes") = $0 { true } else { false }
        }
        #expect(error.state == .untouched, "\(error)")
        #expect(try files(scenario) == before)
    }

    /// The status in the middle of a run, and the error that a second migrator gets.
    private struct Meanwhile {
        var phases: [String: MigrationStatus.State] = [:]
        var refusals: [EngineError] = []
    }

    @Test(
        "the status says from the start what a run does, and a second migrator is told to wait",
        arguments: [false, true])
    func meanwhile(output: Bool) throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        let name = output ? "New.sqlite" : "Store.sqlite"
        let request = scenario.request(
            to: "V2", output: output ? scenario.folder + "/New.sqlite" : nil, engine: .statements)
        let location = try StoreLocation(new: scenario.folder + "/" + name)
        var seen = Meanwhile()
        var problem: (any Error)?
        let outcome = try Migration(request) { event in
            do {
                switch event {
                case .phaseBegan, .passBegan:
                    let status = try MigrationStatus(of: location)
                    #expect(status.processID == Int(ProcessInfo.processInfo.processIdentifier))
                    seen.phases[status.phase ?? "none"] = status.state
                    seen.refusals.append(try failure { _ = try Migration(request).run() })
                default: break
                }
            } catch { problem = error }
        }.run()
        #expect(problem == nil)
        #expect(outcome.rows == 50)
        for phase in ["check", "rows", "indexes", "verification", "swap"] {
            #expect(seen.phases[phase] == (phase == "check" ? .starting : .running), "\(phase)")
        }
        #expect(seen.refusals.count >= 5)
        #expect(seen.refusals.allSatisfy { $0.kind == .busy && $0.work == .others && $0.state == .untouched })
        #expect(try MigrationStatus(of: location).state == .none)
    }

    @Test("a run that is killed during the check leaves nothing that counts as work")
    func killedInCheck() throws {
        let scenario = try Scenario(Self.from, Self.to, rows: Self.rows)
        try FileManager.default.createDirectory(
            atPath: scenario.workDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data("1\nhost\nboot\ncheck\n".utf8).write(to: URL(filePath: scenario.workDirectory + "/lock"))
        let status = try MigrationStatus(of: StoreLocation(existing: scenario.store))
        #expect(status.state == .starting && status.phase == "check" && status.processID == nil)
        var request = scenario.request(to: "V2")
        request.resume = .refuse
        #expect(try Migration(request).run().rows == 50)
        // A run that has nothing to migrate removes it too.
        try FileManager.default.createDirectory(
            atPath: scenario.workDirectory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        #expect(try Migration(request).run().prepared.steps.isEmpty)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
        #expect(!FileManager.default.fileExists(atPath: scenario.workDirectory))
    }
}
