/// A record that breaks the file format: the store is damaged there.
@usableFromInline package struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
    @usableFromInline package enum Code: Hashable, Sendable {
        /// The header's length is not inside the record, or its last serial type goes over it.
        case badHeader
        /// A serial type that the format reserves, or of a value over SQLite's largest.
        case badSerialType
        /// The cells don't fill the body exactly.
        case badBody
        /// More cells than the caller has room for: more than the table has columns.
        case tooManyCells
        /// The record is over SQLite's limit of 2³¹−1 bytes.
        case tooLong
    }

    package let code: Code
    /// Byte in the record.
    package let offset: Int

    @inline(never) @usableFromInline package init(code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }

    package var message: String {
        let reason =
            switch code {
            case .badHeader: "a record's header is cut or goes over its end"
            case .badSerialType: "a record has a cell of a type that SQLite does not define"
            case .badBody: "a record's cells do not fill its body exactly"
            case .tooManyCells: "a record has more cells than its table has columns"
            case .tooLong: "a record \(ErrorText.tooLong)"
            }
        return "\(reason); the store is damaged there: \(ErrorText.repair)"
    }

    @usableFromInline package var description: String { "\(message) (byte \(offset) of the record)" }
}
