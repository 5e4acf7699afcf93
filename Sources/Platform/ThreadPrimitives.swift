#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A mutex with two conditions, at fixed addresses as POSIX asks for.
///
/// Sendable: every member is made for use by several threads, and the pointers never change.
@safe
final class Monitor: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let conditions: UnsafeMutablePointer<pthread_cond_t>

    /// What is waited for: an index of `conditions`.
    enum Condition: Int {
        case notFull = 0
        case notEmpty = 1
    }

    private static let conditionCount = 2

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe conditions = .allocate(capacity: Self.conditionCount)
        unsafe conditions.initialize(repeating: pthread_cond_t(), count: Self.conditionCount)
        Self.expectSuccess(unsafe pthread_mutex_init(mutex, nil))
        for index in 0..<Self.conditionCount {
            Self.expectSuccess(unsafe pthread_cond_init(conditions + index, nil))
        }
    }

    deinit {
        for index in 0..<Self.conditionCount { _ = unsafe pthread_cond_destroy(conditions + index) }
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe conditions.deallocate()
        unsafe mutex.deallocate()
    }

    func lock() { Self.expectSuccess(unsafe pthread_mutex_lock(mutex)) }
    func unlock() { Self.expectSuccess(unsafe pthread_mutex_unlock(mutex)) }

    /// Only while locked; returns locked, perhaps without a signal.
    func wait(for condition: Condition) {
        Self.expectSuccess(unsafe pthread_cond_wait(conditions + condition.rawValue, mutex))
    }

    func signal(_ condition: Condition) {
        Self.expectSuccess(unsafe pthread_cond_signal(conditions + condition.rawValue))
    }

    func broadcast() {
        for index in 0..<Self.conditionCount {
            Self.expectSuccess(unsafe pthread_cond_broadcast(conditions + index))
        }
    }

    /// These calls fail for misuse only; continuing without a lock would corrupt rows.
    private static func expectSuccess(_ result: Int32) {
        precondition(result == 0, "a thread primitive was misused")
    }
}
