internal import CausewayCSQLite

/// What a C callback asks.
final class CallbackContext {
    private let question: () -> Bool

    init(_ question: @escaping () -> Bool) {
        self.question = question
    }

    var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// The callback's result: 1 for yes.
    static func answer(_ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<CallbackContext>.fromOpaque(context).takeUnretainedValue().question() ? 1 : 0
    }
}

extension Connection {
    /// Calls `shouldRetry` each time that another connection's lock is in the way, on the thread that runs the
    /// statement; `false` ends the statement with `.busy`. It waits by itself: SQLite tries again as soon as it returns
    /// `true`.
    ///
    /// It replaces the busy timeout, and `setBusyTimeout` replaces it. Between two tries SQLite keeps the locks that
    /// the statement has so far: `BEGIN EXCLUSIVE` that waits for readers to end lets no other connection write, and no
    /// new one read (`pager_wait_on_lock` of its pager.c). It releases them when the answer is `false`.
    package mutating func setBusyHandler(_ shouldRetry: @escaping () -> Bool) {
        let context = CallbackContext(shouldRetry)
        // Can't fail for an open connection.
        _ = unsafe sqlite3_busy_handler(
            handle, { context, _ in unsafe CallbackContext.answer(context) }, context.pointer)
        // Only now may the previous one be released.
        busyHandler = context
    }

    /// Back to the timeout that every connection begins with.
    package mutating func removeBusyHandler() {
        _ = unsafe sqlite3_busy_timeout(handle, Hardening.defaultBusyTimeout)
        busyHandler = nil
    }

    /// Calls `shouldStop` about every `instructions` steps of SQLite's virtual machine, on the thread that runs the
    /// statement; `true` ends the statement with `.interrupted`. This bounds what a hostile schema can make us compute.
    package mutating func setProgressHandler(everyInstructions instructions: Int32, shouldStop: @escaping () -> Bool) {
        let context = CallbackContext(shouldStop)
        unsafe sqlite3_progress_handler(
            handle, max(1, instructions), { context in unsafe CallbackContext.answer(context) }, context.pointer)
        progressHandler = context
    }

    package mutating func removeProgressHandler() {
        unsafe sqlite3_progress_handler(handle, 0, nil, nil)
        progressHandler = nil
    }
}
