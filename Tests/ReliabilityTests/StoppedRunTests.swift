import CausewayEngine
import CausewayPreparation
import CausewayReliabilityKit
import CausewayStores
import Foundation
import Testing

/// A run that is asked to stop saves everything since the last commit: rows, cursor, keys, associations.
@Suite("Runs that are stopped between two commits", .timeLimit(.minutes(60)))
struct StoppedRunTests {
    @Test(
        "what was done since the last commit is saved as a whole",
        arguments: Subject.Chain.allCases.flatMap { chain in
            [1, 2, 5, 9, 14, 20].map { (chain, EngineChoice.statements, $0) }
        }
            + [1, 2, 3, 5, 8].map { (.inferred, .pages, $0) })
    func stopped(_ chain: Subject.Chain, engine: EngineChoice, after batches: Int) throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let subject = Subject(chain, engine: engine, state: .clean)
        let history = try subject.readHistory()
        let files = FileManager.default
        let (quiet, stopped) = (folder.path + "/quiet", folder.path + "/stopped")
        try files.createDirectory(atPath: quiet, withIntermediateDirectories: true)
        try subject.makeStore(in: quiet)
        try files.copyItem(atPath: quiet, toPath: stopped)
        let undisturbed = quiet + "/" + Subject.storeName
        _ = try Migration(subject.request(store: undisturbed), history: history).run()

        let store = stopped + "/" + Subject.storeName
        var request = try subject.request(store: store, batchRows: 2)
        // Only the empty tables are committed before the run is stopped.
        request.options.checkpointInterval = 3_600
        let cancellation = Cancellation()
        var moved = 0
        let error = #expect(throws: EngineError.self) {
            try Migration(request, history: history, cancellation: cancellation) { event in
                guard case .progress = event else { return }
                moved += 1
                if moved == batches { cancellation.cancel() }
            }.run()
        }
        #expect(error?.kind == .interrupted)
        let outcome = try Migration(request, history: history).run()
        #expect((outcome.resumed?.rows ?? 0) > 0)
        #expect(try StoreDigest(store) == StoreDigest(undisturbed))
    }
}
