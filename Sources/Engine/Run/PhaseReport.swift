import CausewayPlatform

/// Records every change of a run's phase, for `causeway status`.
final class PhaseReport {
    /// The phase while rows are moved, for which there is no event.
    static let rows = "rows"

    private let path: String
    private var current = ""

    init(work: String) {
        path = work + "/" + WorkFile.lock
    }

    func receive(_ event: EngineEvent) {
        switch event {
        case .phaseBegan(let phase): write(phase)
        case .passBegan: write(Self.rows)
        default: break
        }
    }

    private func write(_ phase: String) {
        guard phase != current else { return }
        current = phase
        // Closing this descriptor leaves the lock to the one that holds it. A phase that can't be written isn't an
        // error.
        guard let file = try? OpenFile(path, mode: .readWrite, followsLinks: false) else { return }
        try? file.write(Array(LockText(phase: phase).text.utf8))
    }
}
