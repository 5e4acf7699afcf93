/// Rows moved so far, over all steps.
struct Progress {
    let total: Int
    var rows = 0
    var bytes = 0
    /// Seconds that commits and checkpoints of this run took.
    var savingSeconds = 0.0
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
