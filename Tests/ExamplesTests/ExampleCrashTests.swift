import Causeway
import Foundation
import StaffMigrator
import Testing

/// Every worked example, killed at any event and run again.
@Suite("The examples: a killed run that is resumed gives the undisturbed run's store", .timeLimit(.minutes(60)))
struct ExampleCrashTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let history: ExampleHistory
        let from: String
        var rows = 40
        var batchRows = 7
        var jobs = 2
        var interval = 0.0
        var fusesSteps = true
        var isOutput = false
        var note = ""

        var testDescription: String {
            "\(history.name) from \(from)\(note), batches of \(batchRows), \(jobs) jobs\(fusesSteps ? "" : ", single steps")"
                + "\(isOutput ? ", to an output" : "")\(interval > 0 ? ", no commit is due" : "")"
        }
    }

    static let cases: [Case] = {
        var inSwift = StaffTests.history
        inSwift.code = StaffMigrator.codeWithMapping
        var cases = [
            Case(history: BookStoreTests.history, from: "v1"),
            Case(history: BookStoreTests.history, from: "v3", rows: 12, batchRows: 1, jobs: 1),
            Case(history: BookStoreTests.history, from: "v2", jobs: 4, fusesSteps: false, isOutput: true),
            Case(history: BookStoreTests.history, from: "v1", interval: 5),
            Case(history: ColourfulPostsTests.history, from: "v1"),
            Case(history: ColourfulPostsTests.history, from: "v2", rows: 12, batchRows: 1, jobs: 4),
            Case(history: ColourfulPostsTests.history, from: "v1", fusesSteps: false, isOutput: true),
            Case(history: StaffTests.history, from: "v1"),
            Case(history: inSwift, from: "v1", batchRows: 1, jobs: 1, note: ", mapping in Swift"),
            Case(history: KennelTests.history, from: "v1"), Case(history: LedgerTests.history, from: "v1"),
            Case(history: KennelTests.history, from: "v1", rows: 20, batchRows: 1, jobs: 1, fusesSteps: false),
            Case(history: JumpsTests.jumps, from: "v1"),
            Case(history: JumpsTests.jumps, from: "v3", batchRows: 1, fusesSteps: false),
            Case(history: JumpsTests.detour, from: "v1", fusesSteps: false),
        ]
        if case .success(let tracks) = TracksTests.history {
            cases.append(Case(history: tracks, from: "v1"))
            cases.append(Case(history: tracks, from: "v1", rows: 12, batchRows: 1, fusesSteps: false, isOutput: true))
        }
        return cases
    }()

    @Test("at sampled events, or at all of them", arguments: cases)
    func killed(_ test: Case) async throws {
        let workshop = try Workshop()
        let folder = workshop.url.appending(path: "stores")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = try test.history.store(at: test.from, rows: test.rows, in: workshop, as: "stores/Store.sqlite")
        var options = MigrationOptions()
        options.target = test.history.versions.last
        options.batchRows = test.batchRows
        options.jobs = test.jobs
        options.checkpointInterval = test.interval
        options.fusesSteps = test.fusesSteps
        if test.isOutput { options.output = folder.appending(path: "Result.sqlite").path(percentEncoded: false) }
        let crash = CrashSnapshots(
            name: test.testDescription, models: test.history.models, code: test.history.code, options: options)
        #expect(try await crash.check(store, in: folder) > 0)
    }
}
