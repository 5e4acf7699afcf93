import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import Testing

/// Scalar programs give what the whole evaluation gives, or nothing.
@Suite("Scalar programs", .timeLimit(.minutes(60)))
struct ScalarTests {
    static let numbers: [(name: String, values: [Value])] = [
        ("age", [.null, 0, 1, -7, 42, .integer(Int64(Int32.max))]),
        ("isActive", [.null, true, false]),
        ("score", [.null, 0.0, -0.0, 2.5, 1e300, .real(.infinity)]),
        ("born", [.null, .date(0), .date(1_000)]),
    ]

    static let operands = ["age", "$source.score", "isActive", "3", "0", "-2.5", "nil", "age + 1", "score * score"]
    static let expressions =
        operands.flatMap { left in
            operands.flatMap { right in
                ["+", "-", "*", "/", "modulus:by:"].map { sign in
                    sign.hasSuffix(":") ? "modulus:by:(\(left), \(right))" : "(\(left)) \(sign) (\(right))"
                }
            }
        } + [
            "TERNARY(age > 3, 'large', 'small')", "TERNARY(age == nil, nil, score)",
            "TERNARY(isActive == YES, age, 'x')",
            "TERNARY(born < CAST(5, 'NSDate'), 1, 2)", "born",
        ]
    static let predicates =
        operands.flatMap { left in
            operands.flatMap { right in ["==", "!=", "<", "<=", ">", ">="].map { "(\(left)) \($0) (\(right))" } }
        } + [
            "age > 3 AND score < 2", "age > 3 OR NOT (score < 2)", "NOT (isActive == nil)", "born == nil",
            "TRUEPREDICATE AND age == 42", "1 / age == 1 OR score > 1",
        ]

    /// Rows with all combinations of the values.
    private static func eachRow(_ body: (Garage, ObjectID) throws -> Void) rethrows {
        let garage = Garage()
        for age in numbers[0].values {
            for isActive in numbers[1].values {
                for score in numbers[2].values {
                    for born in numbers[3].values {
                        for (name, value) in [("age", age), ("isActive", isActive), ("score", score), ("born", born)] {
                            garage.graph.set(name, of: garage.ben, to: value)
                        }
                        try body(garage, garage.ben)
                    }
                }
            }
        }
    }

    private static func row(_ slots: [PropertyHandle], _ garage: Garage, _ object: ObjectID) throws -> ScalarRow {
        var row = ScalarRow(slots: slots.count)
        for (slot, handle) in slots.enumerated() {
            row.values[slot] =
                switch try garage.graph.value(of: handle, in: object) {
                case .null: .null
                case .boolean(let value): .boolean(value)
                case .integer(let value): .integer(value)
                case .real(let value): .real(value)
                case .date(let value): .date(value)
                default: .unknown
                }
        }
        return row
    }

    @Test("an expression's value is that of the whole evaluation; errors are left to it", arguments: expressions)
    func values(text: String) throws {
        guard let compiled = try? Garage().compiler.compile(Expression(parsing: text)) else { return }
        let scalar = try #require(compiled.scalar, "\(text) has a scalar form")
        try Self.eachRow { garage, object in
            let whole = try? compiled.evaluate(garage.scope(object))
            switch scalar.evaluate(try Self.row(scalar.slots, garage, object)) {
            case .unknown: #expect(whole == nil, "\(text): the value was to be known")
            case .text(let place): #expect(whole == .string(scalar.texts[place]))
            case let answer:
                #expect(Self.isSame(answer.value, whole), "\(text): \(answer) is not \(String(describing: whole))")
            }
        }
    }

    private static func isSame(_ one: Value?, _ other: Value?) -> Bool {
        if case .real(let one)? = one, case .real(let other)? = other, one.isNaN { return other.isNaN }
        return one == other
    }

    @Test("a condition holds where it does in the whole evaluation", arguments: predicates)
    func conditions(text: String) throws {
        guard let compiled = try? Garage().compiler.compile(Predicate(parsing: text)) else { return }
        let scalar = try #require(compiled.scalar, "\(text) has a scalar form")
        try Self.eachRow { garage, object in
            let whole = try? compiled.evaluate(garage.scope(object))
            let answer = scalar.evaluate(try Self.row(scalar.slots, garage, object))
            #expect(answer == whole, "\(text)")
        }
    }

    @Test(
        "what needs more than numbers and dates of the row has no scalar form",
        arguments: [
            "name", "boss.age", "cars.@count", "cost + 1", "name == 'x'", "age IN {1, 2}", "extra", "uppercase('a')",
            "$manager.name", "age + cars.@count",
        ])
    func refused(text: String) throws {
        let compiler = Garage().compiler
        if let expression = try? compiler.compile(Expression(parsing: text)) { #expect(expression.scalar == nil) }
        if let predicate = try? compiler.compile(Predicate(parsing: text)) { #expect(predicate.scalar == nil) }
    }
}
