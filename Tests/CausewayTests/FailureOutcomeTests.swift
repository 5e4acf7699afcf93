import Causeway
import CausewayEngine
import CausewayStores
import Testing

/// The line after an error states the facts, for every kind of failure and every state.
@Suite("The line after an error", .timeLimit(.minutes(60)))
struct FailureOutcomeTests {
    private static let states: [EngineError.StoreState] = [
        .untouched, .settled("its -wal was written into it"), .alreadyNew, .restored,
    ]

    @Test(
        "it says nothing that is false", arguments: EngineError.Kind.allCases, EngineError.WorkState.allCases)
    func claims(kind: EngineError.Kind, work: EngineError.WorkState) {
        for state in Self.states {
            for remedy in ["", "close the application, then run again"] {
                var error = EngineError(kind, "what went wrong", remedy: remedy, state: state)
                error.work = work
                let failure = MigrationError(error)
                let (line, place) = (failure.outcome, "\(kind) \(state) \(work): \(failure.outcome)")
                let isReplaced = state == .alreadyNew || state == .restored
                #expect(line.contains("untouched") == (state == .untouched && work != .others), "\(place)")
                let resumes = work == .kept && error.isPassing && !isReplaced
                #expect(line.contains("resumes") == resumes, "\(place)")
                #expect(failure.isResumable == resumes, "\(place)")
                #expect(line.contains("the new store is in place") == (state == .alreadyNew), "\(place)")
                #expect(failure.storeIsNew == (state == .alreadyNew), "\(place)")
                #expect(line.contains("the backup is in place") == (state == .restored), "\(place)")
                let isSettled = !isReplaced && state != .untouched && work != .others
                #expect(line.contains("no row of the store has changed") == isSettled, "\(place)")
                #expect(line.contains("its -wal was written into it") == isSettled, "\(place)")
                #expect(
                    line.contains("nothing was started") == (work == .none && error.isPassing && !isReplaced),
                    "\(place)")
                #expect(line.contains("is removed") == (work == .discarded && !isReplaced), "\(place)")
                let isFinal = [.none, .discarded].contains(work) && !error.isPassing && !isReplaced
                #expect(line.contains("rerun") == isFinal, "\(place)")
                #expect(line.contains("this run changed nothing") == (work == .others && !isReplaced), "\(place)")
                #expect(line.hasSuffix(remedy) && !line.hasPrefix(";") && !line.contains("; ;"), "\(place)")
                #expect(line.components(of: "run again") <= 1, "\(place)")
            }
        }
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while !rest.isEmpty {
            if rest.hasPrefix(text) { count += 1 }
            rest = rest.dropFirst()
        }
        return count
    }
}
