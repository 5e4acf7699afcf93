internal import CausewayCPlatform
internal import Synchronization

/// Has the system write a growing file to its medium while it grows, so that an fsync finds little left to wait for.
///
/// It promises nothing: only an fsync makes anything durable. Where the system has no such call nothing happens, and a
/// medium that fails here fails at the fsync, too, which says so: since Linux 4.13 every descriptor learns of an error by
/// itself, and before that a call that doesn't wait takes nothing away from one that does.
package final class Writeback: Sendable {
    /// Bytes of rows from which on a file is worth a thread; below them the medium keeps up by itself.
    /// `CAUSEWAY_WRITEBACK_FROM=bytes` in debug and harness builds, whose stores are small.
    #if !os(Linux)
        package static let worthwhileBytes = Int.max
    #elseif DEBUG || CAUSEWAY_HARNESS
        package static let worthwhileBytes = Setting("CAUSEWAY_WRITEBACK_FROM").flatMap { Int($0.name) } ?? 64 << 20
    #else
        package static let worthwhileBytes = 64 << 20
    #endif

    /// Milliseconds between two requests: short beside the second between two commits. So long the end may take.
    private static let interval: UInt32 = 20

    private let thread: WorkerThread
    private let ending: Ending

    /// Begins.
    ///
    /// - Parameter path: The file; it is opened once more, until this object goes. Then the process loses its POSIX locks on
    ///   the file, SQLite's among them.
    /// - Throws: where it can't be opened, or there is no thread.
    package init(of path: String) throws(FileError) {
        let ending = Ending()
        let file = try GrowingFile(path)
        thread = try WorkerThread(name: "writeback") {
            while !ending.isAsked {
                file.beginWriting()
                Pause.rest(milliseconds: Self.interval)
            }
        }
        self.ending = ending
    }

    deinit {
        ending.ask()
        // The descriptor goes with the thread: from here on nobody's locks are lost any more.
        thread.join()
    }

    private final class Ending: Sendable {
        private let value = Atomic(false)

        var isAsked: Bool { value.load(ordering: .relaxed) }
        func ask() { value.store(true, ordering: .relaxed) }
    }

    private final class GrowingFile: Sendable {
        private let file: OpenFile

        init(_ path: String) throws(FileError) {
            file = try OpenFile(path, mode: .read, followsLinks: false)
        }

        // Whatever it answers, the fsync that follows is asked anyway.
        func beginWriting() { _ = causeway_begin_writeback(file.descriptor) }
    }
}
