import Foundation
import Synchronization

/// Looks every 20 milliseconds how much memory a program has held so far and how much space is left.
///
/// `ru_maxrss` can't be used: it begins with what this process held when it started the program. The system's own
/// high-water mark of a program is gone with it, so what it took in its last 20 milliseconds is missed.
final class ResourceWatch: Sendable {
    private struct State {
        var program: Int32?
        var peakMemoryBytes: Int?
        var leastFreeBytes = Int.max
        var isEnded = false
    }

    private let folder: URL
    private let freeBytesBefore: Int
    private let state = Mutex(State())

    init(_ folder: URL) {
        self.folder = folder
        freeBytesBefore = Disk.freeBytes(folder)
    }

    /// nil where there is no `/proc`, or nothing ran for as long as it takes to look.
    var peakMemoryBytes: Int? { state.withLock(\.peakMemoryBytes) }

    var diskBytes: Int { max(0, freeBytesBefore - state.withLock(\.leastFreeBytes)) }

    /// Whose memory counts from now on.
    func follow(_ program: Int32?) {
        state.withLock { $0.program = program }
    }

    func begin() {
        Thread.detachNewThread { [self] in
            while !state.withLock(\.isEnded) {
                look()
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    func end() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { look() }
    }

    private func look() {
        let memory = state.withLock(\.program).flatMap(Self.highWaterMark)
        let free = Disk.freeBytes(folder)
        state.withLock { state in
            if let memory { state.peakMemoryBytes = max(state.peakMemoryBytes ?? 0, memory) }
            state.leastFreeBytes = min(state.leastFreeBytes, free)
        }
    }

    /// The most that a program has held so far.
    private static func highWaterMark(_ program: Int32) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(program)/status", encoding: .utf8) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            return fields.count > 1 ? Int(fields[1]).map { $0 * 1_024 } : nil
        }
        return nil
    }
}

/// What a file system says of itself.
enum Disk {
    /// What may still be written by anybody; 0 where it can't be asked.
    static func freeBytes(_ folder: URL) -> Int {
        var facts = statvfs()
        guard unsafe statvfs(folder.path, &facts) == 0 else { return 0 }
        return Int(clamping: UInt64(facts.f_bavail)) * Int(clamping: UInt64(facts.f_frsize))
    }

    /// `ext4`, `xfs`, …; nil where there is no `/proc`.
    static func fileSystem(_ folder: URL) -> String? {
        guard let mounts = try? String(contentsOfFile: "/proc/mounts", encoding: .utf8) else { return nil }
        let path = folder.resolvingSymlinksInPath().path
        let holding = mounts.split(separator: "\n").map { $0.split(separator: " ") }.filter { fields in
            guard fields.count > 2 else { return false }
            return fields[1] == "/" || path == fields[1] || path.hasPrefix("\(fields[1])/")
        }
        // Later mounts cover earlier ones.
        let longest = holding.map(\.[1].count).max()
        return holding.last { $0[1].count == longest }.map { String($0[2]) }
    }
}
