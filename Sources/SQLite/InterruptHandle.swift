internal import CausewayCSQLite
internal import Synchronization

/// Stops the running statements of one connection from another thread; they fail with `.interrupted`.
///
/// Outlives its connection without harm: once that is closed, `interrupt` does nothing.
package final class InterruptHandle: Sendable {
    // The lock holds `close` back while `interrupt` uses the pointer, and hides it afterwards. The address travels as
    // an integer because a pointer is not Sendable.
    private let address: Mutex<UInt>

    init(_ database: OpaquePointer) {
        address = Mutex(UInt(bitPattern: database))
    }

    package func interrupt() {
        address.withLock { address in
            if let database = unsafe OpaquePointer(bitPattern: address) { unsafe sqlite3_interrupt(database) }
        }
    }

    /// Called before the connection is closed.
    func invalidate() {
        address.withLock { $0 = 0 }
    }
}
