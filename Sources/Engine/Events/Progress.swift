/// Rows moved so far, over all steps.
struct Progress {
    let total: Int
    var rows = 0
    var bytes = 0
    /// What commits and checkpoints of this run have taken, in seconds.
    var savingSeconds = 0.0
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
