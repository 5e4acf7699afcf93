/// Where a run was resumed after a crash.
struct TakenUp: Hashable, Comparable, Sendable {
    /// The step, from 0; `Int.max` if nothing was left to do.
    var step: Int
    /// Rows that needn't be made again.
    var rows: Int

    static let everything = TakenUp(step: .max, rows: 0)

    static func < (one: TakenUp, other: TakenUp) -> Bool { (one.step, one.rows) < (other.step, other.rows) }
}

/// The oracle of lost work (InsideCrashSafety §3.1): with a commit after every batch, a crash may cost only the last
/// batch. A state that resumes from an earlier commit has lost durable work.
///
/// It compares with the progress that the walk has seen. If every crash point was visited, that is every commit, and
/// "at most one batch" is shown. If some were left out, only some commits are seen: a failure is still a failure, but
/// its absence proves less, and nothing can be said about single batches.
struct LostProgress: Sendable {
    /// Commits that a crash may cost: the one that was in progress.
    private static let allowed = 1

    private var states: [(point: Int, label: String, progress: TakenUp)] = []

    mutating func note(_ state: CrashState, _ progress: TakenUp) {
        states.append((state.point, state.label, progress))
    }

    mutating func add(_ other: LostProgress) {
        states += other.states
    }

    /// Checks all states at once: work that could be resumed at an earlier point must still be there at this one.
    ///
    /// - Parameters:
    ///   - result: counts the states that have lost a batch, and gets a failure for each that has lost more.
    ///   - isExact: whether every crash point was visited.
    ///   - replay: what replays a state.
    func judge(_ result: inout HarnessResult, isExact: Bool, replay: (String) -> String) {
        guard !states.isEmpty else { return }
        result.count(isExact ? "walks that show every lost batch" : "walks that show some lost batches")
        let ranks = Dictionary(
            uniqueKeysWithValues: Set(states.map(\.progress)).sorted().enumerated().map { ($1, $0) })
        var furthest = 0
        var atPoint = 0
        var point = -1
        for state in states.sorted(by: { $0.point < $1.point }) {
            if state.point > point { (point, furthest) = (state.point, max(furthest, atPoint)) }
            let rank = ranks[state.progress] ?? 0
            atPoint = max(atPoint, rank)
            let lost = furthest - rank
            if lost > 0 { result.count(isExact ? "states that lost a batch" : "states that lost some progress") }
            if lost > Self.allowed {
                let more = isExact ? "" : " or more"
                result.fail(
                    """
                    \(lost)\(more) batches that were committed are made again, from \(state.progress) \
                    [\(replay(state.label))]
                    """)
            }
        }
    }
}
