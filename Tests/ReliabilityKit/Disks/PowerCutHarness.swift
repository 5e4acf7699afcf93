internal import CausewayPlatform

/// Harness 5, third part: real power cuts. The file system on a loop device is shut down without writing its journal
/// out. It is mounted again, which replays the journal, and the migration is run again.
package struct PowerCutHarness: Sendable {
    package static let name = "power-cuts"

    /// File systems that can be shut down, with room for the command's reserve and at least the size that mkfs demands.
    private static let systems: [(type: String, bytes: Int64)] = [("ext4", 256 << 20), ("xfs", 384 << 20)]
    /// Cuts during one migration at most; then the power stays on.
    private static let cutLimit = 3

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// Runs the cuts on every file system that is available here; reports the others as skipped.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder("power-cuts")
        let subjects = try TrialSubject.make(
            settings.subjects, settings: settings, folder: folder)
        for system in Self.systems {
            if let refusal = MountedDisk.refusal(["mkfs." + system.type]) {
                tally.skip("\(Self.name) on \(system.type): \(refusal)")
                continue
            }
            do {
                try run(system.type, system.bytes, subjects, folder, tally)
            } catch let error as HarnessError {
                // No loop devices, or a kernel without the call: not a fault of the migration.
                tally.skip("\(Self.name) on \(system.type): \(error)")
            }
        }
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    private func run(
        _ type: String, _ bytes: Int64, _ subjects: [TrialSubject], _ folder: String, _ tally: Tally
    ) throws {
        let place = "\(folder)/\(type)"
        try Files.makeDirectory(place)
        let image = "\(folder)/\(type).image"
        let log = "\(folder)/\(type).txt"
        try MountedDisk.format(image, as: type, bytes: bytes, log: log)
        // A trial first: a file system that can't be shut down is skipped, it is not a failure.
        try cut(try MountedDisk.image(image, as: type, at: place, log: log))
        for round in 0..<settings.rounds(quick: 3, full: 40) where settings.goesOn(tally) {
            let subject = subjects[round % subjects.count]
            let disk = Disk(image: image, type: type, place: place, log: log)
            let caseFolder = try settings.makeFolder("power-cuts/\(type)-\(round)")
            let held = tally.judge("\(type) round \(round)", kind: "rounds on \(type)") {
                let random = SeededRandom(seed: settings.seed, harness: Self.name + type, case: round)
                try self.round(disk, subject, caseFolder, random, tally)
            }
            settings.dispose(caseFolder, failed: !held)
        }
    }

    /// Where a round's file system is.
    private struct Disk {
        let image: String
        let type: String
        let place: String
        let log: String

        func mount() throws -> MountedDisk { try MountedDisk.image(image, as: type, at: place, log: log) }
    }

    private func cut(_ mounted: MountedDisk) throws {
        do {
            try mounted.cutPower()
        } catch {
            try mounted.unmount()
            throw error
        }
        try mounted.unmount()
    }

    private func round(
        _ disk: Disk, _ subject: TrialSubject, _ folder: String, _ start: SeededRandom, _ tally: Tally
    ) throws {
        var random = start
        var mounted = try disk.mount()
        // Mounted when the round ends, however it ends.
        defer {
            // If this fails, the next round's mount fails and says so.
            try? mounted.unmount()
        }
        let data = disk.place + "/data"
        try FolderTree.remove(data)
        var trial = try Trial(subject, folder: folder, data: data)
        try mounted.sync()
        for _ in 0..<Self.cutLimit {
            let command = trial.command(habits: Trial.Habits(&random))
            let milliseconds = Int(Double.random(in: 0...subject.seconds * 1.3, using: &random) * 1_000)
            trial.note(command, " # on \(disk.type), power cut after \(milliseconds) ms")
            let process = try ChildRun(command)
            Pause.milliseconds(milliseconds)
            // Whether it ended before the cut. Asked before, so that a success between the two isn't counted.
            let before = process.poll()
            try mounted.cutPower()
            if before == nil {
                process.send(9)
                _ = process.wait()
            }
            try mounted.unmount()
            mounted = try disk.mount()
            tally.count("cuts on \(disk.type)")
            let view = try trial.look()
            if case .broken(let reason) = view {
                throw trial.failure("after a power cut the store is neither old nor new: \(reason)")
            }
            if let before {
                guard before == .exited(0) else { throw trial.failure("\(before): \(process.tail(bytes: 600))") }
                tally.count("cuts after reported success")
                guard view == .new else { throw trial.failure("a success that was reported is lost") }
                break
            }
        }
        try trial.settle(habits: Trial.Habits(&random))
    }
}
