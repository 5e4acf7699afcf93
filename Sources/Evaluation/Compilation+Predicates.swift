import CausewayExpressions

/// A part of a predicate, made ready.
struct Condition: Sendable {
    var run: EvaluationTest
    /// The answer that it always gives; nil where it depends on the row.
    var constant: Bool?

    init(_ run: @escaping EvaluationTest) { self.run = run }

    init(constant: Bool) {
        run = { _ in Truth(constant) }
        self.constant = constant
    }
}

extension Compilation {
    func condition(_ predicate: Predicate) throws(CompilationError) -> Condition {
        switch predicate {
        case .literal(let value): return Condition(constant: value)
        case .not(let inner):
            let condition = try part("NOT", inner)
            if let constant = condition.constant { return Condition(constant: !constant) }
            return Condition { [run = condition.run] (scope) throws(EvaluationError) in try run(scope).negated }
        case .and(let terms): return try compound(terms, "AND", stopsAt: false)
        case .or(let terms): return try compound(terms, "OR", stopsAt: true)
        case .comparison(let comparison): return try self.comparison(comparison)
        }
    }

    /// From left to right, until the first term that decides. AND of nothing holds, OR of nothing doesn't.
    private func compound(
        _ terms: [Predicate], _ name: String, stopsAt deciding: Bool
    ) throws(CompilationError) -> Condition {
        var tests: [EvaluationTest] = []
        var isDecided = false
        for (index, term) in terms.enumerated() {
            let condition = try part("term \(index + 1) of \(name)", term)
            switch condition.constant {
            case deciding?: isDecided = true
            case nil: tests.append(condition.run)
            default: break
            }
        }
        if isDecided { return Condition(constant: deciding) }
        if tests.isEmpty { return Condition(constant: !deciding) }
        return Condition { [tests] (scope) throws(EvaluationError) in
            var answer = Truth(!deciding)
            for test in tests {
                switch try test(scope) {
                case Truth(deciding): return Truth(deciding)
                case .unknown: answer = .unknown
                case .yes, .no: break
                }
            }
            return answer
        }
    }

    private func comparison(_ comparison: Predicate.Comparison) throws(CompilationError) -> Condition {
        let symbol = comparison.operation.symbol
        let left = try part("left side of \(symbol)", comparison.left)
        let right = try part("right side of \(symbol)", comparison.right)
        var leftType = left.type
        if comparison.modifier != .direct {
            guard let element = left.type.element else {
                throw CompilationError(
                    .type, "ANY, ALL and NONE need a collection on the left, and this is \(left.type.summary)")
            }
            leftType = element
        }
        let check = ComparisonCheck(operation: comparison.operation, options: comparison.options)
        try check.check(leftType, right.type)
        let holds = try Comparer.make(comparison.operation, comparison.options, constant: right.constant)
        let compare =
            switch nulls {
            case .memory: Comparer.twoValued(holds)
            case .sql:
                Comparer.threeValued(
                    comparison.operation, holds,
                    literals: (isLiteral(comparison.left), isLiteral(comparison.right)), constant: right.constant)
            }
        let (first, second) = (left.run, right.run)
        switch comparison.modifier {
        case .direct:
            return Condition { (scope) throws(EvaluationError) in try compare(first(scope), second(scope)) }
        case .any, .all:
            let deciding = comparison.modifier == .any
            return Condition { (scope) throws(EvaluationError) in
                let members = try Self.members(first(scope), of: "ANY, ALL or NONE")
                var answer = Truth(comparison.modifier == .all)
                guard !members.isEmpty else { return answer }
                let other = try second(scope)
                for member in members {
                    switch try compare(member, other) {
                    case Truth(deciding): return Truth(deciding)
                    case .unknown: answer = .unknown
                    case .yes, .no: break
                    }
                }
                return answer
            }
        }
    }

    /// A literal, or a variable of the request.
    private func isLiteral(_ expression: Expression) -> Bool {
        switch expression {
        case .constant: true
        case .variable(let name):
            !["source", "destination"].contains(name) && !locals.contains { $0.name == name }
        default: false
        }
    }
}
