internal import CausewayCSQLite
import Synchronization

/// A limit on SQLite's memory while it compiles an untrusted text.
///
/// Each mention of a common table expression is compiled anew: forty lines of SQL can ask for more memory than there
/// is. Nothing that belongs to one connection stops that. The compiler copies all mentions before it asks the
/// authorizer, counts instructions or looks for an interrupt, and its limits (`sqlite3_limit`) bound each copy, not
/// their number. Only `sqlite3_hard_heap_limit64` does, and SQLite has one for all connections of a process. An
/// allocator that counts by thread would have to be installed before anything in the process uses SQLite, which a
/// library can't know.
///
/// So it is set for the milliseconds of a compilation, above what all connections have then. Where others take more
/// than the rest meanwhile, they fail with `.outOfMemory`, as where memory is short: a migration keeps its work and
/// resumes. Or the text fails, and its object is named as one that is too large.
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
