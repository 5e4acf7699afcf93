import Foundation

/// What one piece of work took.
struct Outcome: Codable {
    /// From the start of its first program until its result is on the disk.
    var seconds: Double
    /// Of all threads and programs, in the programs and in the system on their behalf; what the system writes later by
    /// itself isn't in it.
    var processorSeconds: Double
    /// The most that one of its programs held; nil where the system doesn't tell.
    var peakMemoryBytes: Int?
    /// What its programs asked the system to read and to write; bytes that a file system shares or a page cache keeps
    /// count as well, shared extents don't. nil where there is no `/proc`.
    var transfer: Transfer?
    /// How far the free space of the file system fell while it ran; what other programs wrote meanwhile is in it.
    var diskBytes = 0
    /// What a migration tells of itself; nil for other programs.
    var account: MigrationAccount?

    /// Rows and links; nil where nobody counts them.
    var rows: Int? { account?.rows }
    /// Seconds by phase; empty where there are no phases.
    var phases: [String: Double] { account?.phases ?? [:] }
}

/// Bytes that went through the system, as `/proc/PID/io` counts them.
struct Transfer: Codable {
    /// By calls, from the page cache or not.
    var readBytes = 0
    var writtenBytes = 0
    /// To and from the disk.
    var diskReadBytes = 0
    var diskWrittenBytes = 0
}

/// What a migration in a process of its own tells on standard output.
struct MigrationAccount: Codable {
    var rows: Int?
    /// What commits and checkpoints took of the seconds, as the migration itself counts it; nil where there are none.
    var savingSeconds: Double?
    /// Seconds by phase.
    var phases: [String: Double] = [:]

    func printed() throws {
        print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }
}

/// Why a measurement can't go on.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Says what is going on: standard output is for the figures.
func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
