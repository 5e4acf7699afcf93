import CausewayStores

extension EngineError {
    /// What the failure leaves, in one line: the store, the work, and what to do. The parts are joined by semicolons;
    /// the remedy is the last.
    ///
    /// Told from what the run knows it did, not guessed from the kind of failure.
    var outcome: String {
        var parts: [String]
        switch state {
        case .alreadyNew:
            parts = ["the new store is in place"]
            if work == .kept { parts.append("the next run finishes the rest") }
        case .restored: parts = ["the backup is in place again"]
        case .untouched, .settled: parts = [storeLeft, workLeft].compactMap(\.self)
        }
        if !remedy.isEmpty { parts.append(remedy) }
        return parts.joined(separator: "; ")
    }

    private var storeLeft: String {
        if work == .others { return "this run changed nothing" }
        guard case .settled(let what) = state else { return "the store is untouched" }
        return "no row of the store has changed, but \(what)"
    }

    private var workLeft: String? {
        // Where the remedy doesn't say so.
        let again = remedy.isEmpty ? "; run again" : ""
        let first =
            kind == .verification
            ? "a rerun gives the same result: please report it" : "fix this first, a rerun won't help"
        return switch (work, isPassing) {
        case (.others, _): remedy.isEmpty ? "run again when it has ended" : nil
        case (.kept, true): "the next run resumes"
        case (.kept, false): "the unfinished work is kept"
        case (.discarded, true): "the unfinished work is removed" + again
        case (.discarded, false): "the unfinished work is removed; \(first)"
        case (.none, true): "nothing was started" + again
        case (.none, false): first
        }
    }
}
