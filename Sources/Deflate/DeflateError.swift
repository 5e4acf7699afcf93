/// Why bytes could not be inflated or deflated.
package struct DeflateError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes aren't a DEFLATE stream.
        case corrupt
        /// The stream ends before its last block does.
        case truncated
        /// Bytes follow the end of the stream.
        case trailingBytes
        /// The content is larger than the caller allows, or the input is larger than zlib can take at once.
        case limitExceeded
        /// zlib has no memory, or refused to start.
        case zlib
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String

    package var description: String { message }
}
