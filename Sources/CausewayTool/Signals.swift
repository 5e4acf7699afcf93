import Causeway
import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A reader that closes the pipe (`head`) and a file that reaches the user's size limit must be errors of the writing
/// call, not end the process in the middle of a swap. A status request (SIGUSR1) to a command without a status must not
/// end it either.
func ignoreFatalSignals() {
    for number in [SIGPIPE, SIGXFSZ, SIGUSR1] { _ = signal(number, SIG_IGN) }
}

/// Turns Ctrl-C and SIGTERM into a call: the first signal asks to stop, the second ends the process at once. SIGUSR1
/// asks for the status.
///
/// Ending at once is safe too: until the swap the store is untouched, the swap is one rename, and what was committed is
/// resumed.
final class SignalWatch {
    private static let stopping = [SIGINT, SIGTERM]

    private let first: FirstSignal
    private let sources: [any DispatchSourceSignal]

    /// The calls come on Dispatch's threads and may block: standard error may be a paused terminal (Ctrl-S), and a
    /// second signal must still end the process.
    ///
    /// - Parameters:
    ///   - ending: what a second signal says before it ends the process.
    ///   - stop: called once.
    ///   - status: called for each status request.
    init(
        ending: String = "ended at once: the store is complete, old or new; run again to resume",
        _ stop: @escaping @Sendable () -> Void, status: @escaping @Sendable () -> Void = {}
    ) {
        let first = FirstSignal()
        let signals = DispatchQueue(label: "causeway.signals")
        let reactions = DispatchQueue(label: "causeway.signals.reactions", attributes: .concurrent)
        func source(_ number: Int32, _ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
            // The default action would end the process before the source sees the signal.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: signals)
            source.setEventHandler(handler: handler)
            return source
        }
        sources =
            Self.stopping.map { number in
                source(number) {
                    guard first.take(number) else {
                        StandardStream.error.writeLineIfReady(ending)
                        // 128 and the signal's number, as shells count.
                        _exit(128 + number)
                    }
                    reactions.async(execute: stop)
                }
            } + [source(SIGUSR1) { reactions.async(execute: status) }]
        self.first = first
        for source in sources { source.resume() }
    }

    /// Restores the default action of the stop signals; a late SIGUSR1 stays ignored.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.stopping { _ = signal(number, SIG_DFL) }
    }

    /// The exit status: the cancelled work doesn't know which signal cancelled it.
    func code(of error: MigrationError) -> MigrationError.Code {
        error.code == .interrupted && first.number == SIGTERM ? .terminated : error.code
    }
}

/// The signal that came first.
private final class FirstSignal: Sendable {
    private let taken = Mutex<Int32?>(nil)

    var number: Int32? { taken.withLock { $0 } }

    /// False if another one came first.
    func take(_ number: Int32) -> Bool {
        taken.withLock { taken in
            guard taken == nil else { return false }
            taken = number
            return true
        }
    }
}
