#if os(Linux)
    import Glibc

    /// Removes the Swift runtime's crash handler, unless the user has set `SWIFT_BACKTRACE`.
    ///
    /// On Linux the runtime catches a crash and prints the registers with the bytes of memory that they point to: these
    /// may hold a row's content, which must not get into a log. Without the handler the system ends the process like
    /// any other, and the next run resumes. The runtime reads `SWIFT_BACKTRACE` before `main`, so setting it would mean
    /// starting the executable twice, which a team's own executable can't expect.
    func keepMemoryOutOfCrashReports() {
        guard unsafe getenv("SWIFT_BACKTRACE") == nil else { return }
        // The signals that the runtime catches, all with one function. Another crash reporter, or a sanitizer, keeps
        // its handlers: none of them handles SIGQUIT and SIGTRAP as well. A shell without job control starts what it
        // puts into the background with SIGQUIT ignored, and the runtime leaves that as it is.
        let numbers = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP].filter {
            handlerAddress($0) != ignored
        }
        let handlers = Set(numbers.map(handlerAddress))
        guard numbers.contains(SIGTRAP), handlers.count == 1, let handler = handlers.first, handler != 0 else { return }
        for number in numbers { _ = signal(number, SIG_DFL) }
    }

    /// SIG_IGN.
    private let ignored: UInt = 1

    /// Where the signal's handler is; 0 for the default action.
    private func handlerAddress(_ number: Int32) -> UInt {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return 0 }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_sigaction, to: UInt.self)
    }
#else
    /// On other systems the Swift runtime catches crashes only when asked to.
    func keepMemoryOutOfCrashReports() {}
#endif
