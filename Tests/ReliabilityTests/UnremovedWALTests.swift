import CausewayPlatform
import CausewayReliabilityKit
import Testing

/// SQLite ignores that a -wal couldn't be removed. At the swap it would be taken for another program's.
@Suite(
    "A -wal that can't be removed is the disk's fault, and no other program's", .timeLimit(.minutes(60)),
    .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct UnremovedWALTests {
    @Test("whichever of its removals fails, the run ends with 74 or a new store, and the next one succeeds")
    func failing() throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let subject = Subject(.merged, state: .unmergedWAL, rows: 16)
        func run(_ name: String, fault: String? = nil, rerun: Bool = false) throws -> ShimmedCommand.Ending {
            let data = folder.path + "/" + name
            if !rerun {
                try Files.makeDirectory(data)
                try subject.makeStore(in: data)
            }
            var command = ShimmedCommand(
                try subject.executable,
                ["migrate", "\(data)/\(Subject.storeName)", "--models", subject.models, "--jobs", "1"], root: data,
                scratch: "\(folder.path)/\(name)-shim")
            command.fault = fault
            command.traces = true
            return try command.run()
        }
        func digest(_ name: String) throws -> StoreDigest {
            try StoreDigest("\(folder.path)/\(name)/\(Subject.storeName)")
        }
        let undisturbed = try run("undisturbed")
        #expect(undisturbed.status == 0)
        let expected = try digest("undisturbed")
        // As the shim counts them (faultshim.c): what is printed isn't among them.
        let calls = undisturbed.trace.operations.filter { $0.kind != .output }
        let removals = calls.indices.filter { calls[$0].kind == .unlink && calls[$0].path.hasSuffix("-wal") }
        #expect(!removals.isEmpty)
        var failures = 0
        for removal in removals {
            let name = "removal-\(removal)"
            let ending = try run(name, fault: "eio:\(removal + 1)")
            #expect([0, 74].contains(ending.status), "\(name): \(ending.errors)")
            if ending.status != 0 {
                failures += 1
                #expect(try run(name, rerun: true).status == 0)
            }
            #expect(try digest(name).differences(from: expected).isEmpty, "\(name)")
        }
        #expect(failures > 0)
    }
}
