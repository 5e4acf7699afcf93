import CausewayExpressions

/// The comparison operators, made ready: options, patterns and lists are prepared once.
///
/// Strings are compared byte by byte unless `[c]` or `[d]` fold them. `[n]` means just that and `[l]` has no meaning
/// without a device's language, so both change nothing; where the order would depend on it, `[l]` is refused.
enum Comparer {
    /// In memory.
    typealias Holds = @Sendable (Value, Value) throws(EvaluationError) -> Bool
    typealias Compare = @Sendable (Value, Value) throws(EvaluationError) -> Truth

    /// Lists after IN that are longer are looked up in a table.
    private static let shortList = 8

    static func twoValued(_ holds: @escaping Holds) -> Compare {
        { (left, right) throws(EvaluationError) in Truth(try holds(left, right)) }
    }

    /// The comparison as SQLite makes it. `holds` compares values that aren't NULL; `literals` says which side is a
    /// literal or a variable, with which `=` and `!=` are `IS NULL` and `IS NOT NULL` if it is NULL; `constant` is the
    /// right side where it's always the same.
    static func threeValued(
        _ operation: ComparisonOperator, _ holds: @escaping Holds, literals: (left: Bool, right: Bool), constant: Value?
    ) -> Compare {
        switch operation {
        case .equalTo, .notEqualTo:
            return { (left, right) throws(EvaluationError) in
                let isNullTest = literals.left && left.isNull || literals.right && right.isNull
                if !isNullTest, left.isNull || right.isNull { return .unknown }
                return Truth(try holds(left, right))
            }
        case .in:
            let holdsNull = constant.map(Self.holdsNull)
            return { (member, container) throws(EvaluationError) in
                try contains(container, member, holdsNull: holdsNull) { () throws(EvaluationError) in
                    try holds(member, container)
                }
            }
        case .contains:
            return { (container, member) throws(EvaluationError) in
                try contains(container, member, holdsNull: nil) { () throws(EvaluationError) in
                    try holds(container, member)
                }
            }
        case .between:
            return { (value, bounds) throws(EvaluationError) in
                guard case .collection(let members) = bounds, members.count == 2, value.isNull || holdsNull(bounds)
                else { return bounds.isNull ? .unknown : Truth(try holds(value, bounds)) }
                // `value >= low AND value <= high`: the bound that is there may rule the value out.
                let isTooLow = try ValueComparison.order(value, members[0]) == .less
                let isTooHigh = try ValueComparison.order(value, members[1]) == .greater
                return isTooLow || isTooHigh ? .no : .unknown
            }
        default:
            return { (left, right) throws(EvaluationError) in
                left.isNull || right.isNull ? .unknown : Truth(try holds(left, right))
            }
        }
    }

    /// An empty list doesn't contain NULL; any other may, and a list with NULL in it may contain anything.
    private static func contains(
        _ container: Value, _ member: Value, holdsNull: Bool?, _ holds: () throws(EvaluationError) -> Bool
    ) throws(EvaluationError) -> Truth {
        if container == .collection([]) { return .no }
        if container.isNull || member.isNull { return .unknown }
        if try holds() { return .yes }
        return holdsNull ?? Self.holdsNull(container) ? .unknown : .no
    }

    private static func holdsNull(_ value: Value) -> Bool {
        if case .collection(let members) = value { members.contains { $0.isNull } } else { false }
    }

    /// Prepares one comparison in memory; `constant` is the right side where it's always the same. Throws
    /// `CompilationError` for a pattern that isn't a regular expression.
    static func make(
        _ operation: ComparisonOperator, _ options: Predicate.Options, constant: Value?
    ) throws(CompilationError) -> Holds {
        switch operation {
        case .matches: return try matches(options, constant)
        case .like: return like(options, constant)
        case .in where constant != nil && options.isDisjoint(with: folding):
            if case .collection(let members)? = constant, members.count > shortList {
                let keys = Set(members.map(DistinctKey.init))
                return { (member, _) throws(EvaluationError) in keys.contains(DistinctKey(member)) }
            }
        default: break
        }
        let compare = plain(operation)
        guard !options.isDisjoint(with: folding) else { return compare }
        let folded = constant.map { fold($0, options) }
        return { (left, right) throws(EvaluationError) in
            try compare(fold(left, options), folded ?? fold(right, options))
        }
    }

    private static let folding: Predicate.Options = [.caseInsensitive, .diacriticInsensitive]

    private static func fold(_ value: Value, _ options: Predicate.Options) -> Value {
        switch value {
        case .string(let text): .string(TextFolding.fold(text, options))
        case .collection(let members): .collection(members.map { fold($0, options) })
        default: value
        }
    }

