import CausewayCheckpoint
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

@testable import CausewayEngine

/// The ledger alone, on its own staging file. Each run of a step opens both, and ends without telling the ledger.
@Suite("Step ledger", .timeLimit(.minutes(60)))
struct StepLedgerTests {
    private final class Work {
        private let scenario: Scenario
        private let source: SourceStore
        let place: StepPlace
        private let options = EngineOptions(jobs: 1, checkpointInterval: 1_000)

        init() throws {
            scenario = try Scenario("<model><entity name=\"A\"/></model>")
            source = try SourceStore.reading(StoreLocation(existing: scenario.store))
            let work = scenario.folder + "/work"
            try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
            place = StepPlace(work: work, index: 0, identity: Self.identity(1))
        }

        static func identity(_ plan: UInt8) -> CheckpointIdentity {
            CheckpointIdentity(
                plan: Array(repeating: plan, count: 32), source: Array(repeating: 2, count: 32),
                migration: Array(repeating: 3, count: CheckpointIdentity.migrationLength))
        }

        /// The first run.
        func begin(_ body: (StepLedger, StagingConnection) throws -> Void) throws {
            let staging = try StagingConnection(
                creating: place.staging, like: source, cancellation: Cancellation(), events: { _ in })
            let ledger = try StepLedger(beginning: place, in: staging, room: 1_000, options: options)
            #expect(!ledger.isResumed)
            try staging.execute("CREATE TABLE t (a)")
            try body(ledger, staging)
        }

        /// A later one.
        func resume(_ body: (StepLedger, StagingConnection) throws -> Void) throws {
            let staging = try #require(
                try StagingConnection(resuming: place.staging, cancellation: Cancellation(), events: { _ in }))
            try body(try #require(try StepLedger(resuming: place, in: staging, options: options)), staging)
        }

        func rows(_ staging: StagingConnection) throws -> Int64 {
            var statement = try staging.connection.prepare("SELECT count(*) FROM t")
            _ = try statement.step()
            return statement.int64(at: 0)
        }
    }

    private static func insert(_ staging: StagingConnection) throws {
        try staging.connection.execute("INSERT INTO t VALUES (1)")
    }

    @Test("a resumed run skips the finished stations and continues after the cursor; rows and cursor agree")
    func cursor() throws {
        let work = try Work()
        try work.begin { ledger, staging in
            try ledger.once("tables") { () throws(EngineError) in }
            guard case .open(nil) = try ledger.enter("rows") else { throw CancellationError() }
            ledger.depart()
            try Self.insert(staging)
            try ledger.advance(to: StepLedger.Cursor(rows: 1, key: 10))
            try ledger.commit()
            ledger.depart()
            try Self.insert(staging)
            try ledger.advance(to: StepLedger.Cursor(rows: 2, key: 20))
        }
        try work.resume { ledger, staging in
            #expect(ledger.isResumed)
            #expect(try work.rows(staging) == 1)
            try ledger.once("tables") { () throws(EngineError) in Issue.record("done twice") }
            guard case .open(let cursor) = try ledger.enter("rows") else { throw CancellationError() }
            #expect(cursor == StepLedger.Cursor(rows: 1, key: 10))
            try ledger.leave()
            #expect(ledger.stations == 2)
        }
    }

    @Test("the rows saved when a run ends are those up to the cursor, or those committed before")
    func ending() throws {
        let work = try Work()
        try work.begin { ledger, staging in
            _ = try ledger.enter("rows")
            ledger.depart()
            try Self.insert(staging)
            try ledger.advance(to: StepLedger.Cursor(rows: 1))
            try ledger.saveBeforeEnding()
            ledger.depart()
            try Self.insert(staging)
            try ledger.saveBeforeEnding()
        }
        #expect(FileManager.default.fileExists(atPath: work.place.work + "/" + WorkFile.checkpoint(0, sequence: 1)))
        try work.resume { ledger, staging in
            let rows = try work.rows(staging)
            #expect(rows == 1)
            #expect(ledger.record.open?.cursor.rows == 1)
        }
    }

