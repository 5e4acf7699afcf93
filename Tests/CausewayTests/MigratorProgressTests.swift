import Causeway
import CausewayFoundation
import Foundation
import Synchronization
import Testing

/// `Foundation.Progress` of a migration, and progress while nothing else happens.
@Suite("Foundation's Progress", .timeLimit(.minutes(60)))
struct MigratorProgressTests {
    @Test("it ends with all units, and never falls")
    func whole() async throws {
        let fixture = try ProgressFixture()
        let progress = Progress(totalUnitCount: 1_000)
        let seen = Mutex<[Int64]>([])
        let summary = try await fixture.migrator.migrate(reportingTo: progress) { _ in
            seen.withLock { $0.append(progress.completedUnitCount) }
        }
        #expect(summary.targetVersion == "v3")
        #expect(progress.fractionCompleted == 1)
        #expect(progress.isFinished)
        let counts = seen.withLock { $0 }
        #expect(counts == counts.sorted())
        #expect(counts.allSatisfy { $0 < 1_000 || $0 == counts.last })
        #expect(Set(counts).count > 3)
    }

    @Test("cancelling it stops the migration, and the same call resumes")
    func cancelled() async throws {
        let fixture = try ProgressFixture()
        let progress = Progress(totalUnitCount: 1_000)
        do throws(MigrationError) {
            try await fixture.migrator.migrate(reportingTo: progress) { event in
                if case .checkpoint = event { progress.cancel() }
            }
            Issue.record("it wasn't stopped")
        } catch {
            #expect(error.code == .interrupted)
            #expect(error.isResumable)
        }
        #expect(try fixture.isUnfinished)
        try await fixture.migrator.migrate(reportingTo: Progress(totalUnitCount: 1_000))
        #expect(try fixture.version == ["v3"])
    }

    @Test("one that was cancelled before begins nothing")
    func cancelledBefore() async throws {
        let fixture = try ProgressFixture()
        let progress = Progress(totalUnitCount: 1_000)
        progress.cancel()
        await #expect(throws: MigrationError.self) { try await fixture.migrator.migrate(reportingTo: progress) }
        #expect(try fixture.version == ["v1"])
    }

    @Test("it is a part of an app's own tree")
    func child() async throws {
        let fixture = try ProgressFixture()
        let parent = Progress(totalUnitCount: 2)
        let child = Progress(totalUnitCount: 1_000, parent: parent, pendingUnitCount: 1)
        try await fixture.migrator.migrate(reportingTo: child)
        #expect(parent.fractionCompleted == 0.5)
    }
}
