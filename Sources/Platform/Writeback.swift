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
/// left to do. So whoever syncs the file asks for `failure` afterwards. Errors that the system remembers are not taken from
/// the fsync: a call that doesn't wait looks at none.
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
    private static let interval: UInt32 = 20
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

    /// The first error that a request met; waits for the request that is under way.
    ///
    /// Asked after an fsync that succeeded: nil says that no request has lost what the fsync was to make durable.
    package func failure() -> FileError? { requests.failure() }

    /// Ends the requests, when the one that is under way has returned. The file stays open.
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
            case ended
            case failed(FileError)
        }

        init(_ file: consuming OpenFile) { self.file = file }

        /// - Returns: whether there is to be another.
        func make() -> Bool {
            state.withLock { state in
                guard case .asking = state else { return false }
                let number = causeway_begin_writeback(file.descriptor)
                switch number {
                case 0, EINTR, EAGAIN, ENOMEM: return true
                // The file system doesn't know the call.
                case ENOSYS, EINVAL, EOPNOTSUPP, ESPIPE: state = .ended
                default: state = .failed(FileError("write early", file.path, errorNumber: number))
                }
                return false
            }
        }

        func failure() -> FileError? {
            state.withLock { state in
                guard case .failed(let error) = state else { return nil }
                return error
            }
        }

        func end() {
            state.withLock { state in
                if case .asking = state { state = .ended }
            }
        }
    }
}
