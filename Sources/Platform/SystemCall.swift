#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Calls of the C library with its error number made a typed error.
enum SystemCall {
    /// Runs a call that gives -1 on failure, again when a signal interrupted it.
    static func run<Result: SignedInteger>(
        _ operation: String, _ path: String, _ call: () -> Result
    ) throws(FileError) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let number = errno
            if number != EINTR { throw FileError(operation, path, errorNumber: number) }
        }
    }

    /// C would end the path at a NUL and use another file.
    static func check(_ operation: String, _ path: String) throws(FileError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw FileError(
                code: .badName, operation: operation, path: path, message: "a path can't be empty or hold a NUL")
        }
    }
}
