import CausewayPlatform

/// Dates in ISO 8601, in UTC, with as many digits of a second as the stored number has: reading them back gives the
/// same number.
package enum DateText {
    /// Seconds from 2001-01-01 of the years 0001 to 9999.
    private static let range = -63_113_904_000.0..<252_423_993_600.0
    private static let referenceDate = Int64(WallClock.referenceDate)

    /// `2001-01-01T00:00:00Z`, `2020-02-29T12:30:00.25Z`; nil outside of the years 1 to 9999.
    package static func text(secondsSinceReferenceDate value: Double) -> String? {
        guard range.contains(value) else { return nil }
        let whole = UTCText.text(secondsSince1970: Int64(value.rounded(.down)) + referenceDate)
        let fraction = fraction(of: value)
        return fraction.isEmpty ? whole : "\(whole.dropLast()).\(fraction)Z"
    }

    /// The decimal digits of a number after the point, counted from the whole number below it; empty for none.
    ///
    /// The shortest decimal that reads back as the number gives the digits: whole seconds are added to it exactly.
    private static func fraction(of value: Double) -> String {
        let text = DecimalText.plain(value.magnitude)
        guard let point = text.firstIndex(of: ".") else { return "" }
        let digits = text[text.index(after: point)...].utf8.map { $0 - UInt8(ascii: "0") }
        guard value < 0 else { return String(text[text.index(after: point)...]) }
        // The rest to the next whole number, digit by digit from the right.
        var result: [UInt8] = []
        var isFirst = true
        for digit in digits.reversed() {
            if isFirst, digit == 0 {
                result.append(0)
                continue
            }
            result.append((isFirst ? 10 : 9) - digit)
            isFirst = false
        }
        return String(decoding: result.reversed().map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    }
}
