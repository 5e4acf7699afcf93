internal import CausewayPlatform

/// Harness 5, first part: disks of many sizes, and disks that fill up during the migration. The migration either
/// succeeds, or fails with 74 and leaves the store untouched; with more space, the next run succeeds.
package struct DiskSizeHarness: Sendable {
    package static let name = "disk-sizes"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// Bytes: more than any subject needs, including the reserve that the command asks for.
    private static let plenty = 512 << 20
    /// The largest of the small disks is so many times as large as the store.
    private static let largest = 12
    /// Bytes that are left when a disk is filled up, at most.
    private static let remainder = 300_000

    /// Runs the sizes.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        if let refusal = MountedDisk.refusal([]) {
            tally.skip("\(Self.name): \(refusal)")
            return tally
        }
        let folder = try settings.makeFolder("disk-sizes")
        let subjects = try TrialSubject.make(
            settings.subjects, settings: settings, folder: folder)
        let cases = settings.rounds(quick: 8, full: 100)
        try ParallelCases.run(limit: cases, threads: settings.threads) { index in
            let subject = subjects[index % subjects.count]
            // The first half: disks that are small from the start. The second half: disks that fill up during the
            // migration.
            if index < cases / 2 {
                run("size \(index)", index, subject, tally) { trial, disk, _ in
                    let own = try Self.bytes(of: subject.pristine)
                    let size = own + (own * Self.largest - own) * index / max(1, cases / 2)
                    try disk.resize(bytes: size)
                    trial.note(trial.command(), " # on a disk of \(size) bytes")
                    return try trial.run()
                }
            } else {
                run("full \(index)", index, subject, tally) { trial, disk, random in
                    try fill(&trial, disk, &random)
                }
            }
            return settings.goesOn(tally)
        }
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    private func run(
        _ label: String, _ index: Int, _ subject: TrialSubject, _ tally: Tally,
        _ body: (inout Trial, MountedDisk, inout SeededRandom) throws -> ChildRun.Ending
    ) {
        do {
            let folder = try settings.makeFolder("disk-sizes/case-\(index)")
            let place = folder + "/disk"
            try Files.makeDirectory(place)
            let disk = try MountedDisk.memory(at: place, bytes: Self.plenty, log: folder + "/mount.txt")
            var trial = try Trial(subject, folder: folder, data: place + "/data")
            var random = SeededRandom(seed: settings.seed, harness: Self.name, case: index)
            let held = tally.judge(label) {
                let ending = try body(&trial, disk, &random)
                guard ending == .exited(0) || ending == .exited(74) else {
                    throw trial.failure("\(ending) instead of 0 or 74: \(ChildRun.tail(of: folder + "/run.txt"))")
                }
                tally.count(ending == .exited(0) ? "enough space" : "exit 74, resumed")
                try trial.requireOldOrNew(after: ending)
                try disk.resize(bytes: Self.plenty)
                try Files.unlink(place + "/ballast")
                try trial.settle()
            }
            try disk.unmount()
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }

    /// Another file takes the space during the migration.
    private func fill(
        _ trial: inout Trial, _ disk: MountedDisk, _ random: inout SeededRandom
    ) throws -> ChildRun.Ending {
        let left = Int.random(in: 0...Self.remainder, using: &random)
        let milliseconds = Int(Double.random(in: 0...trial.subject.seconds, using: &random) * 1_000)
        let command = trial.command()
        trial.note(command, " # the disk is filled up to \(left) bytes after \(milliseconds) ms")
        let process = try ChildRun(command)
        Pause.milliseconds(milliseconds)
        let ballast = try OpenFile(disk.path + "/ballast", mode: .createNew)
        let free = Int(clamping: try DiskSpace.available(at: disk.path))
        let piece = [UInt8](repeating: 0xaa, count: 1 << 20)
        var written = 0
        do throws(FileError) {
            while written < free - left {
                let count = min(piece.count, free - left - written)
                try Self.write(piece.prefix(count), to: ballast, at: Int64(written))
                written += count
            }
        } catch {
            // The migration was faster and has filled the disk already.
            guard error.code == .noSpace else { throw error }
        }
        return process.wait()
    }

    private static func write(
        _ bytes: ArraySlice<UInt8>, to file: borrowing OpenFile, at offset: Int64
    ) throws(FileError) {
        let outcome = unsafe bytes.withUnsafeBytes { content -> Result<Void, FileError> in
            do throws(FileError) {
                try unsafe file.write(content, at: offset)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    private static func bytes(of folder: String) throws -> Int {
        var sum = 0
        for name in try Files.list(folder) {
            let path = folder + "/" + name
            let status = try Files.linkStatus(of: path)
            // Whole pages, as tmpfs counts them.
            sum += status.kind == .directory ? try bytes(of: path) + 4_096 : (Int(status.size) + 4_095) / 4_096 * 4_096
        }
        return sum
    }
}
