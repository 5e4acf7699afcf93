/// Why a model could not be read or written.
///
/// An inconsistent model has all its problems listed, so that the user can fix them at once.
package struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The file or folder can't be opened, or isn't where the bundle says.
        case unreadable
        /// Larger than `ModelLimits` allow.
        case limitExceeded
        /// Not a model: neither source, nor a compiled model, nor a bundle of either.
        case notAModel
        /// A model in a form that isn't read here; the message names the alternative.
        case unsupportedFormat
        /// The bytes contradict their format: XML, property list, archive or compressed stream.
        case damaged
        /// The store has no cached model.
        case emptyCache
        /// The model has dangling names, or contradicts itself; see `problems`.
        case inconsistent
    }

    /// One contradiction inside a model.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        package let entity: String?
        package let property: String?
        /// The line of the source file, from 1; nil for compiled models.
        package let line: Int?
        package let message: String

        package init(_ message: String, entity: String? = nil, property: String? = nil, line: Int? = nil) {
            self.message = message
            self.entity = entity
            self.property = property
            self.line = line == 0 ? nil : line
        }

        package var description: String {
            let place = [entity, property].compactMap { $0 }.joined(separator: ".")
            let head = line.map { "line \($0)" + (place.isEmpty ? "" : ", ") } ?? ""
            return head.isEmpty && place.isEmpty ? message : "\(head)\(place): \(message)"
        }
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String
    /// The file or folder; nil for bytes that came from elsewhere.
    package let path: String?
    /// Only for `inconsistent`; in the order of the source.
    package let problems: [Problem]

    package init(_ code: Code, _ message: String, path: String? = nil, problems: [Problem] = []) {
        self.code = code
        self.message = message
        self.path = path
        self.problems = problems
    }

    /// The same error for a file that the thrower didn't know.
    func at(_ path: String?) -> ModelError {
        ModelError(code, message, path: self.path ?? path, problems: problems)
    }

    package var description: String {
        let head = path.map { "\(message) (\($0))" } ?? message
        return ([head] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

/// Bounds on foreign models. A model beyond them is refused, never truncated.
package enum ModelLimits {
    /// Bytes of one model file, and of an inflated model cache. The largest known cache (Photos) has 0.3 MB.
    package static let fileSize = 64 * 1024 * 1024
    /// Entries of a bundle's folder; the longest known history has 90 versions.
    package static let folderEntries = 10_000
    /// Entities of a model; Photos has 70. Core Data itself has numbers for 16,000, but comparing every entity with all
    /// others takes quadratic time; with 2,000 they take seconds.
    package static let entities = 2_000
    /// Levels of inheritance, the root included; deeper than 8 was never seen. Inherited properties are walked and
    /// numbered once for each level below.
    package static let inheritanceDepth = 100
    /// Entities of a hierarchy times columns of its table, over all hierarchies. A migration keeps sums of each such
    /// pair, and a checkpoint takes 64 MiB of them.
    package static let entityColumns = 1_600_000
    /// Columns of a table; SQLite's limit.
    package static let tableColumns = 2_000
    /// Levels of composite attributes inside each other; Xcode allows few, none deeper than 2 was seen.
    package static let compositeDepth = 16
    /// Leaf elements of all composite attributes of a model: a composite type may name others, which multiplies.
    package static let compositeElements = 100_000
}
