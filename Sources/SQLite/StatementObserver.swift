import Synchronization

/// Sees every statement of this process when it is compiled or executed: for tests that ask for query plans. Without an
/// observer it costs one relaxed load per statement.
package struct StatementObserver: Sendable {
    /// Called with the connection, as its schema is at that moment, and one or more statements. May compile statements
    /// of its own on the connection, which are observed in turn.
    package let compiling: @Sendable (borrowing Connection, String) -> Void

    package init(compiling: @escaping @Sendable (borrowing Connection, String) -> Void) {
        self.compiling = compiling
    }

    private static let isOn = Atomic<Bool>(false)
    private static let current = Mutex<StatementObserver?>(nil)

    /// The observer of the whole process from now on; nil: none.
    package static func set(_ observer: StatementObserver?) {
        current.withLock { $0 = observer }
        isOn.store(observer != nil, ordering: .releasing)
    }

    static func see(_ sql: String, on connection: borrowing Connection) {
        guard isOn.load(ordering: .relaxed) else { return }
        current.withLock { $0 }?.compiling(connection, sql)
    }
}
