import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A reader that goes away (`head`) and a file that reaches the user's size limit must be errors that the writing call
/// gives, not the end of the process in the middle of a swap.
func ignoreFatalSignals() {
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGXFSZ, SIG_IGN)
}

/// Turns Ctrl-C and the system's request to end into a call: the first asks to stop, the second ends the process at once.
///
/// Ending at once is safe too: until the swap the store is untouched, and the swap is one rename.
final class SignalWatch: Sendable {
    private static let watched = [SIGINT, SIGTERM]

    private let first = Mutex<Int32?>(nil)
    private let sources = Mutex<[any DispatchSourceSignal]>([])

    /// - Parameter stop: called once, on a thread of Dispatch's.
    init(_ stop: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "causeway.signals")
        let made = Self.watched.map { number in
            // The default action would end the process before the source sees the signal.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in self?.receive(number, stop) }
            return source
        }
        sources.withLock { $0 = made }
        for source in made { source.resume() }
    }

    /// Gives the signals their usual effect back.
    func end() {
        let made = sources.withLock { sources in
            defer { sources = [] }
            return sources
        }
        for source in made { source.cancel() }
        for number in Self.watched { _ = signal(number, SIG_DFL) }
    }

    /// The signal that asked to stop; nil where none did.
    var received: Int32? { first.withLock { $0 } }

    var isTermination: Bool { received == SIGTERM }

    private func receive(_ number: Int32, _ stop: @Sendable () -> Void) {
        let isFirst = first.withLock { first in
            guard first == nil else { return false }
            first = number
            return true
        }
        // 128 and the signal's number, as shells count.
        guard isFirst else { _exit(128 + number) }
        stop()
    }
}
