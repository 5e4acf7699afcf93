import Foundation

/// A file of holes, whose pages take all memory that is free.
///
/// A virtual machine may give free memory back to its host. Then whoever is the next to write into the page cache waits
/// for it, several times as long as for the work itself, and rounds differ by what happened to be free. Pages of a file
/// that was read once and has no bytes on the disk are the first that the system takes away again, at once and for
/// nothing: a machine that has been running for a while is in the same state. No rest may stay free: the first who
/// writes would get that.
struct Ballast {
    private static let chunk = 1 << 20

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

    /// Reads the whole file. Pages that this pushes out must be read again afterwards.
    ///
    /// - Throws: where it can't be read.
    func fill() throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        // One buffer: new memory for every read would be what this is about.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        while true {
            let count = unsafe read(file.fileDescriptor, buffer.baseAddress, Self.chunk)
            if count == 0 { return }
            guard count > 0 else { throw BenchmarkError("\(path) can't be read: error \(errno)") }
        }
    }
}