    private static func plain(_ operation: ComparisonOperator) -> Holds {
        switch operation {
        case .equalTo: return { (left, right) throws(EvaluationError) in ValueComparison.equal(left, right) }
        case .notEqualTo: return { (left, right) throws(EvaluationError) in !ValueComparison.equal(left, right) }
        case .lessThan: return ordered { $0 == .less }
        case .lessThanOrEqualTo: return ordered { $0 != .greater }
        case .greaterThan: return ordered { $0 == .greater }
        case .greaterThanOrEqualTo: return ordered { $0 != .less }
        case .between: return between
        case .in: return { (left, right) throws(EvaluationError) in try contains(right, left) }
        case .contains: return { (left, right) throws(EvaluationError) in try contains(left, right) }
        case .beginsWith: return strings("BEGINSWITH", TextSearch.begins)
        case .endsWith: return strings("ENDSWITH", TextSearch.ends)
        case .like, .matches:
            // Made above.
            return { (_, _) throws(EvaluationError) in false }
        }
    }

    private static func ordered(_ holds: @escaping @Sendable (Order) -> Bool) -> Holds {
        { (left, right) throws(EvaluationError) in try ValueComparison.order(left, right).map(holds) ?? false }
    }

    private static let between: Holds = { (value, bounds) throws(EvaluationError) in
        if bounds.isNull { return false }
        guard case .collection(let bounds) = bounds, bounds.count == 2 else {
            throw EvaluationError(.type, "BETWEEN needs two bounds.")
        }
        guard let low = try ValueComparison.order(value, bounds[0]), low != .less,
            let high = try ValueComparison.order(value, bounds[1])
        else { return false }
        return high != .greater
    }

    /// NULL contains nothing; a collection may contain NULL, a string can't.
    private static func contains(_ container: Value, _ member: Value) throws(EvaluationError) -> Bool {
        switch (container, member) {
        case (.null, _): return false
        case (.collection(let members), _): return members.contains { ValueComparison.equal($0, member) }
        case (.string, .null): return false
        case (.string(let text), .string(let piece)): return TextSearch.contains(text, piece)
        default:
            throw EvaluationError(
                .type, "\(container.kindName) can't contain \(member.kindName): search a collection or a string.")
        }
    }

    /// NULL on either side: no.
    private static func strings(
        _ name: String, _ holds: @escaping @Sendable (String, String) -> Bool
    ) -> Holds {
        { (left, right) throws(EvaluationError) in
            guard let (text, other) = try texts(name, left, right) else { return false }
            return holds(text, other)
        }
    }

    private static func texts(
        _ name: String, _ left: Value, _ right: Value
    ) throws(EvaluationError) -> (String, String)? {
        switch (left, right) {
        case (.string(let text), .string(let other)): return (text, other)
        case (.null, _), (_, .null): return nil
        default:
            throw EvaluationError(
                .type, "\(name) compares strings, not \(left.kindName) and \(right.kindName).")
        }
    }

    private static func like(_ options: Predicate.Options, _ constant: Value?) -> Holds {
        var prepared: LikePattern?
        if case .string(let pattern)? = constant { prepared = LikePattern(TextFolding.fold(pattern, options)) }
        return { [prepared] (left, right) throws(EvaluationError) in
            guard let (text, pattern) = try texts("LIKE", left, right) else { return false }
            let like = prepared ?? LikePattern(TextFolding.fold(pattern, options))
            return like.matches(TextFolding.fold(text, options))
        }
    }

    private static func matches(_ options: Predicate.Options, _ constant: Value?) throws(CompilationError) -> Holds {
        var prepared: RegularExpression?
        if case .string(let pattern)? = constant {
            do throws(RegularExpressionError) {
                prepared = try expression(pattern, options)
            } catch {
                throw CompilationError(
                    .pattern,
                    "The regular expression can't be used: \(error.message), at its character "
                        + "\(error.offset + 1)")
            }
        }
        return { [prepared] (left, right) throws(EvaluationError) in
            guard let (text, pattern) = try texts("MATCHES", left, right) else { return false }
            let compiled: RegularExpression
            if let prepared {
                compiled = prepared
            } else {
                do throws(RegularExpressionError) {
                    compiled = try expression(pattern, options)
                } catch {
                    throw EvaluationError(.type, "The regular expression can't be used: \(error.message).")
                }
            }
            let stripped = options.contains(.diacriticInsensitive) ? TextFolding.withoutDiacritics(text) : text
            return try compiled.matches(stripped)
        }
    }

    private static func expression(
        _ pattern: String, _ options: Predicate.Options
    ) throws(RegularExpressionError) -> RegularExpression {
        let stripped = options.contains(.diacriticInsensitive) ? TextFolding.withoutDiacritics(pattern) : pattern
        return try RegularExpression(stripped, caseInsensitive: options.contains(.caseInsensitive))
    }
}