    @Test("stations within a station that is done as a whole commit nothing and have no cursor")
    func whole() throws {
        let work = try Work()
        try work.begin { ledger, staging in
            try ledger.once("tables") { () throws(EngineError) in }
            try ledger.commit()
            try ledger.asOne("objects") { () throws(EngineError) in
                guard case .open(nil) = try ledger.enter("rows") else { throw EngineError(.verification, "done") }
                try ledger.advance(to: StepLedger.Cursor(rows: 1))
                try ledger.leave()
            }
            #expect(ledger.record.sequence == 1)
            #expect(ledger.stations == 2)
        }
        try work.resume { ledger, _ in #expect(ledger.record.completed == 1) }
    }

    @Test("parts are restored to their keepers, kept while nothing asks for them, and removed when forgotten")
    func parts() throws {
        let work = try Work()
        try work.begin { ledger, _ in
            for (name, value) in [("a", 1), ("b", 2), ("c", 3)] {
                try ledger.keep(name, restore: { _ in _ = Issue.record("nothing was saved") }) { $0.write(value) }
            }
            ledger.forget("c")
            try ledger.commit()
        }
        // Requests only one of them, and commits again.
        try work.resume { ledger, _ in
            var value = 0
            try ledger.keep("a", restore: { reader throws(CheckpointError) in value = try reader.int() }) {
                $0.write(value + 10)
            }
            #expect(value == 1)
            try ledger.commit()
        }
        try work.resume { ledger, _ in
            #expect(ledger.record.parts.keys.sorted() == ["a", "b"])
            var values: [Int] = []
            for name in ["a", "b"] {
                try ledger.keep(name, restore: { reader throws(CheckpointError) in values.append(try reader.int()) }) {
                    _ in
                }
            }
            #expect(values == [11, 2])
        }
    }

    @Test("work that is at another station is refused")
    func foreignStation() throws {
        let work = try Work()
        try work.begin { ledger, _ in
            _ = try ledger.enter("rows of A")
            try ledger.commit()
        }
        try work.resume { ledger, _ in
            let error = try failure { _ = try ledger.enter("rows of B") }
            #expect(error.kind == .foreignCheckpoint)
            #expect(error.message.contains("rows of A"))
        }
    }

    @Test("progress of another plan or step, or none, isn't resumed")
    func foreignPlan() throws {
        let work = try Work()
        try work.begin { ledger, _ in try ledger.commit() }
        func resumes(index: Int = 0, plan: UInt8 = 1) throws -> Bool {
            let staging = try #require(
                try StagingConnection(resuming: work.place.staging, cancellation: Cancellation(), events: { _ in }))
            let place = StepPlace(work: work.place.work, index: index, identity: Work.identity(plan))
            return try StepLedger(resuming: place, in: staging, options: EngineOptions(jobs: 1)) != nil
        }
        #expect(try resumes())
        #expect(try !resumes(plan: 9))
        #expect(try !resumes(index: 1))
        try work.place.staging.seal(inWALMode: false)
        #expect(try !resumes())
    }

    @Test("a segment that can't be read ends the run; one that is missing or damaged makes the step start over")
    func segments() throws {
        let work = try Work()
        let files = CheckpointFiles(work.place, level: 1)
        for (kind, number) in [(CheckpointFiles.SegmentKind.associations, UInt8(1)), (.rows, 2)] {
            try files.addSegment(kind, [number])
        }
        var writer = FieldWriter()
        files.saveSegments(&writer)
        var saved = FieldReader(writer.bytes)
        let (count, chain) = (try saved.int(), try saved.bytes())
        func read() throws(EngineError) -> [UInt8] {
            var found: [UInt8] = []
            try CheckpointFiles(work.place, level: 1).readSegments(count: count, chain: chain) { kind, payload in
                found += [kind.rawValue] + payload
            }
            return found
        }
        #expect(try read() == [0, 1, 1, 2])
        let (path, kept) = (work.place.work + "/" + WorkFile.segment(0, number: 2), work.place.work + "/kept")
        try FileManager.default.moveItem(atPath: path, toPath: kept)
        #expect(try failure { _ = try read() }.kind == .foreignCheckpoint)
        // Not even root can read a link that leads to itself.
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        let error = try failure { _ = try read() }
        #expect(error.kind == .inputOutput && error.message.contains(path), "\(error)")
        try FileManager.default.removeItem(atPath: path)
        try Data(contentsOf: URL(filePath: kept)).dropLast().write(to: URL(filePath: path))
        #expect(try failure { _ = try read() }.kind == .foreignCheckpoint)
    }

    @Test("a file without a second page has no content; a discarded file is removed with its record")
    func stagingFile() throws {
        let work = try Work()
        let file = work.place.staging
        func look() throws -> [Bool] { [try file.exists(), try file.hasContent()] }
        #expect(try look() == [false, false])
        try work.begin { _, _ in }
        #expect(try look() == [true, false])
        try work.place.removeFiles()
        try work.begin { ledger, _ in try ledger.saveBeforeEnding() }
        try Data().write(to: URL(filePath: file.record))
        #expect(try look() == [true, true])
        try work.place.condemn()
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.place.work).isEmpty)
    }
}
