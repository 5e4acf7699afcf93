import Causeway
import CausewayCheckers
import Foundation
import StaffMigrator
import Testing

/// The result depends only on the rows: for single steps, the whole chain, and the chain from every version.
@Suite("The same rows for any batch size and number of workers, fused or not", .timeLimit(.minutes(60)))
struct SameRowsTests {
    /// A path through a history.
    struct Way: Sendable, CustomTestStringConvertible {
        let history: ExampleHistory
        let from: String
        let to: String
        var note = ""
        var testDescription: String { "\(history.name) \(from) → \(to)\(note)" }
    }

    static let ways: [Way] = {
        var ways: [Way] = []
        var histories = [
            ColourfulPostsTests.history, BookStoreTests.history, StaffTests.history, KennelTests.history,
            LedgerTests.history,
        ]
        if case .success(let tracks) = TracksTests.history { histories.append(tracks) }
        for history in histories { ways += lines(history) }
        var inSwift = StaffTests.history
        inSwift.code = StaffMigrator.codeWithMapping
        ways.append(Way(history: inSwift, from: "v1", to: "v2", note: ", mapping in Swift"))
        for (from, to) in [("v1", "v4"), ("v2", "v4"), ("v3", "v4"), ("v4", "v5")] {
            ways.append(Way(history: JumpsTests.jumps, from: from, to: to))
        }
        for history in JumpsTests.histories {
            for from in history.versions.dropLast() { ways.append(Way(history: history, from: from, to: "v6")) }
        }
        return ways
    }()

    /// Each step alone, and from every version to the last.
    private static func lines(_ history: ExampleHistory) -> [Way] {
        guard let last = history.versions.last else { return [] }
        return zip(history.versions, history.versions.dropFirst()).flatMap { from, next in
            next == last
                ? [Way(history: history, from: from, to: last)]
                : [Way(history: history, from: from, to: next), Way(history: history, from: from, to: last)]
        }
    }

    @Test("batches of 1, 7 and 1,024 rows, 1 to 4 workers, fused steps or single ones", arguments: ways)
    func rows(_ way: Way) async throws {
        let workshop = try Workshop()
        let source = try way.history.store(at: way.from, in: workshop)
        var expected: [String: [String]]?
        for fusesSteps in [true, false] {
            for var work in ExampleHistory.Work.every where fusesSteps || work.batchRows == 7 && work.jobs % 2 == 0 {
                work.fusesSteps = fusesSteps
                let result = try await way.history.migrate(source, to: way.to, work, in: workshop)
                let dump = try StoreContent.dump(result)
                if let expected {
                    StoreContent.expectSame(dump, expected, "\(work.testDescription)")
                } else {
                    expected = dump
                }
            }
        }
        #expect((expected?.values.map(\.count).max() ?? 0) > 0)
    }

    @Test("a chain gives what its steps give, one by one", arguments: ways.filter { $0.note.isEmpty })
    func chain(_ way: Way) async throws {
        let workshop = try Workshop()
        let source = try way.history.store(at: way.from, in: workshop)
        let path = try Migrator(
            store: source, models: way.history.models, options: Self.options(to: way.to), code: way.history.code
        ).plan().path
        guard path.count > 2 else { return }
        let steps = try await way.history.migrateStepByStep(source, through: Array(path.dropFirst()), in: workshop)
        let chain = try await way.history.migrate(source, to: way.to, in: workshop)
        StoreContent.expectSame(try StoreContent.dump(steps), try StoreContent.dump(chain), "steps and chain")
    }

    private static func options(to target: String) -> MigrationOptions {
        var options = MigrationOptions()
        options.target = target
        return options
    }

    @Test(
        "layout, metadata and version hashes are as Core Data writes them",
        .enabled(if: Checker.isThere, "\(Checker.missing)"), arguments: ways)
    func layout(_ way: Way) async throws {
        let workshop = try Workshop()
        let source = try way.history.store(at: way.from, in: workshop)
        let result = try await way.history.migrate(source, to: way.to, in: workshop)
        for output in [try Checker.schema(result), try Checker.hashes(result)] {
            #expect(output.status == 0, "\(output.text)")
        }
        #expect(try StoreContent.texts("PRAGMA integrity_check", result) == [["ok"]])
        // The same store at a later version: its UUID and the app's metadata stay.
        let sql = "SELECT Z_VERSION, Z_UUID FROM Z_METADATA"
        #expect(try StoreContent.texts(sql, result) == StoreContent.texts(sql, source))
    }
}
