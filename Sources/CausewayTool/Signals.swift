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
final class SignalWatch {
    private static let watched = [SIGINT, SIGTERM]

    private let first: FirstSignal
    private let sources: [any DispatchSourceSignal]

    /// - Parameter stop: called once, on a thread of Dispatch's.
    init(_ stop: @escaping @Sendable () -> Void) {
        let first = FirstSignal()
        let queue = DispatchQueue(label: "causeway.signals")
        sources = Self.watched.map { number in
            // The default action would end the process before the source sees the signal.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                // 128 and the signal's number, as shells count.
                guard first.take(number) else { _exit(128 + number) }
                stop()
            }
            return source
        }
        self.first = first
        for source in sources { source.resume() }
    }

    /// Gives the signals their usual effect back.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.watched { _ = signal(number, SIG_DFL) }
    }

    /// Whether the system asked to end, rather than the user.
    var isTermination: Bool { first.number == SIGTERM }
}

/// The signal that came first.
private final class FirstSignal: Sendable {
    private let taken = Mutex<Int32?>(nil)

    var number: Int32? { taken.withLock { $0 } }

    /// False where another one came before.
    func take(_ number: Int32) -> Bool {
        taken.withLock { taken in
            guard taken == nil else { return false }
            taken = number
            return true
        }
    }
}
