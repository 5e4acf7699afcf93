internal import Foundation

/// Runs a command under the fault shim.
package struct ShimmedCommand: Sendable {
    package var executable: String
    package var arguments: [String]
    /// The folder that the shim watches.
    package var root: String
    /// A folder outside `root` for the shim's files and the command's output.
    package var scratch: String
    /// `mode:N`; nil is no fault.
    package var fault: String?
    package var traces = false
    package var environment: [String: String] = [:]

    package init(_ executable: String, _ arguments: [String], root: String, scratch: String) {
        self.executable = executable
        self.arguments = arguments
        self.root = root
        self.scratch = scratch
    }

    /// How the command ended.
    package struct Ending: Sendable {
        /// The exit status; 128 + number for a signal.
        package var status: Int32
        package var output: String
        package var errors: String
        package var counts: FaultCounts
        /// With paths relative to the root; empty without `traces`.
        package var trace: Trace
    }

    package func run() throws -> Ending {
        let files = FileManager.default
        try files.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        let names = ["trace", "counts", "out", "err"].map { scratch + "/" + $0 }
        for name in names {
            guard files.createFile(atPath: name, contents: nil) else { throw HarnessError("\(name): can't be made") }
        }
        let process = Process()
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        process.environment = try surroundings(trace: names[0], counts: names[1])
        process.standardInput = FileHandle.nullDevice
        // Files, not pipes: a pipe that nobody reads would stop the process.
        process.standardOutput = FileHandle(forWritingAtPath: names[2])
        process.standardError = FileHandle(forWritingAtPath: names[3])
        try process.run()
        process.waitUntilExit()
        func content(_ path: String) -> [UInt8] { Array(files.contents(atPath: path) ?? Data()) }
        return Ending(
            status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
            output: String(decoding: content(names[2]), as: UTF8.self),
            errors: String(decoding: content(names[3]), as: UTF8.self),
            counts: try FaultCounts(content(names[1])),
            trace: try Trace(content(names[0])).relative(to: root))
    }

    private func surroundings(trace: String, counts: String) throws -> [String: String] {
        var result = ProcessInfo.processInfo.environment
        result["CAUSEWAY_HARNESS"] = "1"
        result["CAUSEWAY_SMALL_BATCHES"] = "1"
        result["LD_PRELOAD"] = try Package.faultShim()
        result["CAUSEWAY_FAULT_ROOT"] = root
        result["CAUSEWAY_FAULT_COUNT"] = counts
        result["CAUSEWAY_FAULT_TRACE"] = traces ? trace : nil
        result["CAUSEWAY_FAULT_MODE"] = fault
        // The backtracer takes seconds and has nothing to report after a SIGKILL.
        result["SWIFT_BACKTRACE"] = "enable=no"
        return result.merging(environment) { _, new in new }
    }
}

/// The shim's counts.
package struct FaultCounts: Sendable, Hashable {
    package var fired = 0
    package var mutating = 0
    package var takingRoom = 0
    package var syncs = 0
    package var opens = 0
    package var reads = 0
    /// By the kinds of operations in the trace.
    package var byOperation: [TraceOperation.Kind: Int] = [:]

    private static let magic: UInt64 = 0x3154_4c55_4146_4357

    /// - Parameter bytes: of the file that CAUSEWAY_FAULT_COUNT names (causeway_fault_shim.h).
    /// - Throws: `HarnessError` if the shim has written nothing, because it wasn't loaded.
    package init(_ bytes: [UInt8]) throws {
        guard bytes.count >= 39 * 8 else { throw HarnessError("the fault shim wasn't loaded into the command") }
        let numbers = (0..<39).map { index in
            (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[index * 8 + $1]) << (8 * UInt64($1)) }
        }
        guard numbers[0] == Self.magic else { throw HarnessError("the fault shim's counters can't be read") }
        (fired, mutating, takingRoom) = (Int(numbers[1]), Int(numbers[2]), Int(numbers[3]))
        (syncs, opens, reads) = (Int(numbers[4]), Int(numbers[5]), Int(numbers[6]))
        for raw in 1..<UInt16(15) {
            guard let kind = TraceOperation.Kind(rawValue: raw) else { continue }
            byOperation[kind] = Int(numbers[7 + Int(raw)])
        }
    }
}
