/// How far the migrations of several stores are, by bytes, and how long the rest takes.
package struct StoresMeter {
    /// A store that is being migrated.
    private struct Running {
        var fraction = 0.0
        /// Whether this call takes up an earlier run's work, of which its first progress tells.
        var isResumed = false
        var hasSteps = false
        /// Where this call found it.
        var first: Double?
    }

    /// The stores' sizes.
    private let bytes: [Double]
    private let total: Double
    private var running: [Int: Running] = [:]
    private var ended = 0.0
    /// What this call has migrated of those that have ended. What was done before, or not at all, tells nothing of its
    /// speed.
    private var worked = 0.0

    /// - Parameter bytes: of each store.
    package init(_ bytes: [Int]) {
        self.bytes = bytes.map(Double.init)
        total = self.bytes.reduce(0, +)
    }

    /// An earlier run's work on a store's step is taken up.
    package mutating func resume(_ place: Int) { running[place, default: Running()].isResumed = true }

    /// A run of steps begins, counted from 0: those before the first one are an earlier run's work.
    package mutating func beginStep(_ step: Int, of place: Int) {
        if step > 0, running[place]?.hasSteps != true { resume(place) }
        running[place, default: Running()].hasSteps = true
    }

    /// Takes the fraction of a store's migration that is done, from 0 to 1.
    package mutating func advance(_ place: Int, to fraction: Double) {
        running[place, default: Running()].fraction = fraction
        guard let store = running[place], store.isResumed, store.first == nil, fraction > 0 else { return }
        running[place]?.first = fraction
    }

    /// A store has ended; `isMigrated` unless it failed, or needed nothing.
    package mutating func end(_ place: Int, isMigrated: Bool) {
        let first = running.removeValue(forKey: place)?.first ?? 0
        ended += bytes[place]
        if isMigrated { worked += bytes[place] * (1 - first) }
    }

    private var done: Double { running.reduce(ended) { $0 + bytes[$1.key] * $1.value.fraction } }

    /// The part of all stores that is done; nil where they are empty.
    package var fraction: Double? { total > 0 ? min(1, done / total) : nil }

    /// How long the rest takes after these seconds; nil where too little was migrated to tell.
    package func remainingSeconds(after seconds: Double) -> Double? {
        let all = running.reduce(worked) { $0 + bytes[$1.key] * ($1.value.fraction - ($1.value.first ?? 0)) }
        // Before that it would be a guess out of one small store.
        guard all > 0, all >= 0.02 * total else { return nil }
        return seconds * max(0, total - done) / all
    }
}
