import CausewayEngine
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Tables rebuilt from pages have the same rows as those made by statements.
@Suite("The page engine", .timeLimit(.minutes(60)))
struct PageEngineTests {
    /// Tables of several batches: a batch has 256 pages. Some rows overflow, rowids have gaps.
    private static let versions = [
        model(
            entity(
                "Note", attribute("text"), attribute("size", "Double"), attribute("gone"), attribute("n", "Integer 64")),
            entity("Page", attribute("body", "Binary"), attribute("day", "Date")), entity("Empty", attribute("a"))),
        model(
            entity(
                "Note", attribute("title", was: "text"), attribute("size", "Double"), attribute("n", "Integer 64"),
                attribute("rank", "Integer 16", optional: false, default: "7")),
            entity("Leaf", was: "Page", attribute("body", "Binary"), attribute("day", "Date")),
            entity("Aardvark"), entity("Empty", attribute("a"))),
    ]
    private static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2600)
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZSIZE, ZGONE, ZN) \
        SELECT i * 3 - 900, 2, i % 4, printf('%.*c', i % 90 * 17 + CASE WHEN i % 97 THEN 0 ELSE 9000 END, 'x'), \
        CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i ELSE i / 8.0 END, 'gone', i * i * 1000003 - 50000 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO ZPAGE (Z_PK, Z_ENT, Z_OPT, ZBODY, ZDAY) \
        SELECT i, 3, 1, zeroblob(i * 2500), i * 86400.0 + i % 3 / 2.0 FROM n;
        """

    static func scenario(wal: Bool = false) throws -> Scenario {
        try Scenario(versions[0], versions[1], wal: wal, rows: rows)
    }

    private static let byStatements = Result {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", engine: .statements)).run()
        return try Database.dump(scenario.store)
    }

    private static let byPages = Result {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", engine: .pages)).run()
        return try Data(contentsOf: URL(filePath: scenario.store))
    }

    static func careful(_ scenario: Scenario, _ engine: EngineChoice = .pages) -> MigrationRequest {
        var request = scenario.careful()
        request.options.engine = engine
        return request
    }

    static func expectDone(_ scenario: Scenario, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Database.dump(scenario.store) == byStatements.get(), sourceLocation: sourceLocation)
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"], sourceLocation: sourceLocation)
        #expect(scenario.backups.count == 1, sourceLocation: sourceLocation)
    }

    @Test(
        "makes the same rows as statements, and the same bytes for any batch size and any number of workers",
        arguments: [1, 4_096], [1, 5])
    func sameBytes(batchRows: Int, jobs: Int) throws {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", batchRows: batchRows, jobs: jobs, engine: .pages)).run()
        try Self.expectDone(scenario)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    @Test("makes the same bytes with a commit for every batch", arguments: [1, 2])
    func sameBytesSlowly(jobs: Int) throws {
        let scenario = try Self.scenario()
        var request = Self.careful(scenario)
        request.options.jobs = jobs
        _ = try Migration(request).run()
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    @Test(
        "makes the same rows as statements of a chain with links, fused or not, in place or to an output",
        arguments: [true, false], [true, false])
    func chain(fuses: Bool, isOutput: Bool) throws {
        let scenario = try Scenario.chain(wal: true)
        let output = isOutput ? scenario.folder + "/New.sqlite" : nil
        var request = scenario.request(to: scenario.lastVersion, output: output, fuses: fuses, engine: .pages)
        request.verification = .full
        _ = try Migration(request).run()
        #expect(try Database.dump(output ?? scenario.store) == Scenario.chainResult.get())
    }

    @Test(
        "ends a batch of short rows before a long default makes it a huge one",
        arguments: [(1_000, 3_000, 3), (70_000, 100, 8), (500_000, 5, 3)])
    func longDefault(length: Int, rows: Int, batches: Int) throws {
        let text = String(repeating: "x", count: length)
        let scenario = try Scenario(
            model(entity("Note", attribute("n", "Integer 64"))),
            model(
                entity("Note", attribute("n", "Integer 64"), attribute("text", optional: false, default: text))),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZN) SELECT i, 1, 1, i FROM n;
                """)
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        let found = run.events.count { if case .progress = $0 { true } else { false } }
        // The last one may be empty.
        #expect((batches...batches + 1).contains(found), "\(found)")
        #expect(
            try scenario.rows("SELECT count(*), count(DISTINCT ZN), min(length(ZTEXT)), sum(length(ZTEXT)) FROM ZNOTE")
                == ["\(rows)|\(rows)|\(length)|\(length * rows)"])
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("resumes after an interruption at any batch, to the same rows", arguments: 1...6)
    func interrupted(batches: Int) throws {
        let scenario = try Self.scenario()
        try scenario.interrupt(afterBatches: batches, Self.careful(scenario))
        let rerun = try scenario.rerun(Self.careful(scenario))
        #expect(rerun.outcome.resumed != nil)
        #expect(rerun.warnings.isEmpty)
        try Self.expectDone(scenario)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    @Test("writes every checkpoint once, the last before a stop too")
    func checkpoints() throws {
        let scenario = try Self.scenario()
        var batches = 0
        var sequences: [UInt64] = []
        try scenario.interrupt(Self.careful(scenario)) { event in
            if case .checkpoint(let sequence, _) = event { sequences.append(sequence) }
            if case .progress = event { batches += 1 }
            return batches == 3
        }
        #expect(sequences.count > 3)
        #expect(sequences == Set(sequences).sorted(), "\(sequences)")
    }

    @Test(
        "finishes after a kill at any point of the pages",
        arguments: [
            (KillPoint.pagesBegun, 1), (.batchWritten, 1), (.batchWritten, 2), (.batchWritten, 4),
            (.checkpointWritten, 1),
            (.checkpointWritten, 2), (.checkpointWritten, 3), (.checkpointWritten, 5), (.checkpointWritten, 6),
            (.pagesWhole, 1), (.pagesDone, 1), (.committing, 2), (.committed, 2), (.committing, 3), (.committed, 3),
            (.schemaFinished, 1),
        ])
    func killed(point: KillPoint, count: Int) async throws {
        let scenario = try Self.scenario()
        try await scenario.kill(at: point, count, engine: .pages)
        _ = try scenario.rerun(Self.careful(scenario))
        try Self.expectDone(scenario)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    @Test(
        "finishes after a kill at any point of the pages, also where the last checkpoint is an old one",
        arguments: [
            (KillPoint.pagesBegun, 1), (.batchWritten, 4), (.pagesWhole, 1), (.pagesDone, 1), (.schemaFinished, 1),
        ])
    func killedLongAfterACheckpoint(point: KillPoint, count: Int) async throws {
        let scenario = try Self.scenario()
        try await scenario.kill(at: point, count, engine: .pages, interval: 3_600)
        _ = try scenario.rerun(Self.careful(scenario))
        try Self.expectDone(scenario)
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    @Test(
        "starts the unfinished step over where the engine was changed",
        arguments: [
            (EngineChoice.pages, EngineChoice.statements), (.statements, .pages),
        ])
    func changed(first: EngineChoice, second: EngineChoice) throws {
        let scenario = try Self.scenario()
        try scenario.interrupt(afterBatches: 2, Self.careful(scenario, first))
        let rerun = try scenario.rerun(Self.careful(scenario, second))
        #expect(rerun.warnings.contains { $0.contains("--engine") && $0.contains("starts over") }, "\(rerun.warnings)")
        try Self.expectDone(scenario)
    }

    @Test("a checkpoint that can't be read ends the run and stays; the one before a damaged one is taken")
    func checkpoint() throws {
        let scenario = try Self.scenario()
        try scenario.interrupt(afterBatches: 3, Self.careful(scenario))
        let newest = try #require(scenario.work.last { $0.hasPrefix("ckpt-") })
        let (path, kept) = (scenario.workFile(newest), scenario.folder + "/kept")
        try FileManager.default.moveItem(atPath: path, toPath: kept)
        // Not even root can read a link that leads to itself.
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        let before = try scenario.everything()
        #expect(try failure { _ = try scenario.rerun(Self.careful(scenario)) }.kind == .inputOutput)
        #expect(try scenario.everything() == before)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: kept, toPath: path)
        try scenario.change(path) { $0.removeLast() }
        let rerun = try scenario.rerun(Self.careful(scenario))
        #expect(rerun.outcome.resumed != nil)
        #expect(rerun.warnings.isEmpty)
        try Self.expectDone(scenario)
    }

    /// Where the first leaf of ZNOTE counts its fragments: SQLite reads its rows whatever is there, only checks don't.
    private static func fragmentCount(in scenario: Scenario) throws -> (page: Int, offset: Int) {
        let root = try #require(
            Int(try scenario.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'ZNOTE'").first ?? ""))
        let bytes = try Data(contentsOf: URL(filePath: scenario.store)).dropFirst((root - 1) * 4_096)
        func number(_ offset: Int, _ length: Int) -> Int {
            bytes.dropFirst(offset).prefix(length).reduce(0) { $0 << 8 | Int($1) }
        }
        // The root's first cell begins with its first child.
        let leaf = number(number(12, 2), 4)
        return (leaf, (leaf - 1) * 4_096 + 7)
    }

    private static func damage(_ path: String, at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data([1]))
        try file.close()
    }

    @Test("a damaged page stops the run before the store is changed, and the page is named")
    func damaged() throws {
        let scenario = try Self.scenario()
        let place = try Self.fragmentCount(in: scenario)
        try Self.damage(scenario.store, at: place.offset)
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        let error = try failure {
            _ = try Migration(scenario.request(to: "V2", engine: .pages)).run()
        }
        #expect(error.kind == .sourceData, "\(error)")
        #expect(error.details.contains { $0.contains("page \(place.page)") }, "\(error)")
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }

    @Test("a page that is damaged after SQLite's check stops the run too, and the page and the pass are named")
    func damagedLater() throws {
        let scenario = try Self.scenario()
        let place = try Self.fragmentCount(in: scenario)
        var before = try Data(contentsOf: URL(filePath: scenario.store))
        let error = try failure {
            let run = Migration(scenario.request(to: "V2", engine: .pages)) { event in
                if case .passBegan = event { try? Self.damage(scenario.store, at: place.offset) }
            }
            _ = try run.run()
        }
        #expect(error.kind == .sourceData, "\(error)")
        #expect(error.message.hasSuffix("the store is damaged"), "\(error)")
        #expect(error.details.first?.hasPrefix("Note: page \(place.page): ") == true, "\(error)")
        before[place.offset] = 1
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }

    @Test("statements that take over from pages have the source checked first, as nobody has read its pages whole")
    func damagedBeforeStatements() throws {
        let scenario = try Self.scenario()
        let place = try Self.fragmentCount(in: scenario)
        try scenario.interrupt(afterBatches: 1, Self.careful(scenario))
        try Self.damage(scenario.store, at: place.offset)
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        let error = try failure { _ = try scenario.rerun(Self.careful(scenario, .statements)) }
        #expect(error.kind == .sourceData, "\(error)")
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }
}
