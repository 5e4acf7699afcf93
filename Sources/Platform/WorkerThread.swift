#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import Synchronization

/// A dedicated thread for blocking work.
///
/// Join it: a thread that isn't joined outlives this object until its closure returns.
package final class WorkerThread: Sendable {
    /// Bytes. Room for SQLite's parser and for a policy that recurses; macOS's 512 KiB isn't enough.
    package static let defaultStackSize = 8 << 20

    /// The thread's identity as an integer, since on macOS it is a pointer, which is not Sendable; nil once joined.
    private let identity: Mutex<UInt?>

    /// Starts the thread. Its name is for debuggers and `top`; Linux shows the first 15 bytes. Throws when the system
    /// has no thread left (EAGAIN) or the stack's size is invalid (EINVAL).
    package init(
        name: String, stackSize: Int = defaultStackSize, _ body: @escaping @Sendable () -> Void
    ) throws(FileError) {
        let start = ThreadStart(name: name, body: body)
        identity = Mutex(try Self.create(start, stackSize: stackSize))
    }

    deinit {
        guard let thread = identity.withLock({ $0 }) else { return }
        #if canImport(Darwin)
            if let thread = pthread_t(bitPattern: thread) { _ = unsafe pthread_detach(thread) }
        #else
            _ = pthread_detach(thread)
        #endif
    }

    /// Waits until the closure has returned. Further calls return at once. Never from the thread itself.
    package func join() {
        guard let thread = identity.withLock({ $0.take() }) else { return }
        #if canImport(Darwin)
            let result = pthread_t(bitPattern: thread).map { unsafe pthread_join($0, nil) } ?? ESRCH
        #else
            let result = pthread_join(thread, nil)
        #endif
        precondition(result == 0, "a thread can't be joined by itself")
    }

    private static func create(_ start: ThreadStart, stackSize: Int) throws(FileError) -> UInt {
        var attributes = pthread_attr_t()
        var result = unsafe pthread_attr_init(&attributes)
        guard result == 0 else { throw FileError("start the thread", start.name, errorNumber: result) }
        defer { _ = unsafe pthread_attr_destroy(&attributes) }
        result = unsafe pthread_attr_setstacksize(&attributes, stackSize)
        guard result == 0 else { throw FileError("start the thread", start.name, errorNumber: result) }
        let box = unsafe Unmanaged.passRetained(start)
        #if canImport(Darwin)
            var thread: pthread_t?
            result = unsafe pthread_create(
                &thread, &attributes,
                { argument in
                    unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, box.toOpaque())
        #else
            var thread = pthread_t()
            result = unsafe pthread_create(
                &thread, &attributes,
                { argument in
                    if let argument = unsafe argument {
                        unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                    }
                    return nil
                }, box.toOpaque())
        #endif
        guard result == 0 else {
            unsafe box.release()
            throw FileError("start the thread", start.name, errorNumber: result)
        }
        #if canImport(Darwin)
            return UInt(bitPattern: thread)
        #else
            return thread
        #endif
    }
}

/// The new thread's argument.
private final class ThreadStart: Sendable {
    let name: String
    private let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        setName()
        body()
    }

    /// A name is a convenience: it may fail, and nothing depends on it.
    private func setName() {
        #if canImport(Darwin)
            _ = unsafe pthread_setname_np(name)
        #else
            // pthread_setname_np is a GNU call that Swift doesn't see; the kernel takes the name through this file.
            let descriptor = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            var text = name
            text.withUTF8 { bytes in
                // The kernel keeps 15 bytes.
                unsafe _ = write(descriptor, bytes.baseAddress, min(15, bytes.count))
            }
            _ = close(descriptor)
        #endif
    }
}
