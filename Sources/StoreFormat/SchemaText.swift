/// The text of an object in the schema table, looked at as SQLite's tokenizer would.
enum SchemaText {
    /// Whether nothing follows the first statement but spaces and comments.
    ///
    /// A trigger's statement ends with the `END` that follows a semicolon; in its body semicolons separate.
    static func isOneStatement(_ sql: String, isTrigger: Bool) -> Bool {
        var tokens = SchemaTokens(sql)
        var afterSemicolon = false
        while let token = tokens.next() {
            if isTrigger {
                if afterSemicolon, token == .word("END") { return onlySemicolons(&tokens) }
                afterSemicolon = token == .semicolon
            } else if token == .semicolon {
                return onlySemicolons(&tokens)
            }
        }
        // A trigger without END is none, and SQLite has refused it.
        return true
    }

    private static func onlySemicolons(_ tokens: inout SchemaTokens) -> Bool {
        while let token = tokens.next() {
            if token != .semicolon { return false }
        }
        return true
    }
}

/// Words, semicolons and the rest; spaces and comments are skipped, what is quoted is one token.
private struct SchemaTokens {
    enum Token: Equatable {
        /// Upper case.
        case word(String)
        case semicolon
        case other
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ sql: String) {
        bytes = Array(sql.utf8)
    }

    private func byte(at position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func next() -> Token? {
        skipSpace()
        guard let first = byte(at: position) else { return nil }
        switch first {
        case UInt8(ascii: ";"):
            position += 1
            return .semicolon
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            skipQuoted(until: first, isDoubled: true)
            return .other
        case UInt8(ascii: "["):
            skipQuoted(until: UInt8(ascii: "]"), isDoubled: false)
            return .other
        default:
            guard Self.isWord(first) else {
                position += 1
                return .other
            }
            let start = position
            while let next = byte(at: position), Self.isWord(next) { position += 1 }
            return .word(String(decoding: bytes[start..<position], as: UTF8.self).uppercased())
        }
    }

    private mutating func skipSpace() {
        while let first = byte(at: position) {
            let second = byte(at: position + 1)
            if [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(first) {
                position += 1
            } else if first == UInt8(ascii: "-"), second == UInt8(ascii: "-") {
                while let next = byte(at: position), next != 0x0A { position += 1 }
            } else if first == UInt8(ascii: "/"), second == UInt8(ascii: "*") {
                position += 2
                while position < bytes.count {
                    if bytes[position] == UInt8(ascii: "*"), byte(at: position + 1) == UInt8(ascii: "/") {
                        position += 2
                        break
                    }
                    position += 1
                }
            } else {
                return
            }
        }
    }

    private mutating func skipQuoted(until end: UInt8, isDoubled: Bool) {
        position += 1
        while let next = byte(at: position) {
            position += 1
            guard next == end else { continue }
            guard isDoubled, byte(at: position) == end else { return }
            position += 1
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
            true
        default: false
        }
    }
}
