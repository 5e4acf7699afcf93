/// Why a property list or a keyed archive could not be read or written.
package struct PropertyListError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes aren't a binary property list of version 00.
        case notBinaryPropertyList
        /// The property list isn't an `NSKeyedArchiver` archive of version 100000.
        case notKeyedArchive
        /// The bytes contradict the format: an offset, a count, a reference or a text can't be right.
        case malformed
        /// Well formed, but of a kind that this reader doesn't know.
        case unsupported
        /// One of `PropertyListLimits` is exceeded.
        case limitExceeded
        /// A value contains itself, so that it can't be expanded into a tree.
        case cycle
        /// The value is there, but of another type than the caller asked for.
        case typeMismatch
        /// The archive being written has a reserved object that was never filled, or a foreign reference.
        case incomplete
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String
    /// Where in the bytes or in the archive, for example `byte 233` or `object 17 (NSEntityDescription)`.
    package let place: String?

    package init(_ code: Code, _ message: String, at place: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
    }

    /// Without a full stop, so that a sentence can end with it.
    package var description: String {
        let clause = message.hasSuffix(".") ? String(message.dropLast()) : message
        return place.map { "\(clause) (\($0))" } ?? clause
    }
}
