import ArgumentParser
import Causeway
import CausewayPlatform
import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A reader that closes the pipe (`head`) and a file that reaches the user's size limit must be errors of the writing
/// call, not end the process in the middle of a swap. A status request (SIGUSR1) to a command without a status must not
/// end it either. SIGHUP ends a command that only reads with SIGTERM's status; one that writes has a `SignalWatch`.
func ignoreFatalSignals() {
    for number in [SIGPIPE, SIGXFSZ, SIGUSR1] { _ = signal(number, SIG_IGN) }
    if !ProcessFacts.ignores(SIGHUP) { _ = signal(SIGHUP) { _ in _exit(128 + SIGTERM) } }
}

/// A signal ends a command that only reads at once; who asked for JSON gets the error as JSON, too.
///
/// - Parameters:
///   - store: which one the command is about; nil for several, or none.
///   - outcome: what the command leaves behind.
/// - Returns: what listens, until its `end`.
func answerSignalsInJSON(about store: String?, outcome: String) -> SignalWatch {
    let signals = ReceivedSignal()
    return SignalWatch(signals, ending: "ended at once") {
        let report = FailureReport(
            signals.stopCode, "a signal ended the command", remedy: "run the command again", outcome: outcome)
        report.printIfReady(about: store)
        _exit(signals.stopCode.exitCode)
    }
}

/// Turns Ctrl-C, SIGTERM and SIGHUP into a call: the first signal asks to stop, the second ends the process at once.
/// SIGUSR1 asks for the status.
///
/// Ending at once is safe too: until the swap the store is untouched, the swap is one rename, and what was committed is
/// resumed.
final class SignalWatch {
    private let stopping: [Int32]
    private let first: ReceivedSignal
    private let sources: [any DispatchSourceSignal]

    /// The calls come on Dispatch's threads and may block: standard error may be a paused terminal (Ctrl-S), and a
    /// second signal must still end the process.
    ///
    /// - Parameters:
    ///   - first: takes the signal that asks to stop.
    ///   - ending: what a second signal says before it ends the process.
    ///   - stop: called once.
    ///   - status: called for each status request.
    init(
        _ first: ReceivedSignal = ReceivedSignal(),
        ending: String = "ended at once: the store is complete, old or new; run again to resume",
        _ stop: @escaping @Sendable () -> Void, status: @escaping @Sendable () -> Void = {}
    ) {
        let signals = DispatchQueue(label: "causeway.signals")
        let reactions = DispatchQueue(label: "causeway.signals.reactions", attributes: .concurrent)
        func source(_ number: Int32, _ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
            // The default action would end the process before the source sees the signal.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: signals)
            source.setEventHandler(handler: handler)
            return source
        }
        self.first = first
        // `nohup` ignores it: the run is to outlive the terminal then.
        let stopping = [SIGINT, SIGTERM] + (ProcessFacts.ignores(SIGHUP) ? [] : [SIGHUP])
        self.stopping = stopping
        sources =
            stopping.map { number in
                source(number) {
                    guard first.take(number) else {
                        // A lost terminal sends it several times: by the system, and by the shell.
                        if number == SIGHUP { return }
                        StandardStream.error.writeLineIfReady(ending)
                        // 128 and the signal's number, as shells count.
                        _exit(128 + number)
                    }
                    reactions.async(execute: stop)
                }
            } + [source(SIGUSR1) { reactions.async(execute: status) }]
        for source in sources { source.resume() }
    }

    /// Restores the default action of the stop signals; a late SIGUSR1 stays ignored.
    func end() {
        for source in sources { source.cancel() }
        for number in stopping { _ = signal(number, SIG_DFL) }
    }

    /// The exit status: the cancelled work doesn't know which signal cancelled it.
    func code(of error: MigrationError) -> MigrationError.Code { first.code(of: error) }

}

/// The signal that asked to stop: the first one.
final class ReceivedSignal: Sendable {
    private let taken = Mutex<Int32?>(nil)

    /// What a stopped run exits with. SIGHUP asks for the same as SIGTERM.
    var stopCode: MigrationError.Code {
        switch taken.withLock({ $0 }) {
        case SIGTERM, SIGHUP: .terminated
        default: .interrupted
        }
    }

    /// The exit status: the cancelled work doesn't know which signal cancelled it.
    func code(of error: MigrationError) -> MigrationError.Code {
        error.code == .interrupted ? stopCode : error.code
    }

    /// False if another one came first.
    func take(_ number: Int32) -> Bool {
        taken.withLock { taken in
            guard taken == nil else { return false }
            taken = number
            return true
        }
    }
}
