import CausewayReliabilityKit
import Foundation
import Testing

/// The library that records what a command does to its files, and makes calls fail.
@Suite("Fault shim", .timeLimit(.minutes(60)), .enabled(if: ShimPresence.isThere, "the fault shim isn't built"))
struct ExplorerShimTests {
    private func run(
        _ folder: borrowing Folder, fault: String? = nil, traces: Bool = false
    ) throws -> ShimmedCommand.Ending {
        let root = folder.path + "/store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let subject = Subject(.staged, rows: 12)
        let store = try subject.makeStore(in: root)
        var command = ShimmedCommand(
            try subject.executable, subject.arguments(store: store), root: root, scratch: folder.path + "/shim")
        command.fault = fault
        command.traces = traces
        return try command.run()
    }

    @Test("every operation that is counted is traced")
    func countsAndTrace() throws {
        let folder = try Folder()
        let ending = try run(folder, traces: true)
        #expect(ending.status == 0, "\(ending.errors)")
        var traced: [TraceOperation.Kind: Int] = [:]
        for operation in ending.trace.operations where operation.kind != .output {
            traced[operation.kind, default: 0] += 1
        }
        #expect(traced == ending.counts.byOperation.filter { $0.value > 0 })
        #expect(ending.counts.mutating == traced.values.reduce(0, +))
        #expect(ending.counts.fired == 0)
        #expect(ending.counts.reads > 0)
        #expect(ending.counts.opens > 0)
        #expect(ending.trace.operations.contains { $0.kind == .output && $0.path == "1" })
    }

    @Test("a fault beyond the last call doesn't fire", arguments: ["kill", "eio", "sync", "open-emfile", "read-eio"])
    func beyond(_ mode: String) throws {
        let folder = try Folder()
        let ending = try run(folder, fault: "\(mode):1000000")
        #expect(ending.status == 0)
        #expect(ending.counts.fired == 0)
    }

    @Test("kill and tear end the process", arguments: ["kill:20", "tear:20"])
    func kills(_ fault: String) throws {
        let folder = try Folder()
        let ending = try run(folder, fault: fault)
        #expect(ending.status == 128 + SIGKILL)
        #expect(ending.counts.fired == 1)
        #expect(ending.counts.mutating == 20)
    }

    @Test(
        "a call that the shim makes fail is seen to fail",
        arguments: ["eio-sticky:5", "enospc-sticky:5", "short:5", "sync-sticky:1", "open-eacces:1", "read-eio:1"])
    func failures(_ fault: String) throws {
        let folder = try Folder()
        let ending = try run(folder, fault: fault)
        #expect(ending.status != 0)
        #expect(ending.status < 128, "\(ending.status) \(ending.errors)")
        #expect(ending.counts.fired > 0)
    }

    @Test(
        "the shim misses no call that the kernel sees",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"), "strace isn't installed"))
    func strace() throws {
        let folder = try Folder()
        let root = folder.path + "/store"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let subject = Subject(.inferred)
        let store = try subject.makeStore(in: root)
        let log = folder.path + "/strace"
        let calls =
            "write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,"
            + "link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fchmod,fchmodat,chmod,fchown,chown,fchownat,fsetxattr,"
            + "setxattr,sendfile,copy_file_range,symlink,symlinkat,mknod,mknodat,sync_file_range,io_uring_enter"
        let command = ShimmedCommand(
            "/usr/bin/strace",
            [
                "-f", "-y", "-z", "-s", "0", "-o", log, "-e", "trace=\(calls)",
                "-E", "LD_PRELOAD=\(try Package.faultShim())", try subject.executable,
            ] + subject.arguments(store: store), root: root, scratch: folder.path + "/shim")
        var unshimmed = command
        unshimmed.environment["LD_PRELOAD"] = ""
        let ending = try unshimmed.run()
        try #require(ending.status == 0, "\(ending.errors)")
        let seen = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("\"\(root)") || $0.contains("<\(root)") }
        // Opens aren't in strace's list: they make files only where the flags say so.
        let counted =
            ending.counts.mutating - (ending.counts.byOperation[.create] ?? 0)
            - (ending.counts.byOperation[.cut] ?? 0)
        #expect(seen.count == counted, "strace: \(seen.count), shim: \(counted)")
    }
}

/// Whether the shim and a command are built.
enum ShimPresence {
    static let isThere = (try? Package.faultShim()) != nil && (try? Subject(.staged).executable) != nil
}

/// A folder for one test, in memory.
struct Folder: ~Copyable {
    private let scratch: ScratchFolder
    var path: String { scratch.path }

    init() throws {
        scratch = try ScratchFolder()
    }

    deinit {
        scratch.remove()
    }
}
