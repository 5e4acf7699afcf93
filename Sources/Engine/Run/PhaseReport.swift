import CausewayPlatform
import CausewayPreparation

/// Records every change of a run's phase, for `causeway status`.
final class PhaseReport {
    /// The phase while rows are moved, for which there is no event.
    static let rows = "rows"

    private let path: String
    private var current = ""
    private var meter: WorkMeter

    init(work: String, verification: VerificationLevel) {
        meter = WorkMeter(verification: verification, now: MonotonicClock.seconds())
        path = work + "/" + WorkFile.lock
    }

    func receive(_ event: EngineEvent) {
        meter.receive(event, now: MonotonicClock.seconds())
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
        let text = LockText(phase: phase, outlook: meter.outlook(now: MonotonicClock.seconds()))
        try? file.write(Array(text.text.utf8))
    }
}
