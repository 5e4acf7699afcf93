import CausewayPlatform
import CausewayReliabilityKit
import Foundation
import Testing

/// A disk error says nothing about the store: commands that read one must not call it damaged (65), missing (66) or the
/// tool faulty (70). Tried at every read, at every open, and at allocations of SQLite's.
@Suite(
    "A store that can't be read isn't a damaged one", .timeLimit(.minutes(60)),
    .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct UnreadableStoreTests {
    private static let allowed: Set<ChildRun.Ending> = [.exited(0), .exited(74)]
    private static let commands = ["verify", "inspect", "plan"]

    @Test("whichever read or open fails", arguments: commands, [FaultMode.readEIO, .openEMFILE])
    func calls(_ command: String, _ mode: FaultMode) throws {
        let place = try Place(command)
        defer { place.folder.remove() }
        var failures = 0
        for number in 1...10_000 {
            let (ending, counts) = try place.run(environment: [
                "CAUSEWAY_FAULT_ROOT": place.data, "CAUSEWAY_FAULT_COUNT": place.counts,
                "CAUSEWAY_FAULT_MODE": "\(mode.rawValue):\(number)",
            ])
            guard try FaultRecords.fired(counts) > 0 else {
                #expect(ending == .exited(0), "\(number)")
                break
            }
            #expect(Self.allowed.contains(ending), "\(mode.rawValue):\(number): \(ending): \(place.said)")
            failures += ending == .exited(0) ? 0 : 1
        }
        #expect(failures > 0)
    }

    @Test(
        "where no -shm can be made beside a store in WAL mode", arguments: commands,
        [FaultMode.eioSticky, .enospcSticky])
    func sharedMemory(_ command: String, _ mode: FaultMode) throws {
        let place = try Place(command, state: .unmergedWAL)
        defer { place.folder.remove() }
        let (ending, counts) = try place.run(environment: [
            "CAUSEWAY_FAULT_ROOT": place.data, "CAUSEWAY_FAULT_COUNT": place.counts,
            "CAUSEWAY_FAULT_MODE": "\(mode.rawValue):1",
        ])
        #expect(try FaultRecords.fired(counts) > 0)
        #expect(ending == .exited(74), "\(place.said)")
    }

    @Test("whichever allocation of SQLite's fails", arguments: ["verify", "inspect", "plan"], ["", "+"])
    func memory(_ command: String, _ sticky: String) throws {
        let place = try Place(command)
        defer { place.folder.remove() }
        let allocations = try place.allocations(failing: "0").made
        try #require(allocations > 100)
        var random = SeededRandom(seed: 1, harness: "unreadable \(command)\(sticky)", case: 0)
        for _ in 0..<8 {
            let number = "\(UInt64.random(in: 1...allocations, using: &random))\(sticky)"
            let (ending, fired, _) = try place.allocations(failing: number)
            #expect(fired > 0, "allocation \(number)")
            #expect(Self.allowed.contains(ending), "allocation \(number): \(ending): \(place.said)")
        }
    }

    /// A small store, and a command that reads it.
    private struct Place {
        let folder: ScratchFolder
        let data: String
        let counts: String
        private let command: String
        private let subject: Subject

        init(_ command: String, state: Subject.SourceState = .clean) throws {
            self.command = command
            subject = Subject(.merged, state: state, rows: 16)
            folder = try ScratchFolder()
            data = folder.path + "/data"
            counts = folder.path + "/counts"
            try Files.makeDirectory(data)
            try subject.makeStore(in: data)
        }

        func run(environment: [String: String]) throws -> (ChildRun.Ending, counts: String) {
            // The shim adds to the counts in an existing file.
            if try Files.exists(counts) { try Files.unlink(counts) }
            var environment = environment
            environment["LD_PRELOAD"] = try Package.faultShim()
            let ending = try ChildRun.run(
                ChildRun.Command(
                    try subject.executable, [command, "\(data)/\(Subject.storeName)", "--models", subject.models],
                    environment: environment, output: output))
            return (ending, counts)
        }

        func allocations(failing number: String) throws -> (ending: ChildRun.Ending, fired: UInt64, made: UInt64) {
            let (ending, counts) = try run(environment: [
                "CAUSEWAY_FAULT_MALLOC": number, "CAUSEWAY_FAULT_MALLOC_COUNT": counts,
            ])
            let (fired, made) = try FaultRecords.allocations(counts)
            return (ending, fired, made)
        }

        private var output: String { folder.path + "/output.txt" }
        var said: String { ChildRun.tail(of: output, bytes: 600) }
    }
}
