import CausewayExpressions

/// Foundation's built-in functions that are the same for every row and don't depend on where they run.
struct BuiltIn: Sendable {
    let arguments: [Parameter]
    let result: ValueType
    let run: @Sendable ([Value]) throws(EvaluationError) -> Value

    enum Parameter: Sendable {
        case number, string, collection
        /// A string or a collection.
        case counted
        case any

        func accepts(_ type: ValueType) -> Bool {
            switch (self, type) {
            case (_, .any), (_, .null), (.any, _), (.number, .number), (.string, .string),
                (.collection, .collection), (.counted, .string), (.counted, .collection):
                true
            default: false
            }
        }

        var summary: String {
            switch self {
            case .number: "a number"
            case .string: "a string"
            case .collection: "a collection"
            case .counted: "a string or a collection"
            case .any: "a value"
            }
        }
    }

    /// NULL in gives NULL out for everything that takes a number or a string, as in SQL.
    static let all: [String: BuiltIn] = arithmetic.merging(others) { first, _ in first }

    private static let arithmetic: [String: BuiltIn] = [
        "add:to:": two(.add), "from:subtract:": two(.subtract), "multiply:by:": two(.multiply),
        "divide:by:": two(.divide), "modulus:by:": two(.modulus), "raise:toPower:": two(.power),
        "chs:": one { (number) throws(EvaluationError) in try number.negated() },
        "abs:": one { (number) throws(EvaluationError) in try number.magnitude() },
        "sqrt:": one { .real($0.real.squareRoot()) },
        "log:": one { .real(Number.logarithm($0.real)) },
        "ln:": one { .real(Number.naturalLogarithm($0.real)) },
        "exp:": one { .real(Number.exponential($0.real)) },
        "ceiling:": one { $0.rounded(.up) },
        "floor:": one { $0.rounded(.down) },
        "trunc:": one { $0.rounded(.towardZero) },
        "round:": one { $0.rounded(.toNearestOrAwayFromZero) },
        "bitwiseAnd:with:": bits { $0 & $1 },
        "bitwiseOr:with:": bits { $0 | $1 },
        "bitwiseXor:with:": bits { $0 ^ $1 },
        // Smart shifts: nothing traps, whatever the distance.
        "leftshift:by:": bits { $0 << $1 },
        "rightshift:by:": bits { $0 >> $1 },
        "onesComplement:": BuiltIn(arguments: [.number], result: .number) { (values) throws(EvaluationError) in
            values[0].isNull ? .null : .integer(~(try whole(values[0], "onesComplement:")))
        },
    ]

    private static let others: [String: BuiltIn] = [
        "uppercase:": text { .string($0.uppercased()) },
        "lowercase:": text { .string($0.lowercased()) },
        "canonical:": text { .string(TextFolding.fold($0, [.caseInsensitive, .diacriticInsensitive])) },
        "length:": text(.number) { .integer(Int64($0.utf16.count)) },
        "noindex:": BuiltIn(arguments: [.any], result: .any) { $0[0] },
        "sum:": of(.number) { (values) throws(EvaluationError) in try Statistics.sum(values) },
        "average:": of(.number) { (values) throws(EvaluationError) in
            try Statistics.average(values, countingNulls: false)
        },
        "min:": of(.any) { (values) throws(EvaluationError) in try Statistics.extreme(values, .less) },
        "max:": of(.any) { (values) throws(EvaluationError) in try Statistics.extreme(values, .greater) },
        "median:": of(.number) { (values) throws(EvaluationError) in try Statistics.median(values) },
        "mode:": of(.collection(.array, of: .any)) { (values) throws(EvaluationError) in
            try Statistics.mode(values)
        },
        "stddev:": of(.number) { (values) throws(EvaluationError) in try Statistics.standardDeviation(values) },
        "distinct:": of(.collection(.set, of: .any)) { .collection($0.distinct) },
    ]

    /// Functions of Apple's that aren't supported here, with the alternative.
    static let refused: [String: String] = [
        "random": notRepeatable, "random:": notRepeatable, "randomn:": notRepeatable,
        "distanceToLocation:fromLocation:": "Locations aren't supported: compute the distance in a policy.",
    ]

    private static let notRepeatable =
        "A random value would make two runs of a migration give different stores: compute it from the row in a policy."

    // MARK: - Shapes

    private static func two(_ operation: Number.Operation) -> BuiltIn {
        BuiltIn(arguments: [.number, .number], result: .number) { (values) throws(EvaluationError) in
            if values[0].isNull || values[1].isNull { return .null }
            return try Number.apply(
                operation, number(values[0], operation.name), number(values[1], operation.name)
            ).value
        }
    }

    private static func one(
        _ function: @escaping @Sendable (Number) throws(EvaluationError) -> Number
    ) -> BuiltIn {
        BuiltIn(arguments: [.number], result: .number) { (values) throws(EvaluationError) in
            if values[0].isNull { return .null }
            return try function(number(values[0], "function")).value
        }
    }

    private static func bits(_ function: @escaping @Sendable (Int64, Int64) -> Int64) -> BuiltIn {
        BuiltIn(arguments: [.number, .number], result: .number) { (values) throws(EvaluationError) in
            if values[0].isNull || values[1].isNull { return .null }
            return .integer(function(try whole(values[0], "bitwise"), try whole(values[1], "bitwise")))
        }
    }

    private static func text(
        _ result: ValueType = .string, _ function: @escaping @Sendable (String) -> Value
    ) -> BuiltIn {
        BuiltIn(arguments: [.string], result: result) { (values) throws(EvaluationError) in
            switch values[0] {
            case .null: return .null
            case .string(let text): return function(text)
            default: throw EvaluationError(.type, "The function takes a string, not \(values[0].kindName).")
            }
        }
    }

    private static func of(
        _ result: ValueType, _ function: @escaping @Sendable ([Value]) throws(EvaluationError) -> Value
    ) -> BuiltIn {
        BuiltIn(arguments: [.collection], result: result) { (values) throws(EvaluationError) in
            switch values[0] {
            case .null: return .null
            case .collection(let members): return try function(members)
            default: throw EvaluationError(.type, "The function takes a collection, not \(values[0].kindName).")
            }
        }
    }

    private static func number(_ value: Value, _ name: String) throws(EvaluationError) -> Number {
        guard let number = Number(value) else {
            throw EvaluationError(.type, "The \(name) takes numbers, not \(value.kindName).")
        }
        return number
    }

    private static func whole(_ value: Value, _ name: String) throws(EvaluationError) -> Int64 {
        guard let whole = try number(value, name).exactInteger else {
            throw EvaluationError(.type, "The \(name) function takes integers.")
        }
        return whole
    }
}
