#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The arithmetic of `NSExpression`'s built-ins.
extension Number {
    enum Operation: Sendable {
        case add, subtract, multiply, divide, power, modulus

        var name: String {
            switch self {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            case .divide: "divide:by:"
            case .power: "raise:toPower:"
            case .modulus: "modulus:by:"
            }
        }
    }

    /// - Throws: `type` for an integer overflow, a decimal out of range, and an integer's or decimal's division by
    ///   zero; a real's gives infinity or NaN, as IEEE 754 says.
    static func apply(_ operation: Operation, _ left: Number, _ right: Number) throws(EvaluationError) -> Number {
        if operation == .power { return .real(pow(left.real, right.real)) }
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return .integer(try integers(operation, left, right))
        case (.decimal, _), (_, .decimal):
            guard let left = left.decimal, let right = right.decimal,
                let result = try decimals(operation, left, right)
            else { throw tooLarge(operation) }
            return .decimal(result)
        default:
            let (left, right) = (left.real, right.real)
            switch operation {
            case .add: return .real(left + right)
            case .subtract: return .real(left - right)
            case .multiply: return .real(left * right)
            case .divide: return .real(left / right)
            case .power, .modulus: return .real(left.truncatingRemainder(dividingBy: right))
            }
        }
    }

    private static func integers(
        _ operation: Operation, _ left: Int64, _ right: Int64
    ) throws(EvaluationError) -> Int64 {
        if operation == .divide || operation == .modulus, right == 0 { throw divisionByZero(operation) }
        let (result, overflow) =
            switch operation {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply: left.multipliedReportingOverflow(by: right)
            case .divide: left.dividedReportingOverflow(by: right)
            // The remainder of the smallest integer by −1 is 0, whatever the flag says.
            case .power, .modulus: (left.remainderReportingOverflow(dividingBy: right).partialValue, false)
            }
        guard !overflow else { throw tooLarge(operation) }
        return result
    }

    private static func decimals(
        _ operation: Operation, _ left: DecimalNumber, _ right: DecimalNumber
    ) throws(EvaluationError) -> DecimalNumber? {
        if operation == .divide || operation == .modulus, right.significand == 0, !right.isNaN {
            throw divisionByZero(operation)
        }
        switch operation {
        case .add: return DecimalNumber.add(left, right)
        case .subtract: return DecimalNumber.add(left, right.negated)
        case .multiply: return DecimalNumber.multiply(left, right)
        case .divide: return DecimalNumber.divide(left, by: right)
        case .power, .modulus:
            guard let whole = DecimalNumber.divide(left, by: right)?.rounded(.towardZero),
                let product = DecimalNumber.multiply(whole, right)
            else { return nil }
            return DecimalNumber.add(left, product.negated)
        }
    }

    private static func tooLarge(_ operation: Operation) -> EvaluationError {
        EvaluationError(.type, "The result of `\(operation.name)` is too large for a number of its operands' type.")
    }

    private static func divisionByZero(_ operation: Operation) -> EvaluationError {
        EvaluationError(.type, "`\(operation.name)` divides by zero.")
    }

    // MARK: - One operand

    func rounded(_ rule: FloatingPointRoundingRule) -> Number {
        switch self {
        case .integer: self
        case .real(let value): .real(value.rounded(rule))
        case .decimal(let value): .decimal(value.rounded(rule) ?? value)
        }
    }

    /// - Throws: `type` for the smallest integer.
    func negated() throws(EvaluationError) -> Number {
        switch self {
        case .integer(let value):
            guard value != .min else { throw Self.tooLarge(.subtract) }
            return .integer(-value)
        case .real(let value): return .real(-value)
        case .decimal(let value): return .decimal(value.negated)
        }
    }

    /// - Throws: `type` for the smallest integer.
    func magnitude() throws(EvaluationError) -> Number {
        switch self {
        case .integer(let value): value < 0 ? try negated() : self
        case .real(let value): .real(value.magnitude)
        case .decimal(let value): .decimal(value.magnitude)
        }
    }

    static func logarithm(_ value: Double) -> Double { log10(value) }
    static func naturalLogarithm(_ value: Double) -> Double { log(value) }
    static func exponential(_ value: Double) -> Double { exp(value) }
}
