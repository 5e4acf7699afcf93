import CausewayExpressions
import CausewayModel

/// Compiles what has a scalar form; whatever it doesn't know has none. Types were checked before.
struct ScalarCompilation {
    private enum Kind {
        case number, date, text
        /// Of a choice between several, or NULL.
        case any

        /// Whether it can stand where a number must.
        var isNumber: Bool { self == .number || self == .any }
    }

    /// Where `$source` and bare keys are read.
    private let source: (schema: ModelSchema, entity: Int)
    private let evaluatesSource: Bool
    private let nulls: NullRule
    private(set) var slots: [PropertyHandle] = []
    private(set) var texts: [String] = []

    /// nil where there is no row to read.
    init?(_ compiler: ExpressionCompiler, nulls: NullRule) {
        func object(_ type: VariableType?) -> (ModelSchema, Int)? {
            guard case .object(let schema, let name)? = type, let number = schema.number(of: name) else { return nil }
            return (schema, number)
        }
        let evaluated = object(compiler.evaluated)
        guard let found = object(compiler.variables["source"]) ?? evaluated else { return nil }
        (source, self.nulls) = (found, nulls)
        // Both are the row of the mapping, where both are there.
        evaluatesSource = evaluated.map { $0.1 == found.1 } ?? false
    }

    mutating func program(_ expression: Expression) -> ScalarProgram<Scalar>? {
        guard let (run, _) = step(expression) else { return nil }
        return ScalarProgram(slots: slots, texts: texts, run: run)
    }

    mutating func program(_ predicate: Predicate) -> ScalarProgram<Bool?>? {
        guard let run = test(predicate) else { return nil }
        return ScalarProgram(slots: slots, texts: texts) { row in run(row).map { $0 == .yes } }
    }

    // MARK: - Expressions

    private mutating func step(_ expression: Expression) -> (ScalarStep, Kind)? {
        switch expression {
        case .constant(let constant): return self.constant(constant)
        case .keyPath(.variable("source"), let name): return attribute(name)
        case .keyPath(.evaluatedObject, let name): return evaluatesSource ? attribute(name) : nil
        case .function(nil, let name, let arguments): return calculation(name, arguments)
        case .conditional(let predicate, let first, let second):
            guard let test = test(predicate), let (one, kind) = step(first), let (other, otherKind) = step(second)
            else { return nil }
            let run: ScalarStep = { row in
                switch test(row) {
                case .yes?: one(row)
                case .no?, .unknown?: other(row)
                case nil: .unknown
                }
            }
            return (run, kind == otherKind ? kind : .any)
        default: return nil
        }
    }

    private mutating func constant(_ constant: Constant) -> (ScalarStep, Kind)? {
        switch constant {
        case .null: return ({ _ in .null }, .any)
        case .boolean(let value): return ({ _ in .boolean(value) }, .number)
        case .integer(let value): return ({ _ in .integer(value) }, .number)
        case .real(let value): return ({ _ in .real(value) }, .number)
        case .date(let value): return ({ _ in .date(value) }, .date)
        case .string(let text):
            let place = texts.count
            texts.append(text)
            return ({ _ in .text(place) }, .text)
        default: return nil
        }
    }

    private mutating func attribute(_ name: String) -> (ScalarStep, Kind)? {
        guard let handle = source.schema.handle(of: name),
            case .attribute(let attribute)? = source.schema.property(handle, of: source.entity), !attribute.isTransient
        else { return nil }
        let kind: Kind
        switch attribute.type {
        case .boolean, .integer16, .integer32, .integer64, .double, .float: kind = .number
        case .date: kind = .date
        default: return nil
        }
        let slot = slots.firstIndex(of: handle) ?? slots.count
        if slot == slots.count { slots.append(handle) }
        return ({ row in row.values[slot] }, kind)
    }

    private mutating func calculation(_ name: String, _ arguments: [Expression]) -> (ScalarStep, Kind)? {
        let operations: [Number.Operation] = [.add, .subtract, .multiply, .divide, .modulus]
        guard let operation = operations.first(where: { $0.name == name }), arguments.count == 2,
            let (left, leftKind) = step(arguments[0]), let (right, rightKind) = step(arguments[1]),
            leftKind.isNumber, rightKind.isNumber
        else { return nil }
        let run: ScalarStep = { row in
            let (one, other) = (left(row), right(row))
            switch (one, other) {
            case (.unknown, _), (_, .unknown): return .unknown
            case (.null, _), (_, .null): return .null
            default: break
            }
            guard let one = one.number, let other = other.number else { return .unknown }
            // What fails is told by the whole evaluation.
            return (try? Number.apply(operation, one, other)).map { Scalar($0) } ?? .unknown
        }
        return (run, .number)
    }

    // MARK: - Predicates

    private mutating func test(_ predicate: Predicate) -> ScalarTest? {
        switch predicate {
        case .literal(let value): return { _ in Truth(value) }
        case .not(let inner):
            guard let test = test(inner) else { return nil }
            return { row in test(row)?.negated }
        case .and(let terms): return compound(terms, stopsAt: false)
        case .or(let terms): return compound(terms, stopsAt: true)
        case .comparison(let comparison): return self.comparison(comparison)
        }
    }

    private mutating func compound(_ terms: [Predicate], stopsAt deciding: Bool) -> ScalarTest? {
        var tests: [ScalarTest] = []
        for term in terms {
            guard let test = test(term) else { return nil }
            tests.append(test)
        }
        return { [tests] row in
            var answer = Truth(!deciding)
            for test in tests {
                switch test(row) {
                case nil: return nil
                case Truth(deciding)?: return Truth(deciding)
                case .unknown?: answer = .unknown
                case .yes?, .no?: break
                }
            }
            return answer
        }
    }

    private mutating func comparison(_ comparison: Predicate.Comparison) -> ScalarTest? {
        guard comparison.modifier == .direct, let (left, leftKind) = step(comparison.left),
            let (right, rightKind) = step(comparison.right), leftKind != .text, rightKind != .text
        else { return nil }
        let nulls = nulls
        func ordered(_ holds: @escaping @Sendable (Order) -> Bool) -> ScalarTest {
            { row in Scalar.ordered(left(row), right(row), nulls, holds) }
        }
        let isNullTest = [comparison.left, comparison.right].contains(.constant(.null))
        let equality = isNullTest ? .memory : nulls
        switch comparison.operation {
        case .equalTo: return { row in Scalar.equal(left(row), right(row), equality) }
        case .notEqualTo: return { row in Scalar.equal(left(row), right(row), equality)?.negated }
        case .lessThan: return ordered { $0 == .less }
        case .lessThanOrEqualTo: return ordered { $0 != .greater }
        case .greaterThan: return ordered { $0 == .greater }
        case .greaterThanOrEqualTo: return ordered { $0 != .less }
        default: return nil
        }
    }
}
