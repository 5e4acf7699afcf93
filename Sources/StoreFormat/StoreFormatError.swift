package import CausewaySQLite

/// Why a store's tables, metadata or history can't be computed, read or matched.
package struct StoreFormatError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// The model can't be laid out: an unsafe name, a dangling reference, two entities of one table name.
        case unusableModel
        /// The database isn't a Core Data store: a house table is missing or has another shape.
        case notACoreDataStore
        /// Z_METADATA has unexpected content.
        case unusableMetadata
        /// The store's tables don't belong to the model.
        case modelMismatch
        /// The schema has something unsupported in place of a table (view, generated column).
        case unsupportedSchema
        /// More objects, columns or bytes than this reader's limits.
        case limitExceeded
        /// SQLite failed; the message carries its text.
        case database
    }

    package let code: Code
    /// What is wrong and what to do about it.
    package let message: String
    /// The entity, table or metadata key; nil if it is about the whole store.
    package let place: String?
    /// SQLite's error, if it failed: a full disk or a lack of memory says nothing about the store.
    package let cause: SQLiteError?

    package init(_ code: Code, _ message: String, place: String? = nil, cause: SQLiteError? = nil) {
        self.code = code
        self.message = message
        self.place = place
        self.cause = cause
    }
}

extension StoreFormatError: CustomStringConvertible {
    package var description: String {
        if let place { "\(place): \(message)" } else { message }
    }
}
