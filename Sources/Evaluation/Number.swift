/// A number as `NSNumber` and `NSDecimalNumber` hold one, with their arithmetic.
///
/// A decimal operand makes the result decimal, else a real one makes it real, else it's an integer; truth values count
/// as 0 and 1. An integer result that doesn't fit is an error: a wrapped or rounded one would be lost silently.
enum Number: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
    case decimal(DecimalNumber)

    /// Nil for what is no number.
    init?(_ value: Value) {
        switch value {
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .decimal(let text):
            guard let decimal = DecimalNumber(text) else { return nil }
            self = .decimal(decimal)
        default: return nil
        }
    }

    var value: Value {
        switch self {
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .decimal(let value): .decimal(value.description)
        }
    }

    var real: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .decimal(let value): value.real
        }
    }

    /// Truncated towards zero and held within the bounds of `Int64`, as `longLongValue` gives it; 0 for NaN.
    var integer: Int64 {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(clamping: value)
        case .decimal(let value): Int64(clamping: value.real)
        }
    }

    /// The integer that equals the number; nil for a fraction or one that doesn't fit.
    var exactInteger: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .decimal(let value): Int64(value.description)
        }
    }

    /// The number as a decimal; nil for what lies outside of `NSDecimal`'s range.
    var decimal: DecimalNumber? {
        switch self {
        case .integer(let value):
            DecimalNumber(significand: UInt128(value.magnitude), exponent: 0, isNegative: value < 0)
        case .real(let value): DecimalNumber(value)
        case .decimal(let value): value
        }
    }

    /// As `NSNumber` prints it: shortest text that gives the number again, without a fraction where there is none.
    var text: String {
        switch self {
        case .integer(let value): return String(value)
        case .decimal(let value): return value.description
        case .real(let value):
            let text = value.description
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
    }

    /// Nil where one of them is NaN.
    static func compare(_ left: Number, _ right: Number) -> Order? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return Order(left, right)
        case (.real(let left), .real(let right)): return Order(left, right)
        case (.integer(let left), .real(let right)): return Order(integer: left, real: right)
        case (.real(let left), .integer(let right)): return Order(integer: right, real: left)?.reversed
        default:
            guard let leftDecimal = left.decimal, let rightDecimal = right.decimal else {
                return Order(left.real, right.real)
            }
            return DecimalNumber.compare(leftDecimal, rightDecimal)
        }
    }

    /// One spelling of equal numbers, so that they have one hash.
    var canonical: Number {
        if let exactInteger { return .integer(exactInteger) }
        if case .decimal(let value) = self, DecimalNumber(value.real) == value { return .real(value.real) }
        return self
    }
}

/// The outcome of a comparison.
enum Order: Hashable, Sendable {
    case less, equal, greater

    init?<T: Comparable>(_ left: T, _ right: T) {
        if left < right {
            self = .less
        } else if left == right {
            self = .equal
        } else if left > right {
            self = .greater
        } else {
            return nil
        }
    }

    /// Without rounding the integer: 2^53 + 1 isn't 2^53.
    init?(integer: Int64, real: Double) {
        guard let truncated = Int64(exactly: real.rounded(.towardZero)) else {
            // Beyond every integer, or NaN.
            self.init(0.0, real)
            return
        }
        guard integer == truncated else {
            self = integer < truncated ? .less : .greater
            return
        }
        self.init(0.0, real - real.rounded(.towardZero))
    }

    var reversed: Order {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}

extension Int64 {
    /// Truncated, held within bounds; 0 for NaN.
    init(clamping value: Double) {
        if value.isNaN {
            self = 0
        } else if let exact = Int64(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value < 0 ? .min : .max
        }
    }
}
