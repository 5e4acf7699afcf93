/// A decimal number with `NSDecimal`'s 38 digits.
struct DecimalNumber: Hashable, Sendable, CustomStringConvertible {
    /// At most 38 digits.
    private(set) var significand: UInt128
    private(set) var exponent: Int
    private(set) var isNegative: Bool
    private(set) var isNaN = false

    static let nan = DecimalNumber(unchecked: 0, 0, false, isNaN: true)
    /// 10^38: what a significand stays below.
    private static let bound: UInt128 = 100_000_000_000_000_000_000_000_000_000_000_000_000
    /// `NSDecimal`'s range of exponents.
    private static let exponents = -128...127

    private init(unchecked significand: UInt128, _ exponent: Int, _ isNegative: Bool, isNaN: Bool = false) {
        self.significand = significand
        self.exponent = exponent
        self.isNegative = isNegative
        self.isNaN = isNaN
    }

    static let zero = DecimalNumber(unchecked: 0, 0, false)

    /// Normalised: without trailing zeros, zero has no sign. Nil for what lies outside of `NSDecimal`'s range; digits
    /// past the 38th are rounded away.
    init?(significand: UInt128, exponent: Int, isNegative: Bool) {
        self.init(high: 0, low: significand, exponent: exponent, isNegative: isNegative)
    }

    private init?(high: UInt128, low: UInt128, exponent: Int, isNegative: Bool) {
        var (high, low, exponent) = (high, low, exponent)
        var rest: UInt128 = 0
        while high > 0 || low >= Self.bound {
            let (upper, carry) = high.quotientAndRemainder(dividingBy: 10)
            (low, rest) = UInt128(10).dividingFullWidth((carry, low))
            high = upper
            exponent += 1
        }
        // NSRoundPlain, half away from zero: the first digit that was dropped decides.
        if rest >= 5 { low += 1 }
        while low.isMultiple(of: 10), low != 0, exponent < 0 || low >= Self.bound {
            low /= 10
            exponent += 1
        }
        if low == 0 {
            self.init(unchecked: 0, 0, false)
            return
        }
        while exponent > 0, low < Self.bound / 10 {
            low *= 10
            exponent -= 1
        }
        guard Self.exponents.contains(exponent) else { return nil }
        self.init(unchecked: low, exponent, isNegative)
    }

