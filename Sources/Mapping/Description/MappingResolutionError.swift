/// Why a mapping model can't be used between two models: every mistake at once.
package struct MappingResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// An entity that its model doesn't have.
        case unknownEntity
        /// A property that its entity doesn't have, or that is of the other kind.
        case unknownProperty
        /// The entity isn't the one that the mapping model was compiled for.
        case differentHash
        /// An entity mapping that another one names is missing.
        case unknownMapping
        /// A kind that its entities contradict, or a duplicate name.
        case contradiction
        /// A text or a form that can't be understood.
        case malformed
    }

    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        package var code: Code
        package var mapping: String
        package var property: String?
        /// What is wrong and what to do.
        package var message: String

        package var description: String { property.map { "\(mapping).\($0): \(message)" } ?? "\(mapping): \(message)" }
    }

    /// The mapping model's name.
    package var name: String
    package var path: String?
    /// In the mapping model's order.
    package var problems: [Problem]

    package var description: String {
        let head = "The mapping model “\(name)” can't be used between these two models\(path.map { " (\($0))" } ?? ""):"
        return ([head] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
