import CausewayPlatform

/// What the lock file of a work directory says: who holds it, and what that run is doing. For people: no decision
/// depends on it.
struct LockText {
    /// What the run is doing; empty before its first phase.
    let phase: String

    /// Bytes of a phase: every phase is padded to this length, so that one write replaces it.
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
        guard let bytes = try? Files.readFile(work + "/" + WorkFile.lock, limit: 4_096) else {
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
