import CausewayModel
import CausewayPlatform
import CausewayStoreFormat

/// Why a store could not be generated.
package struct GenerationError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The output or one of its companion files exists; nothing was touched.
        case outputExists
        /// The file can't be made where it was asked for.
        case cannotCreate
        /// Options that no store can have.
        case badOptions
        /// The model can't be laid out, or has no entity that can have rows.
        case unusableModel
        /// The output could not be written; what was written is removed.
        case writing
        /// The progress closure asked to stop; what was written is removed.
        case cancelled
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String
    /// The file, entity or table that it is about.
    package let place: String?

    package init(_ code: Code, _ message: String, place: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
    }
}

extension GenerationError {
    /// Whatever fails while the store is made.
    static func wrapping<Value: ~Copyable>(
        _ place: String? = nil, _ body: () throws -> Value
    ) throws(GenerationError) -> Value {
        do {
            return try body()
        } catch {
            switch error {
            case let error as GenerationError: throw error
            case let error as FileError: throw GenerationError(.writing, "\(error)", place: error.path)
            case let error as ModelError: throw GenerationError(.unusableModel, "\(error)")
            case let error as StoreFormatError:
                throw GenerationError(
                    error.code == .unusableModel ? .unusableModel : .writing, error.message, place: error.place)
            default: throw GenerationError(.writing, "\(error)", place: place)
            }
        }
    }
}

extension GenerationError: CustomStringConvertible {
    package var description: String {
        if let place { "\(place): \(message)" } else { message }
    }
}
