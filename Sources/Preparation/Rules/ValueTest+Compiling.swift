import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Compiles the validation predicates of one attribute: what Xcode writes (`SELF >= 1`, `length <= 20`,
/// `SELF MATCHES '…'`), and compounds, `BETWEEN` and `IN` of the same, as code-built models have them.
struct ValueTestCompiler {
    /// Deeper predicates aren't checked; real ones nest two deep.
    private static let deepestNesting = 16
    /// Longer `IN` lists aren't checked: each element is a parameter of the scan.
    private static let longestList = 64

    let attribute: Attribute
    /// `Entity.attribute`, for errors.
    let place: String

    /// nil if the predicate has none of the known forms.
    ///
    /// - Throws: `.plan` where a regular expression can't be compiled.
    func test(_ predicate: Predicate) throws(EngineError) -> ValueTest? { try test(predicate, depth: 0) }

    private func test(_ predicate: Predicate, depth: Int) throws(EngineError) -> ValueTest? {
        guard depth < Self.deepestNesting else { return nil }
        switch predicate {
        case .literal(let answer): return .always(answer)
        case .comparison(let comparison): return try test(comparison)
        case .not(let inner): return try test(inner, depth: depth + 1).map { .not($0) }
        case .and(let terms): return try tests(terms, depth: depth).map { .all($0) }
        case .or(let terms): return try tests(terms, depth: depth).map { .any($0) }
        }
    }

    private func tests(_ terms: [Predicate], depth: Int) throws(EngineError) -> [ValueTest]? {
        guard terms.count <= Self.longestList else { return nil }
        var result: [ValueTest] = []
        for term in terms {
            guard let test = try test(term, depth: depth + 1) else { return nil }
            result.append(test)
        }
        return result
    }

    private func test(_ comparison: Predicate.Comparison) throws(EngineError) -> ValueTest? {
        guard comparison.modifier == .direct else { return nil }
        if comparison.operation == .matches { return try pattern(comparison) }
        guard comparison.options.isEmpty else { return nil }
        if let subject = subject(comparison.left) {
            switch comparison.operation {
            case .between:
                guard let bounds = list(comparison.right), bounds.count == 2,
                    let low = self.comparison(subject, .greaterOrEqual, bounds[0]),
                    let high = self.comparison(subject, .lessOrEqual, bounds[1])
                else { return nil }
                return .all([low, high])
            case .in:
                guard let members = list(comparison.right), members.count <= Self.longestList else { return nil }
                let tests = members.compactMap { self.comparison(subject, .equal, $0) }
                return tests.count == members.count ? .any(tests) : nil
            default:
                guard let relation = Self.relation(comparison.operation), case .constant(let value) = comparison.right
                else { return nil }
                return self.comparison(subject, relation, value)
            }
        }
        guard let subject = subject(comparison.right), case .constant(let value) = comparison.left,
            let relation = Self.relation(comparison.operation)
        else { return nil }
        return self.comparison(subject, relation.mirrored, value)
    }

    private func pattern(_ comparison: Predicate.Comparison) throws(EngineError) -> ValueTest? {
        guard attribute.type == .string, subject(comparison.left) == .value,
            case .constant(.string(let pattern)) = comparison.right,
            comparison.options.isSubset(of: .caseInsensitive)
        else { return nil }
        do throws(RegularExpressionError) {
            return .matches(
                try RegularExpression(pattern, caseInsensitive: comparison.options.contains(.caseInsensitive)))
        } catch {
            throw EngineError(
                .plan, "\(place): the regular expression of its validation can't be used: \(error.message)",
                remedy: "rewrite it, or remove it from the model")
        }
    }

    private func subject(_ expression: Expression) -> ValueTest.Subject? {
        switch expression {
        case .evaluatedObject, .key("SELF"), .key("self"): .value
        case .key("length"), .keyPath(operand: .key("SELF"), path: "length"), .key("SELF.length"), .key("self.length"):
            attribute.type == .string ? .length : nil
        default: nil
        }
    }

    private func list(_ expression: Expression) -> [Constant]? {
        switch expression {
        case .constant(.array(let elements)): return elements
        case .aggregate(let elements):
            var constants: [Constant] = []
            for element in elements {
                guard case .constant(let constant) = element else { return nil }
                constants.append(constant)
            }
            return constants
        default: return nil
        }
    }

    private static func relation(_ operation: ComparisonOperator) -> ValueTest.Relation? {
        switch operation {
        case .lessThan: .less
        case .lessThanOrEqualTo: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEqualTo: .greaterOrEqual
        case .equalTo: .equal
        case .notEqualTo: .notEqual
        default: nil
        }
    }

    private func comparison(
        _ subject: ValueTest.Subject, _ relation: ValueTest.Relation, _ constant: Constant
    ) -> ValueTest? {
        switch subject {
        case .length:
            guard case .integer(let length)? = number(constant) else { return nil }
            // No length is negative: against a negative bound the answer is known.
            guard length >= 0 else { return .always(relation.holds(0, length)) }
            return .compare(.length, relation, .integer(min(length, ValueTest.longestLength)))
        case .value:
            if attribute.type == .string {
                // Core Data orders strings by a collation; only equality is the same everywhere.
                guard case .string(let text) = constant, relation == .equal || relation == .notEqual else { return nil }
                return .compare(.value, relation, .text(text))
            }
            guard attribute.type.isComparedAsNumber else { return nil }
            return number(constant).map { .compare(.value, relation, $0) }
        }
    }

    /// A number as the column's values compare with it: never truncated, but rounded to a float's precision where the
    /// values are.
    private func number(_ constant: Constant) -> CellValue? {
        func real(_ value: Double) -> CellValue? {
            guard !value.isNaN else { return nil }
            if attribute.type == .float { return .real(Double(Float(value))) }
            return Int64(exactly: value).map { .integer($0) } ?? .real(value)
        }
        switch constant {
        case .boolean(let value): return .integer(value ? 1 : 0)
        case .integer(let value): return attribute.type == .float ? real(Double(value)) : .integer(value)
        case .real(let value), .date(let value): return real(value)
        case .decimal(let text): return Int64(text).map { .integer($0) } ?? Double(text).flatMap(real)
        default: return nil
        }
    }
}

extension AttributeType {
    fileprivate var isComparedAsNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date: true
        default: false
        }
    }
}
