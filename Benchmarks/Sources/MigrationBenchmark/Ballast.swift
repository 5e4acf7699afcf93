import Foundation

/// A file of holes, whose pages take the memory that is free.
///
/// A virtual machine may give free memory back to its host. Then whoever is the next to write into the page cache waits
/// for it, several times as long as for the work itself, and rounds differ by what happened to be free. Pages of a file
/// that was read once and has no bytes on the disk are the first that the system takes away again, at once and for
/// nothing: a machine that has been running for a while is in the same state.
struct Ballast {
    /// Bytes that are left free.
    private static let rest = 512 << 20
    private static let chunk = 16 << 20

    private let path: String
    private let bytes = Int(ProcessInfo.processInfo.physicalMemory)

    /// - Parameter folder: on any disk with files that have holes.
    /// - Throws: where the file can't be made.
    init(in folder: URL) throws {
        path = folder.appendingPathComponent("ballast").path
        guard !FileManager.default.fileExists(atPath: path) else { return }
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.truncate(atOffset: UInt64(bytes))
    }

    /// Reads as much of the file as there is free memory. Where the system doesn't tell, nothing happens.
    func fill() throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var read = 0
        while read < bytes, let free = Self.freeMemory(), free > Self.rest {
            read += try file.read(upToCount: Self.chunk)?.count ?? bytes
        }
    }

    private static func freeMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemFree:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kilobytes << 10
    }
}
