internal import CausewayEngine
import CausewayPreparation
import CausewayStores
internal import Foundation

/// Reads a state as an application does, resumes the migration in it, and reads it again (InsideCrashSafety §3.1).
///
/// Digests are cached by the bytes that they were computed from: most states hold the same store.
final class StateChecker {
    private let subject: Subject
    private let request: MigrationRequest
    private let history: ModelHistory
    private let oracle: StoreOracle
    private let viewFolder: StateFolder
    private let runFolder: StateFolder
    private var views: [UInt64: StoreOracle.View] = [:]
    private var finished: [UInt64: [String]] = [:]

    /// The result of checking a state.
    struct Finding {
        var view: StoreOracle.View
        /// What is wrong; empty if nothing is.
        var faults: [String] = []
        /// Rows that are lost for good, as far as the tables can be counted.
        var rowsLost = 0
        /// What the resumed run did.
        var outcome: MigrationOutcome?
        /// Where the resumed run started.
        var takenUp = TakenUp.everything
    }

    /// The first step that a run begins; nil if it begins none.
    private final class FirstStep {
        var index: Int?
    }

    init(_ exploration: Exploration, scratch: String) throws {
        subject = exploration.subject
        history = exploration.history
        oracle = exploration.oracle
        viewFolder = try StateFolder(scratch + "/view")
        runFolder = try StateFolder(scratch + "/run")
        request = try subject.request(
            store: runFolder.path + "/" + Subject.storeName, batchRows: subject.exploredBatchRows)
    }

    /// - Parameters:
    ///   - state: what a crash has left.
    ///   - mustBeNew: whether the command had reported success.
    /// - Returns: the result of the check.
    /// - Throws: `HarnessError` if the state can't be made; faults of the store are in the finding.
    func check(_ state: CrashState, mustBeNew: Bool) throws -> Finding {
        let view = try view(of: state)
        var finding = Finding(view: view)
        switch view {
        case .broken(let why): finding.faults.append("before recovery the store is neither old nor new: \(why)")
        case .old where mustBeNew: finding.faults.append("success was reported, but the store is the old one")
        case .old, .new: break
        }
        try runFolder.fill(state)
        do {
            let first = FirstStep()
            let outcome = try Migration(request, history: history) { event in
                if case .stepBegan(_, let index, _, _) = event, first.index == nil { first.index = index }
            }.run()
            finding.outcome = outcome
            if let step = first.index {
                finding.takenUp = TakenUp(step: step, rows: outcome.resumed?.rows ?? 0)
            }
        } catch {
            finding.faults.append("the resumed run fails with \(error.kind.rawValue): \(error)")
        }
        let faults = try faultsAfterwards()
        finding.faults += faults.map { "after the resumed run: \($0)" }
        if !faults.isEmpty { finding.rowsLost = rowsLost() }
        return finding
    }

    private func view(of state: CrashState) throws -> StoreOracle.View {
        let key = state.hash(outside: Subject.workName)
        if let known = views[key] { return known }
        try viewFolder.fill(state, without: Subject.workName)
        let view = oracle.view(viewFolder.path + "/" + Subject.storeName)
        views[key] = view
        return view
    }

    private func faultsAfterwards() throws -> [String] {
        var hasher = Hasher()
        let files = FileManager.default
        for name in try files.subpathsOfDirectory(atPath: runFolder.path).sorted() {
            hasher.combine(name)
            guard let content = files.contents(atPath: runFolder.path + "/" + name) else { continue }
            hasher.combine(content)
        }
        let key = UInt64(bitPattern: Int64(hasher.finalize()))
        if let known = finished[key] { return known }
        let faults = oracle.faults(inFinished: runFolder.path)
        finished[key] = faults
        return faults
    }

    /// Rows that neither the store nor a backup has.
    private func rowsLost() -> Int {
        let store = runFolder.path + "/" + Subject.storeName
        guard let digest = try? StoreDigest(store) else { return oracle.new.rows.values.reduce(0, +) }
        return min(digest.rowsMissing(from: oracle.new), digest.rowsMissing(from: oracle.old))
    }
}
