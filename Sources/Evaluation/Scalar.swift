/// A value that owns no memory: what expressions work on that only compare, calculate and choose.
package enum Scalar: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    /// This of the program's texts.
    case text(Int)
    /// Something that has no scalar form, or an error: the whole expression is evaluated instead.
    case unknown
}

/// The attributes of one row that scalar programs read, by their slots.
package struct ScalarRow: Sendable {
    /// Filled by the caller before each row.
    package var values: ContiguousArray<Scalar>

    package init(slots: Int) { values = ContiguousArray(repeating: .unknown, count: slots) }
}

typealias ScalarStep = @Sendable (borrowing ScalarRow) -> Scalar
/// nil where the whole predicate must be evaluated.
typealias ScalarTest = @Sendable (borrowing ScalarRow) -> Truth?

/// An expression or a predicate that reads numbers and dates of one row, as closures that allocate nothing: beside the
/// compiled expression, whose answers they give wherever they give one.
package struct ScalarProgram<Answer: Sendable>: Sendable {
    /// The attributes that it reads: the row's slots.
    package let slots: [PropertyHandle]
    /// The texts that it may answer with.
    package let texts: [String]
    let run: @Sendable (borrowing ScalarRow) -> Answer

    /// - Parameter row: with the values of `slots`.
    /// - Returns: the answer; `.unknown`, or nil, where the whole expression must be evaluated.
    package func evaluate(_ row: borrowing ScalarRow) -> Answer { run(row) }
}

extension Scalar {
    /// The value; nil for a text, and where it isn't known.
    package var value: Value? {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .date(let value): .date(value)
        case .text, .unknown: nil
        }
    }

    init(_ number: Number) {
        switch number {
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .decimal: self = .unknown
        }
    }

    /// nil for what is no number.
    var number: Number? {
        switch self {
        case .boolean(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .null, .date, .text, .unknown: nil
        }
    }

    /// As `ValueComparison.equal`; nil where the whole predicate must be evaluated.
    static func equal(_ left: Scalar, _ right: Scalar, _ nulls: NullRule) -> Truth? {
        switch (left, right) {
        case (.unknown, _), (_, .unknown), (.text, _), (_, .text): return nil
        case (.null, _) where nulls == .sql, (_, .null) where nulls == .sql: return .unknown
        case (.null, .null): return .yes
        case (.null, _), (_, .null): return .no
        case (.date(let left), .date(let right)): return Truth(left == right)
        default:
            guard let left = left.number, let right = right.number else { return nil }
            return Truth(Number.compare(left, right) == .equal)
        }
    }

    /// As `ValueComparison.order`, whether the order of two values is one of those that a comparison wants; nil where
    /// the whole predicate must be evaluated.
    static func ordered(
        _ left: Scalar, _ right: Scalar, _ nulls: NullRule, _ holds: (Order) -> Bool
    ) -> Truth? {
        let order: Order?
        switch (left, right) {
        case (.unknown, _), (_, .unknown), (.text, _), (_, .text): return nil
        case (.null, _), (_, .null): return nulls == .sql ? .unknown : .no
        case (.integer(let left), .integer(let right)): order = Order(left, right)
        case (.date(let left), .date(let right)): order = Order(left, right)
        default:
            guard let left = left.number, let right = right.number else { return nil }
            order = Number.compare(left, right)
        }
        return Truth(order.map(holds) ?? false)
    }
}
