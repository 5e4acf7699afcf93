/// The `@` operators of key-value coding.
enum CollectionOperator: String, CaseIterable, Sendable {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case unionOfObjects = "@unionOfObjects"
    case distinctUnionOfObjects = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case unionOfSets = "@unionOfSets"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    var isUnionOfCollections: Bool {
        switch self {
        case .unionOfArrays, .distinctUnionOfArrays, .unionOfSets, .distinctUnionOfSets: true
        default: false
        }
    }

    /// The result's type where the members, or what the rest of the path makes of them, have the type `member`.
    func type(of member: ValueType) -> ValueType {
        switch self {
        case .count, .sum, .average: .number
        case .minimum, .maximum: member
        case .unionOfObjects, .distinctUnionOfObjects: .collection(.array, of: member)
        case .unionOfArrays, .distinctUnionOfArrays: .collection(.array, of: member.element ?? .any)
        case .unionOfSets, .distinctUnionOfSets: .collection(.set, of: member.element ?? .any)
        }
    }

    /// Works on the rest of the path's result for each member. The unions drop NULL.
    ///
    /// - Throws: `type` for a sum of values that aren't numbers, and the like.
    func apply(_ values: [Value]) throws(EvaluationError) -> Value {
        switch self {
        case .count: return .integer(Int64(values.count))
        case .sum: return try Statistics.decimalSum(values)
        case .average: return try Statistics.average(values, countingNulls: true)
        case .minimum: return try Statistics.extreme(values, .less)
        case .maximum: return try Statistics.extreme(values, .greater)
        case .unionOfObjects: return try values.filter { !$0.isNull }.collected()
        case .distinctUnionOfObjects: return try values.filter { !$0.isNull }.distinct.collected()
        case .unionOfArrays: return try joined(values).collected()
        case .unionOfSets, .distinctUnionOfArrays, .distinctUnionOfSets:
            return try joined(values).distinct.collected()
        }
    }

    private func joined(_ values: [Value]) throws(EvaluationError) -> [Value] {
        var members: [Value] = []
        for value in values {
            switch value {
            case .null: continue
            case .collection(let inner): members += inner.filter { !$0.isNull }
            default: throw EvaluationError(.type, "`\(rawValue)` joins collections, not \(value.kindName).")
            }
            guard members.count <= EvaluationLimits.collectionCount else {
                throw EvaluationError(
                    .type, "`\(rawValue)` joins more than \(EvaluationLimits.collectionCount) members.")
            }
        }
        return members
    }
}

/// Sums, means and the like of collections.
enum Statistics {
    /// NULL counts as 0; nothing sums up to 0.
    static func sum(_ values: [Value]) throws(EvaluationError) -> Value { try sum(values, .integer(0)) }

    /// Foundation's key-value coding adds in `NSDecimalNumber`: a sum of integers can't overflow, and dividing it isn't
    /// an integer division. A real member makes the sum real, since Foundation's way from a `Double` to a decimal isn't
    /// documented.
    static func decimalSum(_ values: [Value]) throws(EvaluationError) -> Value {
        let hasReal = values.contains { if case .real = $0 { true } else { false } }
        return try sum(values, hasReal ? .integer(0) : .decimal(DecimalNumber.zero))
    }

    private static func sum(_ values: [Value], _ zero: Number) throws(EvaluationError) -> Value {
        var total = zero
        for value in values where !value.isNull { total = try Number.apply(.add, total, number(value)) }
        return total.value
    }

    /// NULL where there is no member. Decimals give a decimal, other numbers a real number. `@avg` counts NULL as 0,
    /// and adds in decimals.
    static func average(_ values: [Value], countingNulls: Bool) throws(EvaluationError) -> Value {
        let count = countingNulls ? values.count : values.count { !$0.isNull }
        guard count > 0, let total = Number(try countingNulls ? decimalSum(values) : sum(values)) else { return .null }
        if case .decimal = total { return try Number.apply(.divide, total, .integer(Int64(count))).value }
        return .real(total.real / Double(count))
    }

    /// The least or greatest member that isn't NULL; NULL where there is none.
    static func extreme(_ values: [Value], _ wanted: Order) throws(EvaluationError) -> Value {
        var best = Value.null
        for value in values where !value.isNull {
            if best.isNull {
                best = value
            } else if try ValueComparison.order(value, best) == wanted {
                best = value
            }
        }
        return best
    }

    /// The middle one, or the mean of the two in the middle.
    static func median(_ values: [Value]) throws(EvaluationError) -> Value {
        let sorted = try reals(values).sorted()
        guard let last = sorted.indices.last else { return .null }
        return .real((sorted[last / 2] + sorted[(last + 1) / 2]) / 2)
    }

    /// All the most frequent members, in the order of their first places.
    static func mode(_ values: [Value]) throws(EvaluationError) -> Value {
        var counts: [DistinctKey: Int] = [:]
        for value in values where !value.isNull { counts[DistinctKey(value), default: 0] += 1 }
        guard let most = counts.values.max() else { return .collection([]) }
        return try values.distinct.filter { !$0.isNull && counts[DistinctKey($0)] == most }.collected()
    }

    /// Of the whole population.
    static func standardDeviation(_ values: [Value]) throws(EvaluationError) -> Value {
        let values = try reals(values)
        guard !values.isEmpty else { return .null }
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .real((squares / Double(values.count)).squareRoot())
    }

    private static func reals(_ values: [Value]) throws(EvaluationError) -> [Double] {
        var reals: [Double] = []
        for value in values where !value.isNull { reals.append(try number(value).real) }
        return reals
    }

    private static func number(_ value: Value) throws(EvaluationError) -> Number {
        guard let number = Number(value) else {
            throw EvaluationError(.type, "A sum or mean needs numbers, not \(value.kindName).")
        }
        return number
    }
}
