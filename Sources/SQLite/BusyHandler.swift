internal import CausewayCSQLite

/// The busy callback's context.
final class BusyContext {
    let shouldRetry: () -> Bool

    init(shouldRetry: @escaping () -> Bool) {
        self.shouldRetry = shouldRetry
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
        let context = BusyContext(shouldRetry: shouldRetry)
        // Can't fail for an open connection.
        _ = unsafe sqlite3_busy_handler(
            handle,
            { context, _ in
                guard let context = unsafe context else { return 0 }
                let handler = unsafe Unmanaged<BusyContext>.fromOpaque(context).takeUnretainedValue()
                return handler.shouldRetry() ? 1 : 0
            },
            unsafe Unmanaged.passUnretained(context).toOpaque())
        // Only now may the previous one be released.
        busyHandler = context
    }

    /// Back to the timeout that every connection begins with.
    package mutating func removeBusyHandler() {
        _ = unsafe sqlite3_busy_timeout(handle, Hardening.defaultBusyTimeout)
        busyHandler = nil
    }
}
