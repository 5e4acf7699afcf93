#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A call to the file system that failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case notFound
        case permissionDenied
        /// The disk, the quota or the largest size of a file is used up.
        case noSpace
        case readOnly
        case exists
        case crossDevice
        case notADirectory
        case isADirectory
        case notEmpty
        case tooManyLinks
        case tooManyOpenFiles
        /// A symbolic link that isn't followed, or a loop of them.
        case symbolicLink
        /// Another process holds the lock.
        case busy
        /// Over the limit that the caller gave.
        case tooLarge
        /// A path or name that can't be used: empty, with a NUL, or not UTF-8.
        case badName
        /// The device or the file system failed: what was written must not be relied on.
        case io
        case other

        /// Whether the device, its room or the system failed; else path, permissions or what is there are the reason.
        package var isOfTheDevice: Bool {
            switch self {
            case .noSpace, .tooManyOpenFiles, .tooManyLinks, .busy, .io, .other: true
            default: false
            }
        }
    }

    package let code: Code
    /// The operation: `open`, `sync`, `rename`.
    package let operation: String
    /// As it was given: whoever shows it escapes what a terminal would obey.
    package let path: String
    /// What went wrong and what to do.
    package let message: String
    /// What went wrong.
    package let reason: String
    /// The system's number; 0 when this layer refused by itself.
    package let errorNumber: Int32

    package init(code: Code, operation: String, path: String, message: String, errorNumber: Int32 = 0) {
        self.code = code
        self.operation = operation
        self.path = path
        self.message = message
        reason = message
        self.errorNumber = errorNumber
    }

    /// A call that the system refused.
    init(_ operation: String, _ path: String, errorNumber: Int32) {
        code = Self.code(of: errorNumber)
        self.operation = operation
        self.path = path
        self.errorNumber = errorNumber
        reason = unsafe String(cString: strerror(errorNumber))
        message = reason + (Self.remedy(for: code).map { "; \($0)" } ?? "")
    }

    /// Whether the device or a lack of resources made the call fail, not the path or its permissions.
    package var isOfSystem: Bool {
        switch code {
        case .io, .noSpace, .tooManyOpenFiles: true
        case .other: errorNumber == ENOMEM
        default: false
        }
    }

    /// No file can have so long a name.
    var isOfLongName: Bool { errorNumber == ENAMETOOLONG }

    package var description: String {
        "can't \(operation) \(path): \(message)"
    }
}

extension FileError {
    private static func code(of errorNumber: Int32) -> Code {
        switch errorNumber {
        case ENOENT: .notFound
        case EACCES, EPERM: .permissionDenied
        case ENOSPC, EDQUOT, EFBIG: .noSpace
        case EROFS: .readOnly
        case EEXIST: .exists
        case EXDEV: .crossDevice
        case ENOTDIR: .notADirectory
        case EISDIR: .isADirectory
        case ENOTEMPTY: .notEmpty
        case EMLINK: .tooManyLinks
        case EMFILE, ENFILE: .tooManyOpenFiles
        case ELOOP: .symbolicLink
        case EWOULDBLOCK, EBUSY, ETXTBSY: .busy
        case ENAMETOOLONG, EILSEQ: .badName
        case EIO, ENXIO, ENODEV: .io
        default: .other
        }
    }

    private static func remedy(for code: Code) -> String? {
        switch code {
        case .notFound: "check the path"
        case .permissionDenied: "check the permissions of the file and of its folder"
        case .noSpace: "make space on the disk and run again"
        case .readOnly: "choose a place that can be written"
        case .exists: "move the existing file away or choose another name"
        case .crossDevice: "both places must be on one file system"
        case .notADirectory, .isADirectory: "a file is where a folder is expected, or the reverse: check the path"
        case .notEmpty: "the folder holds files that Causeway doesn't know: look at them first"
        case .tooManyLinks: "the file has as many hard links as the file system allows: remove one"
        case .tooManyOpenFiles: "raise the limit of open files (ulimit -n) and run again"
        case .symbolicLink: "symbolic links aren't followed here: give the path of the file itself"
        case .busy: "another process uses it: wait for it or end it, then run again"
        case .tooLarge: "the file is larger than expected: check that it is the right one"
        case .badName: "rename it"
        case .io: "check the disk before you continue"
        case .other: nil
        }
    }
}

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

    /// Runs a call with a path of the caller's.
    static func named<Result: SignedInteger>(
        _ operation: String, _ path: String, _ call: () -> Result
    ) throws(FileError) -> Result {
        try check(operation, path)
        return try run(operation, path, call)
    }

    /// Runs a call that removes a name; returns false when there was none.
    static func removing(_ operation: String, _ path: String, _ call: () -> Int32) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try named(operation, path, call)
            return true
        } catch {
            if error.code == .notFound { return false }
            throw error
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
