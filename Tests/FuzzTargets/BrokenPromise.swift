/// A reader accepted bytes and broke a promise about them.
package struct BrokenPromise: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    /// - Throws: itself with the promise, where that doesn't hold.
    static func unless(_ holds: Bool, _ promise: @autoclosure () -> String) throws(BrokenPromise) {
        if !holds { throw BrokenPromise(promise()) }
    }

    /// Bytes of one refusal's message. A longer one is hard to read, and grows with hostile input.
    private static let maximumMessageLength = 1 << 20

    /// What a reader returns; nil where it refuses with a message of bounded length.
    static func unlessRefused<Value, Failure: Error>(
        _ read: () throws(Failure) -> Value
    ) throws(BrokenPromise) -> Value? {
        let message: String
        do throws(Failure) {
            return try read()
        } catch {
            message = "\(error)"
        }
        try unless(!message.isEmpty, "a refusal without a message")
        try unless(message.utf8.count <= maximumMessageLength, "a refusal of \(message.utf8.count) bytes of message")
        return nil
    }

    /// The result of a call that must not fail.
    static func unlessDone<Value, Failure: Error>(
        _ promise: String, _ body: () throws(Failure) -> Value
    ) throws(BrokenPromise) -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw BrokenPromise("\(promise): \(error)")
        }
    }
}
