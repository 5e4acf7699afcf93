/// A decimal number in plain notation (`-12.50`, `NaN`), in `NSDecimal`'s parts.
struct DecimalText: Equatable {
    var significand: UInt128
    /// Never above 0: plain notation has no exponent.
    var exponent: Int
    var isNegative: Bool
    var isNaN = false

    /// Nil for another notation, and past NSDecimal's 128 bits or 128 decimal places.
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
        for byte in digits.utf8 {
            if byte == UInt8(ascii: "."), places == nil {
                places = 0
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (product, overflow) = significand.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt128(byte - UInt8(ascii: "0")))
            guard !overflow, !carry else { return nil }
            significand = sum
            places = places.map { $0 + 1 }
        }
        guard digits.utf8.contains(where: { $0 != UInt8(ascii: ".") }), places ?? 1 > 0, places ?? 0 <= 128 else {
            return nil
        }
        self.significand = significand
        self.exponent = -(places ?? 0)
        self.isNegative = isNegative
    }
}
