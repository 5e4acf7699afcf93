/// Why a mapping model's file could not be read or written.
package struct MappingFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The file or folder can't be opened.
        case unreadable
        /// One of `MappingFileLimits` is exceeded.
        case limitExceeded
        /// Neither an `.xcmappingmodel` nor a `.cdm`.
        case notAMappingModel
        /// The bytes contradict their format: XML, property list, archive.
        case damaged
        /// Well formed, but with something that can't be read or written here.
        case unsupported
        /// A `.cdm` holds no defaults: the mapping model must be resolved before it's written as one.
        case unresolved
    }

    package var code: Code
    /// What went wrong and what to do about it.
    package var message: String
    /// The file or folder; nil for bytes that came from elsewhere.
    package var path: String?
    /// The entity mapping's name.
    package var mapping: String?
    /// The destination property's name.
    package var property: String?

    package init(
        _ code: Code, _ message: String, path: String? = nil, mapping: String? = nil, property: String? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.mapping = mapping
        self.property = property
    }

    /// The same error with a place that the thrower didn't know.
    package func at(path: String? = nil, mapping: String? = nil, property: String? = nil) -> MappingFileError {
        var error = self
        error.path = error.path ?? path
        error.mapping = error.mapping ?? mapping
        error.property = error.property ?? property
        return error
    }

    package var description: String {
        let place = [mapping, property].compactMap { $0 }.joined(separator: ".")
        let head = place.isEmpty ? message : "\(place): \(message)"
        return path.map { "\(head) (\($0))" } ?? head
    }
}

/// Bounds on foreign mapping models. A file beyond them is refused, never truncated.
package enum MappingFileLimits {
    /// Bytes of one file. The largest known (WooCommerce's from 111 to 112) has 11.3 MB, most of it Xcode's copies of
    /// the two models.
    package static let fileSize = 64 * 1024 * 1024
    /// Entity mappings of a mapping model; the largest known has 16.
    package static let entityMappings = 10_000
    /// Property mappings of a mapping model; the largest known has 300. Archives can share lists, which multiplies.
    package static let propertyMappings = 200_000
    /// Parts of all expressions of a mapping model; real ones have some thousands. Archives can share parts, so a small
    /// file can expand into `ExpressionLimits.archivedNodes` parts for each of its expressions.
    package static let expressionParts = 500_000

    static func check(_ count: Int, _ most: Int, _ what: String) throws(MappingFileError) {
        guard count <= most else { throw MappingFileError(.limitExceeded, "It has more than \(most) \(what).") }
    }
}
