package import CausewaySQLite

/// Why an object can't be read, changed or found.
///
/// The message names entity, property and row; it never holds a value.
public struct ObjectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. New kinds may come: treat an unknown one as a failure.
    public struct Code: Hashable, Sendable {
        private enum Kind: Hashable {
            case unknownProperty, unknownEntity, type, missing, store, detached, denied, exhausted
        }
        private let kind: Kind

        /// The entity has no property of that name.
        public static let unknownProperty = Code(kind: .unknownProperty)
        /// The model has no entity of that name, or it is abstract.
        public static let unknownEntity = Code(kind: .unknownEntity)
        /// The value doesn't fit the property's type, or the object isn't of the relationship's destination.
        public static let type = Code(kind: .type)
        /// The object isn't there (any more).
        public static let missing = Code(kind: .missing)
        /// The store can't be read or written.
        public static let store = Code(kind: .store)
        /// What an independent policy may not do: it sees the objects of its own row only.
        public static let detached = Code(kind: .detached)
        /// A delete rule denies it.
        public static let denied = Code(kind: .denied)
        /// No key is left for a new object.
        public static let exhausted = Code(kind: .exhausted)
    }

    /// What kind of failure it is.
    public let code: Code
    /// What went wrong and what to do about it.
    public let message: String
    /// SQLite's error, if it failed.
    package let cause: SQLiteError?

    package init(_ code: Code, _ message: String, cause: SQLiteError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }
}
