import CausewayPlatform

/// What the lock file of a work directory says: who holds it, and what that run is doing. For people: no decision
/// depends on it.
struct LockText {
    /// What the run is doing; empty before its first phase.
    let phase: String
    /// What the run expects of it; nil before its first phase.
    var outlook: WorkOutlook?

    /// Bytes of a phase: every phase is padded to this length, so that one write replaces it.
    private static let phaseLength = 60

    /// Five lines: process, host, boot, phase, outlook.
    var text: String {
        let plain = phase.unicodeScalars.prefix(Self.phaseLength).filter { $0.isASCII && $0.value >= 0x20 }
        let padding = String(repeating: " ", count: Self.phaseLength - plain.count)
        let name = String(String.UnicodeScalarView(plain)) + padding
        let numbers = outlook?.text ?? String(repeating: " ", count: WorkOutlook.length)
        return "\(ProcessFacts.processID)\n\(ProcessFacts.hostName)\n\(ProcessFacts.bootID)\n\(name)\n\(numbers)\n"
    }

    /// Reads the file of a work directory.
    ///
    /// - Returns: the process that wrote it, if it is still there, what it was doing last, and what it expected of
    ///   that.
    static func read(in work: String) -> (processID: Int32?, phase: String?, outlook: WorkOutlook?) {
        guard let bytes = try? Files.readFile(work + "/" + WorkFile.lock, limit: 4_096) else {
            return (nil, nil, nil)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        var phase: String?
        if lines.count >= 4 {
            let name = lines[3].split(separator: " ").joined(separator: " ")
            if !name.isEmpty { phase = name }
        }
        let outlook = lines.count >= 5 ? WorkOutlook(lines[4]) : nil
        guard lines.count >= 3, let number = Int32(lines[0]), lines[1] == ProcessFacts.hostName[...],
            lines[2] == ProcessFacts.bootID[...], ProcessFacts.isRunning(number)
        else { return (nil, phase, outlook) }
        return (number, phase, outlook)
    }
}
