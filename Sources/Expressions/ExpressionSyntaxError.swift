/// Why a format string isn't an expression or a predicate.
package struct ExpressionSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Something else is expected there.
        case unexpected
        /// A literal that begins well and can't be read: an open string, a bad escape, a bad number.
        case malformedLiteral
        /// Understood, but not supported: arguments (`%@`), assignments, `TOKENMATCHES`.
        case unsupported
        /// One of `ExpressionLimits` is exceeded.
        case limitExceeded
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String
    /// UTF-8 bytes before the place, so 0 is the first column.
    package let offset: Int
    /// What is expected there, in a few words (`an expression`); empty if that doesn't apply.
    package let expected: String

    package init(_ code: Code, _ message: String, offset: Int, expected: String = "") {
        self.code = code
        self.message = message
        self.offset = offset
        self.expected = expected
    }

    /// Without a full stop, so that a sentence can end with it.
    package var description: String {
        "\(message.hasSuffix(".") ? String(message.dropLast()) : message) (column \(offset + 1))"
    }
}
