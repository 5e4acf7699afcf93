import CausewayPlatform

/// What the lock file of a work directory says: who holds it, and what that run is doing. For people: no decision rests
/// on it.
struct LockText {
    /// What the run is doing; empty before its first phase.
    let phase: String

    /// Bytes of a phase: with each the text has the same length, so that one write replaces it.
    private static let phaseLength = 60

    /// Four lines: process, host, boot, phase.
    var text: String {
        let plain = phase.unicodeScalars.prefix(Self.phaseLength).filter { $0.isASCII && $0.value >= 0x20 }
        let padding = String(repeating: " ", count: Self.phaseLength - plain.count)
        let name = String(String.UnicodeScalarView(plain)) + padding
        return "\(ProcessFacts.processID)\n\(ProcessFacts.hostName)\n\(ProcessFacts.bootID)\n\(name)\n"
    }

    /// Reads the file of a work directory.
    ///
    /// - Returns: the process that wrote it, if it is still there, and what it was doing last.
    static func read(in work: String) -> (processID: Int32?, phase: String?) {
        guard let bytes = try? Files.readFile(work + "/" + WorkDirectory.lockName, limit: 4_096) else {
            return (nil, nil)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        var phase: String?
        if lines.count >= 4 {
            let name = lines[3].split(separator: " ").joined(separator: " ")
            if !name.isEmpty { phase = name }
        }
        guard lines.count >= 3, let number = Int32(lines[0]), lines[1] == ProcessFacts.hostName[...],
            lines[2] == ProcessFacts.bootID[...], ProcessFacts.isRunning(number)
        else { return (nil, phase) }
        return (number, phase)
    }
}

/// Writes down what a run is doing whenever that changes, for `causeway status`.
final class PhaseReport {
    /// What a run does while it moves rows, which is no phase of its own.
    static let rows = "rows"

    private let path: String
    private var current = ""

    init(work: String) {
        path = work + "/" + WorkDirectory.lockName
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
