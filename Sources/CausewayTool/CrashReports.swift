#if os(Linux)
    import Glibc

    /// Takes the Swift runtime's crash handler away, unless the user has set `SWIFT_BACKTRACE`: a person's wish.
    ///
    /// On Linux the runtime catches a crash and prints the registers with the bytes of memory that they point to: among
    /// them may be a row's content, which must not get into a log. Without the handler the system ends the process as it
    /// does with any program, and the next run resumes. `SWIFT_BACKTRACE` itself is read before `main`, so setting it
    /// would take a second start of the executable, which a team's own executable can't expect.
    func keepMemoryOutOfCrashReports() {
        guard unsafe getenv("SWIFT_BACKTRACE") == nil else { return }
        // What the runtime catches, all with one function. Another crash reporter, or a sanitizer, keeps its handlers:
        // none takes SIGQUIT and SIGTRAP along with the rest.
        let numbers = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
        let handlers = Set(numbers.map(handlerAddress))
        guard handlers.count == 1, let handler = handlers.first, handler != 0 else { return }
        for number in numbers { _ = signal(number, SIG_DFL) }
    }

    /// Where the signal's handler is; 0 for the default action.
    private func handlerAddress(_ number: Int32) -> UInt {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return 0 }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_sigaction, to: UInt.self)
    }
#else
    /// Elsewhere the Swift runtime catches crashes only where it is asked to.
    func keepMemoryOutOfCrashReports() {}
#endif
