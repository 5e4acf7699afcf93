/// Why a checkpoint, a segment or a record can't be read or written.
package struct CheckpointError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes are something else, not a container or a record.
        case notAContainer
        /// The bytes are shorter than declared.
        case truncated
        /// A hash, a length or a checksum differs from what was written.
        case damaged
        /// Intact, but in a format that this release doesn't know.
        case foreignFormat
        /// Intact, but of another plan, or of another run of the same plan.
        case foreignPlan
        /// Intact, but of another source store.
        case foreignSource
        /// Larger or deeper than a named limit allows.
        case tooLarge
        /// A value breaks the rules of its coding.
        case malformed
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
