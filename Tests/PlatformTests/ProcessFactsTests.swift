import CausewayPlatform
import Foundation
import Synchronization
import Testing

@Suite("Facts of the process and the machine", .timeLimit(.minutes(60))) struct ProcessFactsTests {
    @Test("memory and time used are plausible")
    func usage() {
        let usage = ProcessUsage.current()
        // A test process that uses Foundation is larger than 1 MiB, and smaller than 1 TiB.
        #expect(usage.peakResidentBytes > 1 << 20)
        #expect(usage.peakResidentBytes < 1 << 40)
        #expect(usage.userSeconds + usage.systemSeconds > 0)
    }

    @Test("free space is known where a path exists, and refused elsewhere")
    func diskSpace() throws {
        #expect(try DiskSpace.available(at: FileManager.default.temporaryDirectory.path) > 0)
        let error = #expect(throws: FileError.self) { try DiskSpace.available(at: "/no/such/place") }
        #expect(error?.code == .notFound)
    }

    @Test("the monotonic clock does not go back")
    func clock() {
        var last = MonotonicClock.nanoseconds()
        for _ in 0..<1_000 {
            let now = MonotonicClock.nanoseconds()
            #expect(now >= last)
            last = now
        }
    }

    @Test("the process is known")
    func facts() {
        #expect(ProcessFacts.processID == ProcessInfo.processInfo.processIdentifier)
        #expect(ProcessFacts.processorCount == ProcessInfo.processInfo.activeProcessorCount)
        #expect(!ProcessFacts.hostName.isEmpty)
    }

    @Test("the boot ID stays the same")
    func boot() {
        #expect(ProcessFacts.bootID == ProcessFacts.bootID)
        #expect(!ProcessFacts.bootID.contains(" ") && !ProcessFacts.bootID.contains("\n"))
    }

    @Test("running processes are told from ended ones and from invalid IDs")
    func running() throws {
        #expect(ProcessFacts.isRunning(ProcessFacts.processID))
        // Usually a process of another user.
        #expect(ProcessFacts.isRunning(1))
        #expect(!ProcessFacts.isRunning(0))
        #expect(!ProcessFacts.isRunning(-1))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["true"]
        try process.run()
        process.waitUntilExit()
        #expect(!ProcessFacts.isRunning(process.processIdentifier))
    }

    @Test("a file is no terminal and has no width")
    func terminal() throws {
        let handle = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        #expect(!Terminal.isTerminal(handle.fileDescriptor))
        #expect(Terminal.width(handle.fileDescriptor) == nil)
    }
}

@Suite("Worker threads", .timeLimit(.minutes(60))) struct WorkerThreadTests {
    @Test("run their closure once, and join waits for its end")
    func runs() throws {
        let count = Atomic<Int>(0)
        let threads = try (0..<8).map { _ in
            try WorkerThread(name: "a name that is longer than the fifteen bytes of Linux") {
                count.add(1, ordering: .relaxed)
            }
        }
        for thread in threads {
            thread.join()
            thread.join()
        }
        #expect(count.load(ordering: .relaxed) == 8)
    }

    @Test("have the stack that was asked for")
    func stack() throws {
        /// Takes over 1,000 bytes of stack a level: 10,000 levels are over the usual 8 MiB.
        @Sendable func recurse(_ depth: Int) -> Int {
            unsafe withUnsafeTemporaryAllocation(byteCount: 1_000, alignment: 1) { $0.count } - 1_000
                + (depth == 0 ? 0 : recurse(depth - 1))
        }
        let thread = try WorkerThread(name: "deep", stackSize: 32 << 20) { _ = recurse(10_000) }
        thread.join()
    }

    @Test("a stack that the system can't give is refused")
    func badStack() {
        let error = #expect(throws: FileError.self) { _ = try WorkerThread(name: "none", stackSize: 1) {} }
        #expect(error?.operation == "start the thread")
    }
}
