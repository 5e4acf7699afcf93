internal import CausewayCSQLite

/// The progress callback's context.
final class ProgressContext {
    let shouldStop: () -> Bool

    init(shouldStop: @escaping () -> Bool) {
        self.shouldStop = shouldStop
    }
}

extension Connection {
    /// Calls `shouldStop` about every `instructions` steps of SQLite's virtual machine, on the thread that runs the
    /// statement; `true` ends the statement with `.interrupted`. This bounds what a hostile schema can make us compute.
    package mutating func setProgressHandler(everyInstructions instructions: Int32, shouldStop: @escaping () -> Bool) {
        let context = ProgressContext(shouldStop: shouldStop)
        unsafe sqlite3_progress_handler(
            handle, max(1, instructions),
            { context in
                guard let context = unsafe context else { return 0 }
                let handler = unsafe Unmanaged<ProgressContext>.fromOpaque(context).takeUnretainedValue()
                return handler.shouldStop() ? 1 : 0
            },
            unsafe Unmanaged.passUnretained(context).toOpaque())
        progressHandler = context
    }

    package mutating func removeProgressHandler() {
        unsafe sqlite3_progress_handler(handle, 0, nil, nil)
        progressHandler = nil
    }
}
