/// Numbers read from text as `NSString` reads them: from the beginning, as far as it goes, 0 where there is none.
enum NumberText {
    /// Held within the bounds of `Int64`.
    static func integer(_ text: String) -> Int64 {
        var bytes = ArraySlice(text.utf8)[...]
        skipSpace(&bytes)
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
        var result: Int64 = 0
        for byte in bytes {
            guard isDigit(byte) else { break }
            let digit = Int64(byte - UInt8(ascii: "0"))
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || carry { return isNegative ? .min : .max }
            result = sum
        }
        return result
    }

    static func real(_ text: String) -> Double {
        var bytes = ArraySlice(text.utf8)[...]
        skipSpace(&bytes)
        let number = Array(bytes)
        var end = 0
        func skipDigits() { while end < number.count, isDigit(number[end]) { end += 1 } }
        if end < number.count, number[end] == UInt8(ascii: "-") || number[end] == UInt8(ascii: "+") { end += 1 }
        let first = end
        skipDigits()
        var digits = end - first
        if end < number.count, number[end] == UInt8(ascii: ".") {
            let point = end
            end += 1
            skipDigits()
            digits += end - point - 1
        }
        guard digits > 0 else { return 0 }
        let mantissa = end
        if end < number.count, number[end] | 0x20 == UInt8(ascii: "e") {
            end += 1
            if end < number.count, number[end] == UInt8(ascii: "-") || number[end] == UInt8(ascii: "+") { end += 1 }
            let exponent = end
            skipDigits()
            if end == exponent { end = mantissa }
        }
        return Double(String(decoding: number[..<end], as: UTF8.self)) ?? 0
    }

    /// `boolValue`: Y, y, T, t or a digit other than 0 after spaces, a sign and zeros.
    static func truth(_ text: String) -> Bool {
        var bytes = ArraySlice(text.utf8)[...]
        skipSpace(&bytes)
        if bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
        while bytes.first == UInt8(ascii: "0") { bytes.removeFirst() }
        guard let byte = bytes.first else { return false }
        return "YyTt123456789".utf8.contains(byte)
    }

    /// The number that the whole text is; nil for anything else.
    static func number(_ text: String) -> Number? {
        if let integer = Int64(text) { return .integer(integer) }
        guard let first = text.utf8.first, isDigit(first) || "+-.".utf8.contains(first), let real = Double(text),
            real.isFinite
        else { return nil }
        return .real(real)
    }

    private static func skipSpace(_ bytes: inout ArraySlice<UInt8>) {
        while let byte = bytes.first, byte == 0x20 || (0x09...0x0d).contains(byte) { bytes.removeFirst() }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
