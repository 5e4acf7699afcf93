internal import Synchronization

/// What a harness has found so far; its cases run on several threads.
package final class Tally: Sendable {
    private let state: Mutex<(result: HarnessResult, skipped: [String])>

    package init(_ name: String) {
        state = Mutex((HarnessResult(name: name), []))
    }

    package var result: HarnessResult { state.withLock { $0.result } }
    /// What wasn't run, and why.
    package var skipped: [String] { state.withLock { $0.skipped } }

    /// A case held.
    package func survived(_ kind: String? = nil) {
        state.withLock { state in
            state.result.tried += 1
            state.result.survived += 1
            if let kind { state.result.count(kind) }
        }
    }

    /// A case failed.
    package func failed(_ text: String, kind: String? = nil, rowsLost: Int = 0) {
        state.withLock { state in
            state.result.tried += 1
            state.result.rowsLost += rowsLost
            state.result.fail(text)
            if let kind { state.result.count(kind) }
        }
    }

    /// Counts something that isn't a case.
    package func count(_ name: String, _ number: Int = 1) {
        state.withLock { $0.result.count(name, number) }
    }

    /// Runs a case. An error that it throws is its failure.
    ///
    /// - Returns: whether the case held.
    package func judge(_ label: String, kind: String? = nil, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            survived(kind)
            return true
        } catch let failure as Trial.Failure {
            failed("\(label): \(failure)", kind: kind, rowsLost: failure.rowsLost)
        } catch {
            failed("\(label): \(error)", kind: kind)
        }
        return false
    }

    /// As `judge`, for a case that may turn out not to exist when it runs: false means that, and isn't counted.
    ///
    /// - Returns: whether the case held; true also if it doesn't exist.
    package func judgeWhereTried(_ label: String, kind: String? = nil, _ body: () throws -> Bool) -> Bool {
        do {
            if try body() { survived(kind) }
            return true
        } catch {
            return judge(label, kind: kind) { throw error }
        }
    }

    /// Records that a part wasn't run.
    package func skip(_ reason: String) {
        state.withLock { $0.skipped.append(reason) }
    }
}
