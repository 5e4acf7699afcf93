import CBenchmarkSQLite
import Foundation

/// Where the figures come from.
struct Machine: Encodable {
    var system = ProcessInfo.processInfo.operatingSystemVersionString
    var processors = ProcessInfo.processInfo.activeProcessorCount
    var processor = Machine.line("/proc/cpuinfo", "model name")
    var memoryBytes = ProcessInfo.processInfo.physicalMemory
    /// Runnable programs on average over the last minute, before it began: above 0.5 others disturb.
    var load = Machine.load()
    var sqlite = unsafe String(cString: sqlite3_libversion())
    /// Of the folder with the stores.
    var fileSystem: String?
    var freeDiskBytes: Int?
    #if DEBUG
        var build = "debug: these numbers mean nothing"
    #else
        var build = "release"
    #endif

    init() {}

    /// With the file system of a folder.
    init(_ folder: URL) {
        fileSystem = Disk.fileSystem(folder)
        freeDiskBytes = Disk.freeBytes(folder)
    }

    private static func line(_ file: String, _ name: String) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ":").last.map { String($0.drop(while: \.isWhitespace)) }
    }

    private static func load() -> Double? {
        let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
        return text?.split(separator: " ").first.flatMap { Double($0) }
    }

    /// - Throws: in a debug build, whose figures mean nothing.
    static func checkBuild() throws {
        #if DEBUG
            throw BenchmarkError(
                "a debug build measures nothing that counts; run it with: swift run -c release MigrationBenchmark")
        #endif
    }
}
