import CausewayStores

/// What a failure leaves, in one line: the store, the work, and what to do.
///
/// Told from what the run knows it did, not guessed from the kind of failure.
struct FailureOutcome {
    private let error: EngineError

    init(_ error: EngineError) {
        self.error = error
    }

    /// The parts are joined by semicolons; the remedy is the last.
    var sentence: String {
        var parts: [String]
        switch error.state {
        case .alreadyNew:
            parts = ["the new store is in place"]
            if error.work == .kept { parts.append("the next run finishes the rest") }
        case .restored: parts = ["the backup is in place again"]
        case .untouched, .settled: parts = [store, work].compactMap(\.self)
        }
        if !error.remedy.isEmpty { parts.append(error.remedy) }
        return parts.joined(separator: "; ")
    }

    private var store: String {
        if error.work == .others { return "this run changed nothing" }
        guard case .settled(let what) = error.state else { return "the store is untouched" }
        return "no row of the store has changed, but \(what)"
    }

    private var work: String? {
        switch (error.work, error.isPassing) {
        case (.others, _): error.remedy.isEmpty ? "run again when it has ended" : nil
        case (.kept, true): "the next run resumes"
        case (.kept, false): "the unfinished work is kept"
        case (.discarded, true): "the unfinished work is removed" + again
        case (.discarded, false): "the unfinished work is removed; \(first)"
        case (.none, true): "nothing was started" + again
        case (.none, false): first
        }
    }

    /// Where the remedy doesn't say so.
    private var again: String { error.remedy.isEmpty ? "; run again" : "" }

    private var first: String {
        error.kind == .verification
            ? "a rerun gives the same result: please report it" : "fix this first, a rerun won't help"
    }
}
