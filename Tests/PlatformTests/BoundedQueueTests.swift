import CausewayPlatform
import Synchronization
import Testing

/// A count that several threads share.
private final class Tally: Sendable {
    private let values = Mutex<[Int]>([])

    func add(_ value: Int) { values.withLock { $0.append(value) } }
    var all: [Int] { values.withLock { $0 } }
}

@Suite("The bounded queue", .timeLimit(.minutes(60))) struct BoundedQueueTests {
    @Test("gives one consumer what one producer pushed, in order", arguments: [1, 2, 7])
    func order(capacity: Int) throws {
        let queue = BoundedQueue<Int>(capacity: capacity)
        let producer = try WorkerThread(name: "producer") {
            for value in 0..<1_000 where !queue.push(value) { return }
            queue.finish()
        }
        var received: [Int] = []
        while let value = queue.pop() { received.append(value) }
        producer.join()
        #expect(received == Array(0..<1_000))
        #expect(queue.pop() == nil)
    }

    @Test("loses and doubles nothing between several threads on both sides")
    func manyThreads() throws {
        let queue = BoundedQueue<Int>(capacity: 3)
        let tally = Tally()
        let consumers = try (0..<4).map { index in
            try WorkerThread(name: "consumer \(index)") { while let value = queue.pop() { tally.add(value) } }
        }
        let producers = try (0..<4).map { index in
            try WorkerThread(name: "producer \(index)") {
                for value in 0..<2_000 where !queue.push(index * 2_000 + value) { return }
            }
        }
        for producer in producers { producer.join() }
        queue.finish()
        for consumer in consumers { consumer.join() }
        #expect(tally.all.sorted() == Array(0..<8_000))
    }

    @Test("gives the waiting elements after it is finished, and takes no more")
    func finishDrains() {
        let queue = BoundedQueue<Int>(capacity: 4)
        #expect(queue.push(1))
        #expect(queue.push(2))
        queue.finish()
        #expect(!queue.push(3))
        #expect(queue.pop() == 1)
        #expect(queue.pop() == 2)
        #expect(queue.pop() == nil)
    }

    @Test("a cancellation wakes a thread that waits to push and one that waits to pop")
    func cancelWakes() throws {
        let full = BoundedQueue<Int>(capacity: 1)
        let empty = BoundedQueue<Int>(capacity: 1)
        #expect(full.push(1))
        let tally = Tally()
        let pusher = try WorkerThread(name: "pusher") { tally.add(full.push(2) ? 1 : 0) }
        let popper = try WorkerThread(name: "popper") { tally.add(empty.pop() == nil ? 0 : 1) }
        full.cancel()
        empty.cancel()
        pusher.join()
        popper.join()
        #expect(tally.all == [0, 0])
        #expect(full.pop() == nil)
        #expect(!empty.push(1))
    }

    @Test("a cancellation releases the waiting elements")
    func cancelReleases() {
        final class Element: Sendable {}
        weak var waiting: Element?
        let queue = BoundedQueue<Element>(capacity: 2)
        do {
            let element = Element()
            waiting = element
            #expect(queue.push(element))
        }
        #expect(waiting != nil)
        queue.cancel()
        #expect(waiting == nil)
    }

    @Test("the queue doesn't keep a popped element")
    func popReleases() {
        final class Element: Sendable {}
        weak var popped: Element?
        let queue = BoundedQueue<Element>(capacity: 2)
        do {
            let element = Element()
            popped = element
            #expect(queue.push(element))
            _ = queue.pop()
        }
        #expect(popped == nil)
    }
}