    /// Plain or scientific notation, or `NaN`; nil for anything else.
    init?(_ text: String) {
        if text == "NaN" {
            self = .nan
            return
        }
        var digits = Substring(text)
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits = digits.dropFirst() }
        var exponent = 0
        if let mark = digits.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            guard let power = Int(digits[digits.index(after: mark)...]), (-1_000...1_000).contains(power) else {
                return nil
            }
            exponent = power
            digits = digits[..<mark]
        }
        var significand: UInt128 = 0
        var (isFraction, count) = (false, 0)
        for byte in digits.utf8 {
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            count += 1
            if significand < Self.bound / 10 {
                significand = significand * 10 + UInt128(byte - UInt8(ascii: "0"))
                if isFraction { exponent -= 1 }
            } else if !isFraction {
                exponent += 1
            }
        }
        guard count > 0 else { return nil }
        self.init(significand: significand, exponent: exponent, isNegative: isNegative)
    }

    /// The shortest decimal that gives the real number again; nil for infinity.
    init?(_ real: Double) {
        if real.isNaN {
            self = .nan
        } else if real.isFinite {
            self.init(real.description)
        } else {
            return nil
        }
    }

    /// Plain notation, as `NSDecimalNumber` prints it.
    var description: String {
        if isNaN { return "NaN" }
        var digits = String(significand)
        if exponent > 0 {
            digits += String(repeating: "0", count: exponent)
        } else if exponent < 0 {
            let missing = 1 - exponent - digits.utf8.count
            if missing > 0 { digits = String(repeating: "0", count: missing) + digits }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return isNegative ? "-" + digits : digits
    }

    var real: Double { isNaN ? .nan : Double("\(isNegative ? "-" : "")\(significand)e\(exponent)") ?? .nan }

    var negated: DecimalNumber {
        DecimalNumber(unchecked: significand, exponent, significand != 0 && !isNegative, isNaN: isNaN)
    }

    var magnitude: DecimalNumber { DecimalNumber(unchecked: significand, exponent, false, isNaN: isNaN) }

    // MARK: - Arithmetic; nil where the result lies outside of `NSDecimal`'s range.

    static func add(_ left: DecimalNumber, _ right: DecimalNumber) -> DecimalNumber? {
        if left.isNaN || right.isNaN { return .nan }
        if left.significand == 0 { return right }
        if right.significand == 0 { return left }
        var (large, small) = left.exponent >= right.exponent ? (left, right) : (right, left)
        // The larger exponent comes down as far as digits allow, then the smaller one goes up.
        while large.exponent > small.exponent, large.significand < bound / 10 {
            large.significand *= 10
            large.exponent -= 1
        }
        while large.exponent > small.exponent {
            small.significand = small.significand / 10 + (small.significand % 10 >= 5 ? 1 : 0)
            small.exponent += 1
        }
        if large.isNegative == small.isNegative {
            // Both are below 10^38, so that the sum fits 128 bits.
            return DecimalNumber(
                significand: large.significand + small.significand, exponent: large.exponent,
                isNegative: large.isNegative)
        }
        let isLarger = large.significand >= small.significand
        return DecimalNumber(
            significand: isLarger
                ? large.significand - small.significand : small.significand - large.significand,
            exponent: large.exponent, isNegative: isLarger ? large.isNegative : small.isNegative)
    }

    static func multiply(_ left: DecimalNumber, _ right: DecimalNumber) -> DecimalNumber? {
        if left.isNaN || right.isNaN { return .nan }
        let product = left.significand.multipliedFullWidth(by: right.significand)
        return DecimalNumber(
            high: product.high, low: product.low, exponent: left.exponent + right.exponent,
            isNegative: left.isNegative != right.isNegative)
    }

    /// The divisor isn't zero.
    static func divide(_ left: DecimalNumber, by right: DecimalNumber) -> DecimalNumber? {
        if left.isNaN || right.isNaN { return .nan }
        guard right.significand != 0 else { return nil }
        var (quotient, rest) = left.significand.quotientAndRemainder(dividingBy: right.significand)
        var exponent = left.exponent - right.exponent
        while rest != 0, quotient < bound / 10 {
            let scaled = rest.multipliedFullWidth(by: 10)
            let (digit, remainder) = right.significand.dividingFullWidth((scaled.high, scaled.low))
            quotient = quotient * 10 + digit
            rest = remainder
            exponent -= 1
        }
        if rest != 0, rest >= right.significand - rest { quotient += 1 }
        return DecimalNumber(
            significand: quotient, exponent: exponent, isNegative: left.isNegative != right.isNegative)
    }

    /// Nil where one of them is NaN.
    static func compare(_ left: DecimalNumber, _ right: DecimalNumber) -> Order? {
        if left.isNaN || right.isNaN { return nil }
        if left == right { return .equal }
        if left.isNegative != right.isNegative { return left.isNegative ? .less : .greater }
        let difference = add(left.magnitude, right.magnitude.negated)
        guard let difference else { return Order(left.real, right.real) }
        if difference.significand == 0 { return .equal }
        return difference.isNegative == left.isNegative ? .greater : .less
    }

    func rounded(_ rule: FloatingPointRoundingRule) -> DecimalNumber? {
        guard !isNaN, exponent < 0 else { return self }
        var (whole, isExact, half) = (significand, true, 0)
        for _ in 0..<(-exponent) {
            if half != 0 { isExact = false }
            half = Int(whole % 10)
            whole /= 10
        }
        isExact = isExact && half == 0
        let increments: Bool =
            switch rule {
            case .up: !isExact && !isNegative
            case .down: !isExact && isNegative
            case .toNearestOrAwayFromZero: half >= 5
            default: false
            }
        return DecimalNumber(significand: whole + (increments ? 1 : 0), exponent: 0, isNegative: isNegative)
    }
}
