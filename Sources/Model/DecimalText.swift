import CausewayPlist

/// Decimal numbers as plain text, in one spelling per value, so that models from source and from archives compare
/// equal.
enum DecimalText {
    /// `NSDecimal`'s range of exponents.
    private static let exponents = -128...127

    /// `-12.5` for `-012.50` and `-1.25e1`; nil if it isn't a decimal number or is outside `NSDecimal`'s range. Digits
    /// that its 128 bits have no room for are cut off, as `NSDecimalNumber` does.
    static func canonical(_ text: String) -> String? {
        text == "NaN" ? text : decimal(text)?.description
    }

    /// Without trailing zeros; zero is never negative.
    private static func decimal(_ text: String) -> ArchivedDecimal? {
        var rest = Substring(text)
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest.removeFirst() }
        var exponent = 0
        if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            guard let written = Int(rest[rest.index(after: mark)...]), (-1_000...1_000).contains(written) else {
                return nil
            }
            exponent = written
            rest = rest[..<mark]
        }
        var significand: UInt128 = 0
        var digits = 0
        var isFraction = false
        var isFull = false
        for character in rest.utf8 {
            if character == UInt8(ascii: "."), !isFraction {
                isFraction = true
                continue
            }
            guard character >= UInt8(ascii: "0"), character <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = significand.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt128(character - UInt8(ascii: "0")))
            digits += 1
            isFull = isFull || overflow || carry
            if isFull {
                if !isFraction { exponent += 1 }
                continue
            }
            significand = sum
            if isFraction { exponent -= 1 }
        }
        guard digits > 0 else { return nil }
        while significand != 0, significand.isMultiple(of: 10) {
            significand /= 10
            exponent += 1
        }
        if significand == 0 { return ArchivedDecimal(significand: 0, exponent: 0, isNegative: false) }
        guard exponents.contains(exponent) else { return nil }
        return ArchivedDecimal(significand: significand, exponent: exponent, isNegative: isNegative)
    }
}
