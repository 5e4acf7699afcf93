import CausewayPlatform

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Standard output or error, written to at once and without buffers of its own.
struct StandardStream {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    /// Writes text and a line feed. Control characters are escaped: names from a store must not steer the terminal.
    @discardableResult
    func writeLine(_ text: String) -> WriteOutcome {
        write(Paint.painted(text.printable, for: descriptor) + "\n")
    }

    /// Writes a line unless that would have to wait for a reader.
    func writeLineIfReady(_ text: String) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1 else { return }
        writeLine(text)
    }

    /// Writes text as it is.
    @discardableResult
    func write(_ text: String) -> WriteOutcome {
        var text = text
        let descriptor = descriptor
        return text.withUTF8 { bytes in
            var offset = 0
            while offset < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[offset...])
                #if canImport(Darwin)
                    let count = unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
                #else
                    let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                #endif
                if count < 0 {
                    let number = errno
                    if number == EINTR { continue }
                    return number == EPIPE ? .readerGone : .failed(number)
                }
                offset += count
            }
            return .written
        }
    }
}

/// The system's words for an error number.
func systemMessage(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
}

/// How writing a text ended. A migration continues without its readers; a command that prints a result must check it.
enum WriteOutcome: Hashable {
    case written
    /// The reader has closed the pipe, as `head` does: not a failure.
    case readerGone
    /// With the system's error number.
    case failed(Int32)
}

/// Standard streams that the caller has closed lead nowhere from now on: the next file that is opened would get their
/// number, and what is printed. Writing to one is an error, as before.
func openMissingStreams() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
        // The lowest free number is the missing one.
        _ = unsafe open("/dev/null", O_RDONLY)
    }
}
