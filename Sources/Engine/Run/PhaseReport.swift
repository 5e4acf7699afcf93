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
        var text = LockText(phase: phase).text
        // Closing this descriptor leaves the lock to the one that holds it. A phase that can't be written isn't an
        // error.
        guard let file = try? OpenFile(path, mode: .readWrite, followsLinks: false) else { return }
        text.withUTF8 { bytes in unsafe try? file.write(UnsafeRawBufferPointer(bytes), at: 0) }
    }
}

extension Migration {
    /// The same migration, which also writes its phases to the work directory.
    func reporting(to directory: borrowing WorkDirectory) -> Migration {
        let report = PhaseReport(work: directory.path)
        let events = events
        return replacingEvents { event in
            report.receive(event)
            events(event)
        }
    }
}
