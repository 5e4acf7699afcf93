import Causeway
import Foundation
import Synchronization
import Testing

/// A migration as a sequence of events.
@Suite("Events as a sequence", .timeLimit(.minutes(60)))
struct MigrationEventsTests {
    @Test("they come in order, from the plan to the summary, and the progress never falls")
    func whole() async throws {
        let fixture = try ProgressFixture()
        var events: [MigrationEvent] = []
        for try await event in fixture.migrator.events() { events.append(event) }
        guard case .planned? = events.first, case .finished(let summary)? = events.last else {
            Issue.record("\(String(describing: events.first)) … \(String(describing: events.last))")
            return
        }
        #expect(summary.targetVersion == "v3")
        #expect(try fixture.version == ["v3"])
        let fractions = events.compactMap { if case .progress(let progress) = $0 { progress.fraction } else { nil } }
        #expect(!fractions.isEmpty)
        #expect(fractions == fractions.sorted())
        let begun = events.compactMap { if case .passBegan(let title) = $0 { title } else { nil } }
        let ended = events.compactMap { if case .passEnded(let title, _, _, _) = $0 { title } else { nil } }
        #expect(!begun.isEmpty && begun == ended)
    }

    @Test("a slow reader loses nothing but older progress")
    func slowReader() async throws {
        let fixture = try ProgressFixture()
        let sequence = fixture.migrator.events(progressEvery: 0.01)
        var events: [MigrationEvent] = []
        for try await event in sequence {
            if events.isEmpty {
                // By now all others are waiting.
                while try !fixture.isDone { try await Task.sleep(for: .milliseconds(20)) }
            }
            events.append(event)
        }
        let isProgress = events.map { if case .progress = $0 { true } else { false } }
        #expect(zip(isProgress, isProgress.dropFirst()).allSatisfy { !($0 && $1) }, "neighbours became one")
        let begun = events.count { if case .passBegan = $0 { true } else { false } }
        let ended = events.count { if case .passEnded = $0 { true } else { false } }
        #expect(begun == ended && begun > 0)
        guard case .finished? = events.last else {
            Issue.record("the last event is \(String(describing: events.last))")
            return
        }
    }

    /// The events of a migration, which is tried again while an earlier one in this process is still ending.
    private static func eventsWhenFree(_ migrator: Migrator) async throws -> [MigrationEvent] {
        while true {
            var events: [MigrationEvent] = []
            do {
                for try await event in migrator.events() { events.append(event) }
                return events
            } catch {
                guard ((error as any Error) as? MigrationError)?.code == .busy else { throw error }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test("leaving the loop stops the migration, and the next one resumes")
    func left() async throws {
        let fixture = try ProgressFixture()
        let gate = ProgressFixture.Gate()
        let migrator = try fixture.migrator(before: gate)
        for try await event in migrator.events() {
            if case .checkpoint(let sequence, _) = event, sequence > 3 { break }
        }
        gate.open()
        // The run saves what it has done; it isn't waited for.
        let events = try await Self.eventsWhenFree(migrator)
        #expect(events.contains { if case .resumed = $0 { true } else { false } })
        #expect(try fixture.version == ["v3"])
    }

    @Test("cancelling the task ends the loop with an error, resumably")
    func cancelled() async throws {
        let fixture = try ProgressFixture()
        let gate = ProgressFixture.Gate()
        let migrator = try fixture.migrator(before: gate)
        let hasBegun = Mutex(false)
        let task = Task { () -> MigrationError? in
            // A run that fails at once must not be waited for.
            defer { hasBegun.withLock { $0 = true } }
            do {
                for try await event in migrator.events() {
                    if case .checkpoint = event { hasBegun.withLock { $0 = true } }
                }
                return nil
            } catch {
                return (error as any Error) as? MigrationError
            }
        }
        while !hasBegun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        gate.open()
        let error = try #require(await task.value)
        #expect(error.code == .interrupted)
        #expect(error.isResumable)
        #expect(try fixture.isUnfinished)
        #expect(try fixture.version == ["v1"])
        try await migrator.migrate()
        #expect(try fixture.version == ["v3"])
    }

    @Test("a failure is thrown once, and then there is nothing more")
    func failure() async throws {
        let migrator = Migrator(store: "/nowhere/Store.sqlite", models: "/nowhere/Model.xcdatamodeld")
        let iterator = migrator.events().makeAsyncIterator()
        await #expect(throws: MigrationError.self) { _ = try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test("each iteration is a migration of its own")
    func again() async throws {
        let fixture = try ProgressFixture()
        let sequence = fixture.migrator.events()
        for try await _ in sequence {}
        var summary: MigrationSummary?
        for try await event in sequence { if case .finished(let found) = event { summary = found } }
        #expect(summary?.wasCurrent == true)
    }
}
