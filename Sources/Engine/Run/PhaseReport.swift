import CausewayPlatform

/// Writes down what a run is doing whenever that changes, for `causeway status`.
final class PhaseReport {
    /// What a run does while it moves rows, which is no phase of its own.
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
        // Closing this descriptor leaves the lock to the one that holds it. A status that can't be written stops nothing.
        guard let file = try? OpenFile(path, mode: .readWrite, followsLinks: false) else { return }
        text.withUTF8 { bytes in unsafe try? file.write(UnsafeRawBufferPointer(bytes), at: 0) }
    }
}

extension Migration {
    /// The same migration, whose phases stand in the work directory too.
    func reporting(to directory: borrowing WorkDirectory) -> Migration {
        let report = PhaseReport(work: directory.path)
        let events = events
        return replacingEvents { event in
            report.receive(event)
            events(event)
        }
    }
}
