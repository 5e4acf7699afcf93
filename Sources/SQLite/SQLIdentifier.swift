/// The name of a table, column or index, quoted for SQL: the only way to put a name into a statement.
///
/// `"` is doubled, so that any name stays one token whatever it holds.
package struct SQLIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// Bytes. SQLite knows no limit; the longest name that a Core Data model gives is far below. Without a limit, a
    /// hostile schema could make statements of any size.
    package static let maximumLength = 1_024

    /// The name as it is, unquoted.
    package let name: String

    /// - Throws: `SQLiteError` with `.misuse` when the name is empty, holds a NUL or is over `maximumLength`.
    package init(_ name: String) throws(SQLiteError) {
        if name.isEmpty {
            throw SQLiteError(code: .misuse, message: "a name in SQL can't be empty; check the store's schema")
        }
        if name.utf8.contains(0) {
            throw SQLiteError(
                code: .misuse, message: "the name “\(name)” holds a NUL, which SQL can't carry; rename it")
        }
        if name.utf8.count > Self.maximumLength {
            throw SQLiteError(
                code: .misuse,
                message: "a name of \(name.utf8.count) bytes is over the limit of \(Self.maximumLength): "
                    + "“\(String(name.prefix(60)))…”; shorten it")
        }
        self.name = name
    }

    /// The name between double quotes, ready for SQL.
    package var quoted: String {
        guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"" + name + "\"" }
        var text = "\""
        for character in name.unicodeScalars {
            if character == "\"" { text.unicodeScalars.append("\"") }
            text.unicodeScalars.append(character)
        }
        return text + "\""
    }

    /// Same as `quoted`, so that an identifier may be interpolated.
    package var description: String { quoted }
}

extension UInt8 {
    /// Whether it is one of ASCII.
    package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
