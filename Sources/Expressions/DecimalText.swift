/// A decimal number in plain notation (`-12.50`, `NaN`), in `NSDecimal`'s parts.
struct DecimalText: Equatable {
    var significand: UInt128
    /// Above 0 only for the zeros at the end of a number that 128 bits have no room for.
    var exponent: Int
    var isNegative: Bool
    var isNaN = false

    /// Nil for another notation, and past NSDecimal's 128 bits, 128 decimal places or 127 further zeros.
    init?(_ text: String) {
        if text == "NaN" {
            self.significand = 0
            self.exponent = 0
            self.isNegative = false
            self.isNaN = true
            return
        }
        var digits = Substring(text)
        let isNegative = digits.first == "-"
        if isNegative { digits = digits.dropFirst() }
        var significand: UInt128 = 0
        var places: Int?
        var zeros = 0
        for byte in digits.utf8 {
            if byte == UInt8(ascii: "."), places == nil {
                places = 0
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (product, overflow) = significand.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt128(byte - UInt8(ascii: "0")))
            if overflow || carry || zeros > 0 {
                guard byte == UInt8(ascii: "0"), places == nil, zeros < 127 else { return nil }
                zeros += 1
                continue
            }
            significand = sum
            places = places.map { $0 + 1 }
        }
        guard digits.utf8.contains(where: { $0 != UInt8(ascii: ".") }), places ?? 1 > 0, places ?? 0 <= 128 else {
            return nil
        }
        self.significand = significand
        self.exponent = zeros - (places ?? 0)
        self.isNegative = isNegative
    }
}
