/// A first-in, first-out queue of fixed size between threads: any number of them push and pop.
///
/// Blocking, so only for dedicated threads (`WorkerThread`), never for Swift's concurrency pool.
///
/// Sendable: all state is read and written only while `monitor` is locked, and elements are Sendable themselves.
package final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
    package let capacity: Int

    private let monitor = Monitor()
    /// A ring: `count` elements from `head`.
    private var slots: [Element?]
    private var head = 0
    private var count = 0
    private var isFinished = false
    private var isCancelled = false

    /// - Parameter capacity: Elements that may wait; at least 1.
    package init(capacity: Int) {
        precondition(capacity > 0, "a queue without room would block for ever")
        self.capacity = capacity
        slots = Array(repeating: nil, count: capacity)
    }

    /// Waits for room.
    /// - Returns: false when the queue was cancelled or finished: the element was not taken.
    package func push(_ element: Element) -> Bool {
        monitor.lock()
        defer { monitor.unlock() }
        while count == capacity && !isCancelled && !isFinished { monitor.wait(for: .notFull) }
        if isCancelled || isFinished { return false }
        slots[(head + count) % capacity] = element
        count += 1
        monitor.signal(.notEmpty)
        return true
    }

    /// Waits for an element.
    /// - Returns: nil when the queue is finished and drained, or cancelled.
    package func pop() -> Element? {
        monitor.lock()
        defer { monitor.unlock() }
        while count == 0 && !isCancelled && !isFinished { monitor.wait(for: .notEmpty) }
        if count == 0 || isCancelled { return nil }
        let element = slots[head].take()
        head = (head + 1) % capacity
        count -= 1
        monitor.signal(.notFull)
        return element
    }

    /// No more elements are pushed; waiting ones can still be popped.
    package func finish() {
        monitor.lock()
        defer { monitor.unlock() }
        isFinished = true
        monitor.broadcast()
    }

    /// Wakes all threads; waiting elements are dropped.
    package func cancel() {
        monitor.lock()
        defer { monitor.unlock() }
        isCancelled = true
        for index in slots.indices { slots[index] = nil }
        count = 0
        monitor.broadcast()
    }
}
