/// The rows of one store as a graph: what key paths walk through.
package protocol ObjectGraph: AnyObject {
    var schema: ModelSchema { get }

    /// An attribute's value, a to-one's target (`.object` or `.null`), or a to-many's targets (`.collection` of
    /// `.object`, in the relationship's order, else by key). A composite gives NULL where all its leaves are NULL.
    ///
    /// - Throws: `EvaluationError` where the row isn't there, its entity lacks the property, or it can't be read.
    func value(of property: PropertyHandle, in object: ObjectID) throws(EvaluationError) -> Value

    /// The number of a to-many's targets, without reading them.
    func count(of relationship: PropertyHandle, in object: ObjectID) throws(EvaluationError) -> Int

    /// `x-coredata://<store UUID>/<Entity>/p<key>`.
    func uri(of object: ObjectID) -> String
}

/// Why an expression gives no value for a row.
package struct EvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The operands don't fit the operation (`'a' + 1`), or a number is too large.
        case type
        /// A row or property that isn't there.
        case missing
        /// The store can't be read.
        case reading
        /// A function of the app's own failed.
        case function
    }

    package var code: Code
    /// What is wrong; names entity, property and row, never a value.
    package var message: String
    /// The error of the objects' owner, if reading them failed.
    package var cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The same, with what the expression is for before its message.
    package func placed(_ place: String) -> EvaluationError {
        EvaluationError(code, "\(place): \(message)", cause: cause)
    }

    /// The message includes the cause.
    package static func == (one: Self, other: Self) -> Bool { one.code == other.code && one.message == other.message }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }

    package var description: String { message }
}
