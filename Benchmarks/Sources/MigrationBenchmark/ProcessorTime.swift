import Foundation

/// What this process has had of the processors.
enum ProcessorTime {
    /// Of all threads together, which may be more than the time that has passed; 0 where the system doesn't count it.
    static func seconds() -> Double {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
