package import CausewayPlist

/// Why an archived expression, predicate or constant could not be read or written.
package struct ExpressionArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// A class that the language doesn't have; the message names it.
        case unknownClass
        /// The class is known, but its fields contradict it.
        case malformed
        /// Understood, but it can't be a value of this language: a block, an assignment, an app's own object.
        case unsupported
        /// One of `ExpressionLimits` is exceeded.
        case limitExceeded
        /// The archive itself is wrong; `PropertyListError` says how.
        case archive(PropertyListError.Code)
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String
    /// The object in the archive, for example `object 17 (NSFunctionExpression)`; nil when writing.
    package let place: String?

    package init(_ code: Code, _ message: String, at place: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
    }

    init(_ error: PropertyListError) {
        self.init(.archive(error.code), error.message, at: error.place)
    }

    /// Without a full stop, so that a sentence can end with it.
    package var description: String {
        let clause = message.hasSuffix(".") ? String(message.dropLast()) : message
        return place.map { "\(clause) (\($0))" } ?? clause
    }
}
