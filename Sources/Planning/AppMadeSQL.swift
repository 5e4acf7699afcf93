/// What an app's own index or table computes for each row, by its text.
///
/// A store from somebody else may hold an index on `length(hex(zeroblob(450000000)))`: carrying it would compute that for
/// every row. Functions whose result is no longer than what they are given cost what reading the row costs; no others are
/// carried.
package enum AppMadeSQL {
    /// Functions of SQLite's whose result is no larger than their arguments, or a few bytes.
    private static let bounded: Set<String> = [
        "abs", "cast", "ceil", "ceiling", "coalesce", "date", "datetime", "floor", "ifnull", "iif", "instr",
        "julianday", "length", "likelihood", "likely", "lower", "ltrim", "max", "min", "mod", "nullif", "round",
        "rtrim", "sign", "strftime", "substr", "substring", "time", "trim", "trunc", "typeof", "unicode", "unixepoch",
        "unlikely", "upper",
    ]
    /// Words of the language that a parenthesis follows, and type names with a length.
    private static let words: Set<String> = [
        "and", "as", "between", "bigint", "binary", "blob", "by", "case", "char", "character", "check", "clob",
        "collate", "columns", "decimal", "default", "distinct", "double", "else", "exists", "float", "from", "glob",
        "in", "int", "integer", "is", "isnull", "key", "like", "nchar", "not", "null", "numeric", "nvarchar", "on",
        "or", "real", "select", "table", "text", "then", "timestamp", "unique", "values", "varbinary", "varchar",
        "varying", "when",
        "where",
    ]
    /// What follows these is a name, whatever it is called.
    private static let beforeNames: Set<String> = ["index", "on", "references", "table", "exists"]

    /// - Parameter sql: a statement that makes an index or a table.
    /// - Returns: the first function in it that could compute without bound; nil where there is none.
    package static func unboundedFunction(in sql: String) -> String? {
        var scanner = Scanner(Array(sql.utf8))
        var previous: [UInt8] = []
        var word: [UInt8] = []
        while let token = scanner.next() {
            switch token {
            case .word(let name): (previous, word) = (word, name)
            // Of a qualified name the last part counts, and what stands before the first.
            case .dot: word = previous
            case .open:
                let name = String(decoding: word, as: UTF8.self).lowercased()
                let before = String(decoding: previous, as: UTF8.self).lowercased()
                let isKnown = name.isEmpty || bounded.contains(name) || words.contains(name)
                if !isKnown, !beforeNames.contains(before) { return name }
                (previous, word) = ([], [])
            case .other: (previous, word) = ([], [])
            }
        }
        return nil
    }

    private enum Token {
        case word([UInt8])
        case open, dot, other
    }

    /// Words and parentheses; texts and comments are passed over.
    private struct Scanner {
        let bytes: [UInt8]
        var place = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func next() -> Token? {
            skipSpace()
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "("):
                place += 1
                return .open
            case UInt8(ascii: "."):
                place += 1
                return .dot
            case UInt8(ascii: "'"):
                _ = quoted(until: byte)
                return .other
            case UInt8(ascii: "\""), UInt8(ascii: "`"): return .word(quoted(until: byte))
            case UInt8(ascii: "["): return .word(quoted(until: UInt8(ascii: "]")))
            default: break
            }
            let start = place
            while place < bytes.count, Self.isPartOfWord(bytes[place]) { place += 1 }
            if place > start { return .word(Array(bytes[start..<place])) }
            place += 1
            return .other
        }

        private static func isPartOfWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
            default: false
            }
        }

        private mutating func skipSpace() {
            while place < bytes.count {
                let byte = bytes[place]
                if byte == 0x20 || (0x09...0x0D).contains(byte) {
                    place += 1
                } else if starts("--") {
                    while place < bytes.count, bytes[place] != 0x0A { place += 1 }
                } else if starts("/*") {
                    place += 2
                    while place < bytes.count, !starts("*/") { place += 1 }
                    place = min(bytes.count, place + 2)
                } else {
                    return
                }
            }
        }

        private func starts(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

        /// A quoted name or text; its quote twice is the quote itself.
        private mutating func quoted(until quote: UInt8) -> [UInt8] {
            place += 1
            var content: [UInt8] = []
            while place < bytes.count {
                if bytes[place] == quote {
                    place += 1
                    guard place < bytes.count, bytes[place] == quote, quote != UInt8(ascii: "]") else { break }
                }
                content.append(bytes[place])
                place += 1
            }
            return content
        }
    }
}
