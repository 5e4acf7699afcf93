// String literals and their escapes.

extension FormatLexer {
    /// Reads from the opening quote to the closing one.
    mutating func string(quote: UInt8) throws(ExpressionSyntaxError) -> String {
        let start = position
        advance(1)
        var text: [UInt8] = []
        while let byte = peek(0) {
            if byte == quote {
                advance(1)
                return String(decoding: text, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                text.append(contentsOf: try escape().utf8)
            } else {
                text.append(byte)
                advance(1)
            }
        }
        throw ExpressionSyntaxError(
            .malformedLiteral, "The string has no end: close it with the quote that it begins with.", offset: start,
            expected: "a closing quote")
    }

    /// One escape. An unknown one is its character, as in Apple's parser (`\.` is a dot).
    private mutating func escape() throws(ExpressionSyntaxError) -> String {
        let start = position
        guard let letter = peek(1) else {
            throw ExpressionSyntaxError(
                .malformedLiteral, "The string ends within an escape: write “\\\\” for a backslash.", offset: start)
        }
        advance(2)
        switch letter {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "a"): return "\u{7}"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "v"): return "\u{b}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "x"):
            return String(Unicode.Scalar(UInt8(truncatingIfNeeded: try hexadecimal(digits: 2, from: start))))
        case UInt8(ascii: "u"): return try codeUnits(from: start)
        default:
            var character = [letter]
            while letter >= 0xc0, let byte = peek(0), byte & 0xc0 == 0x80 {
                character.append(byte)
                advance(1)
            }
            return String(decoding: character, as: UTF8.self)
        }
    }

    /// `\u` and four hexadecimal digits, or two of them that make one character beyond the basic plane.
    private mutating func codeUnits(from start: Int) throws(ExpressionSyntaxError) -> String {
        let first = try hexadecimal(digits: 4, from: start)
        if let scalar = Unicode.Scalar(first) { return String(scalar) }
        guard (0xd800..<0xdc00).contains(first), peek(0) == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") else {
            throw badEscape(at: start)
        }
        advance(2)
        let second = try hexadecimal(digits: 4, from: start)
        guard (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw badEscape(at: start) }
        return String(scalar)
    }

    private mutating func hexadecimal(digits: Int, from start: Int) throws(ExpressionSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let byte = peek(0), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw badEscape(at: start)
            }
            value = value << 4 | UInt32(digit)
            advance(1)
        }
        return value
    }

    private func badEscape(at start: Int) -> ExpressionSyntaxError {
        ExpressionSyntaxError(
            .malformedLiteral, "The escape names no character: write \\u and 4 or \\x and 2 hexadecimal digits.",
            offset: start, expected: "hexadecimal digits")
    }
}
