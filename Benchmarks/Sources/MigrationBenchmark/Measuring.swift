import Foundation

/// Takes what programs need from outside, the same for a migration and for `cp`.
///
/// Work is the programs that it runs and the files that it makes durable; this process itself does next to nothing
/// meanwhile, so that what the system has counted for it and its children together is the work's.
struct Measuring {
    /// A folder on the file system whose free space counts.
    let folder: URL

    /// Runs work and takes its measure. Its result must be on the disk when it returns.
    func outcome(_ work: (Programs) throws -> MigrationAccount?) throws -> Outcome {
        let watch = ResourceWatch(folder)
        let programs = Programs(watch)
        let (processorStart, transferStart) = (Self.processorSeconds(), Self.transfer())
        let start = ContinuousClock.now
        watch.begin()
        defer { watch.end() }
        let account = try work(programs)
        let seconds = (ContinuousClock.now - start).inSeconds
        let processor = Self.processorSeconds() - processorStart
        var outcome = Outcome(seconds: seconds.rounded3, processorSeconds: processor.rounded3)
        outcome.transfer = Self.transfer().flatMap { now in transferStart.map { now.since($0) } }
        watch.end()
        (outcome.peakMemoryBytes, outcome.diskBytes) = (watch.peakMemoryBytes, watch.diskBytes)
        outcome.account = account
        return outcome
    }

    /// Of this process and of all its children that have ended, with their children.
    private static func processorSeconds() -> Double {
        // RUSAGE_SELF and RUSAGE_CHILDREN, whose type differs from system to system.
        [Int32(0), -1].reduce(0) { sum, whose in
            var usage = rusage()
            guard unsafe getrusage(whose, &usage) == 0 else { return sum }
            return sum + usage.ru_utime.inSeconds + usage.ru_stime.inSeconds
        }
    }

    /// The system adds a child's bytes to its parent's when the parent has waited for it.
    private static func transfer() -> Transfer? {
        guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else { return nil }
        var values: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":")
            if fields.count == 2 { values[fields[0]] = Int(fields[1].drop(while: \.isWhitespace)) }
        }
        return Transfer(
            readBytes: values["rchar"] ?? 0, writtenBytes: values["wchar"] ?? 0,
            diskReadBytes: values["read_bytes"] ?? 0, diskWrittenBytes: values["write_bytes"] ?? 0)
    }
}

extension Transfer {
    fileprivate func since(_ start: Transfer) -> Transfer {
        Transfer(
            readBytes: readBytes - start.readBytes, writtenBytes: writtenBytes - start.writtenBytes,
            diskReadBytes: diskReadBytes - start.diskReadBytes,
            diskWrittenBytes: diskWrittenBytes - start.diskWrittenBytes)
    }
}

extension timeval {
    fileprivate var inSeconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
