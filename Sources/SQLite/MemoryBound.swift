internal import CausewayCSQLite
import Synchronization

/// A limit on SQLite's memory while it compiles an untrusted text.
///
/// Each mention of a common table expression is compiled again: forty lines of SQL can need more memory than there is,
/// and neither the limits of a connection nor its handlers stop the compiler. Only the library's own limit does, which
/// all connections of the process share: it is set above what they have now, for the milliseconds of a compilation.
package enum MemoryBound {
    private struct State {
        var users = 0
        var before: Int64 = 0
    }

    private static let state = Mutex(State())

    /// Runs `body`; an allocation beyond this many bytes fails in it with `.outOfMemory`.
    package static func limiting<Result: ~Copyable, Failure: Error>(
        to bytes: Int64, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        state.withLock { state in
            state.users += 1
            guard state.users == 1 else { return }
            let limit = sqlite3_memory_used() + bytes
            state.before = sqlite3_hard_heap_limit64(-1)
            _ = sqlite3_hard_heap_limit64(state.before > 0 ? min(state.before, limit) : limit)
        }
        defer {
            state.withLock { state in
                state.users -= 1
                if state.users == 0 { _ = sqlite3_hard_heap_limit64(state.before) }
            }
        }
        return try body()
    }
}
