internal import CausewayCPlatform
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Has the system write a growing file to its medium while it grows, so that an fsync finds little left to wait for.
///
/// It makes nothing durable: only an fsync does. But an error that it meets may be told to nobody else: ext4 drops the
/// pages for which it finds no blocks, says so to whoever asked for them to be written, and a later fsync finds nothing
/// left to do. So whoever syncs the file holds the requests before, looks at what they met, and lets the fsync do the rest.
/// Errors that the system remembers are not taken from the fsync: a call that doesn't wait looks at none.
package final class Writeback: Sendable {
    /// Bytes of rows, in all steps so far, from which on the thread is worth its while; fewer fill no second.
    /// `CAUSEWAY_WRITEBACK_FROM=bytes` in debug and harness builds, whose stores are small.
    #if !os(Linux)
        package static let worthwhileBytes = Int.max
    #elseif DEBUG || CAUSEWAY_HARNESS
        package static let worthwhileBytes = Setting("CAUSEWAY_WRITEBACK_FROM").flatMap { Int($0.name) } ?? 64 << 20
    #else
        package static let worthwhileBytes = 64 << 20
    #endif

    /// Milliseconds between two requests: short beside the second between two commits.
    private static let interval: UInt32 = 50
    /// Bytes; the thread makes two system calls.
    private static let stackSize = 256 << 10

    private let requests: Requests
    /// nil where the system has no thread left: then the fsyncs have all the work, as without this object.
    private let thread: WorkerThread?

    /// Begins.
    ///
    /// - Parameter path: The file. It is opened once more, until this object goes: then the process loses its POSIX locks on
    ///   it, SQLite's among them, so the object must outlive the connection whose locks matter.
    /// - Throws: where it can't be opened.
    package init(of path: String) throws(FileError) {
        let requests = Requests(try OpenFile(path, mode: .read, followsLinks: false))
        self.requests = requests
        thread = try? WorkerThread(name: "writeback", stackSize: Self.stackSize) {
            while requests.make() { Pause.rest(milliseconds: Self.interval) }
        }
    }

    deinit { end() }

    /// Lets no more requests be made until `release`, when the one that is under way has returned.
    ///
    /// - Returns: the first error that a request has met; nil: what isn't on the medium yet is still to be written.
    package func hold() -> FileError? { requests.hold() }

    /// Goes on with the requests.
    package func release() { requests.release() }

    /// Ends the requests for good, when the one that is under way has returned. The file stays open.
    package func end() {
        requests.end()
        thread?.join()
    }

    /// One after the other, so that who asks for the failure knows of all that were made before.
    private final class Requests: Sendable {
        private let file: OpenFile
        private let state = Mutex<State>(.asking)

        private enum State {
            case asking
            case held
            case ended
            case failed(FileError)
        }

        init(_ file: consuming OpenFile) { self.file = file }

        /// - Returns: whether there is to be another.
        func make() -> Bool {
            state.withLock { state in
                switch state {
                case .asking: break
                case .held: return true
                case .ended, .failed: return false
                }
                let number = causeway_begin_writeback(file.descriptor)
                switch number {
                case 0, EINTR, EAGAIN, ENOMEM: return true
                // The file system doesn't know the call, or the system doesn't allow it: nothing was tried.
                case ENOSYS, EINVAL, EOPNOTSUPP, ESPIPE, EPERM, EACCES: state = .ended
                default: state = .failed(FileError("write early", file.path, errorNumber: number))
                }
                return false
            }
        }

        func hold() -> FileError? {
            state.withLock { state in
                switch state {
                case .asking: state = .held
                case .held, .ended: break
                case .failed(let error): return error
                }
                return nil
            }
        }

        func release() {
            state.withLock { state in
                if case .held = state { state = .asking }
            }
        }

        func end() {
            state.withLock { state in
                switch state {
                case .asking, .held: state = .ended
                case .ended, .failed: break
                }
            }
        }
    }
}
