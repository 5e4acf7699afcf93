import Synchronization

/// What is computed once from the values that it stands beside, and takes no part in their comparison.
package struct Remembered<Value: Sendable>: Hashable, Sendable {
    private final class Memory: Sendable {
        let value = Mutex<Value?>(nil)
    }

    private let memory = Memory()

    package init() {}

    package func value(_ make: () -> Value) -> Value {
        memory.value.withLock { known in
            if let known { return known }
            let made = make()
            known = made
            return made
        }
    }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
