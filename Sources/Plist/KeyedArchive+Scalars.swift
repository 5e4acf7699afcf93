// Foundation's value classes as they lie in an archive.

/// A decimal number: `significand × 10^exponent`.
package struct ArchivedDecimal: Hashable, Sendable, CustomStringConvertible {
    package let significand: UInt128
    /// Within -128...127, as in `NSDecimal`.
    package let exponent: Int
    package let isNegative: Bool
    package let isNaN: Bool

    package init(significand: UInt128, exponent: Int, isNegative: Bool, isNaN: Bool = false) {
        self.significand = significand
        self.exponent = exponent
        self.isNegative = isNegative
        self.isNaN = isNaN
    }

    /// Plain decimal notation without an exponent, for example `-12.50`; `NaN`.
    package var description: String {
        if isNaN { return "NaN" }
        var digits = String(significand)
        if exponent > 0, significand != 0 {
            digits += String(repeating: "0", count: exponent)
        } else if exponent < 0 {
            let missing = 1 - exponent - digits.count
            if missing > 0 { digits = String(repeating: "0", count: missing) + digits }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return isNegative ? "-" + digits : digits
    }
}

/// A URL: `relative` is resolved against `base` when there is one.
package struct ArchivedURL: Hashable, Sendable {
    package let relative: String
    /// Another URL, or null.
    package let base: ArchivedValue

    package init(relative: String, base: ArchivedValue = .null) {
        self.relative = relative
        self.base = base
    }
}

extension KeyedArchive {
    /// Seconds since 2001-01-01 00:00:00 UTC, from a date or an `NSDate` instance (`NS.time`).
    ///
    /// `nil` for an absent field and for null; throws `typeMismatch` for anything else.
    package func date(_ value: ArchivedValue?) throws(PropertyListError) -> Double? {
        switch value {
        case nil, .null: return nil
        case .date(let seconds): return seconds
        case .object(let reference) where archivedClass(of: reference)?.isKind(of: "NSDate") == true:
            guard let seconds = try real(field("NS.time", of: reference)) else {
                throw mismatch("a date", .object(reference))
            }
            return seconds
        case .some(let other): throw mismatch("a date", other)
        }
    }

    /// The 16 bytes of an `NSUUID` instance (`NS.uuidbytes`). `nil` for an absent field and for null.
    package func uuid(_ value: ArchivedValue?) throws(PropertyListError) -> [UInt8]? {
        guard let reference = try instance(of: "NSUUID", "a UUID", value) else { return nil }
        guard let bytes = try data(field("NS.uuidbytes", of: reference)), bytes.count == 16 else {
            throw PropertyListError(.malformed, "A UUID doesn't have 16 bytes.", at: place(of: reference))
        }
        return bytes
    }

    /// An `NSURL` instance (`NS.relative`, `NS.base`). `nil` for an absent field and for null.
    package func url(_ value: ArchivedValue?) throws(PropertyListError) -> ArchivedURL? {
        guard let reference = try instance(of: "NSURL", "a URL", value) else { return nil }
        guard let relative = try string(field("NS.relative", of: reference)) else {
            throw PropertyListError(.malformed, "A URL has no text.", at: place(of: reference))
        }
        return ArchivedURL(relative: relative, base: try field("NS.base", of: reference) ?? .null)
    }

    /// An `NSDecimalNumber` instance, which archives as `NSDecimalNumberPlaceholder` too.
    ///
    /// Fields: `NS.mantissa` (16-bit words, least significant first), `NS.mantissa.bo` (1: little-endian words, 2:
    /// big-endian), `NS.length` (words used), `NS.exponent`, `NS.negative`. Length 0 and negative is NaN.
    /// `nil` for an absent field and for null.
    package func decimal(_ value: ArchivedValue?) throws(PropertyListError) -> ArchivedDecimal? {
        guard let reference = try instance(of: "NSDecimalNumber", "a decimal number", value) else { return nil }
        let length = try integer(field("NS.length", of: reference)) ?? 0
        let exponent = try integer(field("NS.exponent", of: reference)) ?? 0
        let isNegative = try boolean(field("NS.negative", of: reference)) ?? false
        let isBigEndian = try integer(field("NS.mantissa.bo", of: reference)) == 2
        let words = try data(field("NS.mantissa", of: reference)) ?? []
        guard (0...8).contains(length), words.count >= Int(length) * 2, (-128...127).contains(exponent) else {
            throw PropertyListError(
                .malformed, "A decimal number's fields contradict each other.", at: place(of: reference))
        }
        var significand: UInt128 = 0
        for position in (0..<Int(length)).reversed() {
            let first = UInt128(words[position * 2])
            let second = UInt128(words[position * 2 + 1])
            significand = significand << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
        }
        return ArchivedDecimal(
            significand: significand, exponent: Int(exponent), isNegative: isNegative && length > 0,
            isNaN: length == 0 && isNegative)
    }

    private func instance(
        of className: String, _ wanted: String, _ value: ArchivedValue?
    ) throws(PropertyListError) -> Reference? {
        switch value {
        case nil, .null: return nil
        case .object(let reference) where archivedClass(of: reference)?.isKind(of: className) == true: return reference
        case .some(let other): throw mismatch(wanted, other)
        }
    }
}
