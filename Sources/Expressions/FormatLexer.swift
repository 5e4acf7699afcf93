/// Cuts a format string into tokens, one at a time.
struct FormatLexer {
    let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() throws(ExpressionSyntaxError) -> FormatToken {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        let start = position
        guard start < bytes.count else { return FormatToken(kind: .end, range: start..<start) }
        let kind = try kind(startingWith: bytes[start])
        return FormatToken(kind: kind, range: start..<position)
    }

    private mutating func kind(startingWith byte: UInt8) throws(ExpressionSyntaxError) -> FormatToken.Kind {
        let start = position
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return .string(try string(quote: byte))
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            return try number()
        case UInt8(ascii: ".") where peek(1).map(Self.isDigit) == true:
            return try number()
        case UInt8(ascii: "$"):
            position += 1
            return .variable(try name(after: "$", at: start))
        case UInt8(ascii: "#"):
            position += 1
            return .name(try selector(after: "#", at: start), isKey: true)
        case UInt8(ascii: "@"):
            position += 1
            return .name("@" + (try name(after: "@", at: start)), isKey: true)
        case UInt8(ascii: "%"):
            throw ExpressionSyntaxError(
                .unsupported, "A “%” needs an argument, and there are none: write the value itself.",
                offset: start)
        case _ where Self.isNameStart(byte):
            return .name(try selector(after: "", at: start), isKey: false)
        default:
            return try symbol()
        }
    }

    // MARK: - Names

    private mutating func name(after prefix: String, at start: Int) throws(ExpressionSyntaxError) -> String {
        guard let first = peek(0), Self.isNameStart(first) else {
            throw ExpressionSyntaxError(
                .unexpected, "Expected a name after “\(prefix)”.", offset: position, expected: "a name")
        }
        let begin = position
        while let byte = peek(0), Self.isNameStart(byte) || Self.isDigit(byte) { position += 1 }
        return String(decoding: bytes[begin..<position], as: UTF8.self)
    }

    /// A name, and the colons and names that make a selector of it (`add:to:`).
    private mutating func selector(after prefix: String, at start: Int) throws(ExpressionSyntaxError) -> String {
        var text = try name(after: prefix, at: start)
        while peek(0) == UInt8(ascii: ":"), peek(1) != UInt8(ascii: "=") {
            position += 1
            text += ":"
            if let byte = peek(0), Self.isNameStart(byte) { text += try name(after: ":", at: start) }
        }
        return text
    }

    // MARK: - Numbers

    private mutating func number() throws(ExpressionSyntaxError) -> FormatToken.Kind {
        let start = position
        let radix: Int? =
            switch (bytes[start], peek(1)) {
            case (UInt8(ascii: "0"), UInt8(ascii: "x")), (UInt8(ascii: "0"), UInt8(ascii: "X")): 16
            case (UInt8(ascii: "0"), UInt8(ascii: "o")), (UInt8(ascii: "0"), UInt8(ascii: "O")): 8
            case (UInt8(ascii: "0"), UInt8(ascii: "b")), (UInt8(ascii: "0"), UInt8(ascii: "B")): 2
            default: nil
            }
        if let radix {
            position += 2
            while let byte = peek(0), Self.isNameStart(byte) || Self.isDigit(byte) { position += 1 }
            let digits = String(decoding: bytes[start + 2..<position], as: UTF8.self)
            guard let value = UInt64(digits, radix: radix) else { throw badNumber(from: start) }
            return .integer(value)
        }
        skipDigits()
        var isReal = false
        if peek(0) == UInt8(ascii: "."), peek(1).map(Self.isDigit) == true {
            isReal = true
            position += 1
            skipDigits()
        }
        if peek(0) == UInt8(ascii: "e") || peek(0) == UInt8(ascii: "E") {
            isReal = true
            position += 1
            if peek(0) == UInt8(ascii: "-") || peek(0) == UInt8(ascii: "+") { position += 1 }
            guard peek(0).map(Self.isDigit) == true else { throw badNumber(from: start) }
            skipDigits()
        }
        if let byte = peek(0), Self.isNameStart(byte) { throw badNumber(from: start) }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if !isReal, let value = UInt64(text) { return .integer(value) }
        // A number too large for an integer becomes a real, as in NSNumber's scanner.
        guard let value = Double(text.first == "." ? "0" + text : text), value.isFinite else {
            throw badNumber(from: start)
        }
        return .real(value)
    }

    private mutating func skipDigits() {
        while let byte = peek(0), Self.isDigit(byte) { position += 1 }
    }

    private func badNumber(from start: Int) -> ExpressionSyntaxError {
        ExpressionSyntaxError(
            .malformedLiteral, "The number can't be read: write it like 12, -1.5, 2e3 or 0xff.", offset: start,
            expected: "a number")
    }

    // MARK: - Symbols

    /// Longest first.
    private static let symbols = [
        "&&", "||", "**", "==", "!=", "<>", "<=", ">=", "=<", "=>", ":=", "=", "<", ">", "!", "+", "-", "*", "/", "(",
        ")", "{", "}", "[", "]", ",", ".",
    ]

    private mutating func symbol() throws(ExpressionSyntaxError) -> FormatToken.Kind {
        for symbol in Self.symbols where bytes[position...].starts(with: symbol.utf8) {
            position += symbol.utf8.count
            return .symbol(symbol)
        }
        throw ExpressionSyntaxError(
            .unexpected, "The character has no meaning here.", offset: position, expected: "an expression")
    }

    // MARK: - Bytes

    func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    mutating func advance(_ count: Int) { position += count }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Every character beyond ASCII counts as a letter: Core Data allows any in a property's name.
    private static func isNameStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            0x80...:
            true
        default: false
        }
    }
}
