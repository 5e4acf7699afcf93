import CausewayExpressions

/// The comparison operators, made ready: options, patterns and lists are prepared once.
///
/// Strings are compared byte by byte unless `[c]` or `[d]` fold them. `[n]` means just that and `[l]` has no meaning
/// without a device's language, so both change nothing; where the order would depend on it, `[l]` is refused.
enum Comparer {
    typealias Compare = @Sendable (Value, Value) throws(EvaluationError) -> Bool

    /// Lists after IN that are longer are looked up in a table.
    private static let shortList = 8

    /// Prepares one comparison; `constant` is the right side where it's always the same. Throws `CompilationError` for
    /// a pattern that isn't a regular expression.
    static func make(
        _ operation: ComparisonOperator, _ options: Predicate.Options, constant: Value?
    ) throws(CompilationError) -> Compare {
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

    private static func plain(_ operation: ComparisonOperator) -> Compare {
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

    private static func ordered(_ holds: @escaping @Sendable (Order) -> Bool) -> Compare {
        { (left, right) throws(EvaluationError) in try ValueComparison.order(left, right).map(holds) ?? false }
    }

    private static let between: Compare = { (value, bounds) throws(EvaluationError) in
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
    ) -> Compare {
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

    private static func like(_ options: Predicate.Options, _ constant: Value?) -> Compare {
        var prepared: LikePattern?
        if case .string(let pattern)? = constant { prepared = LikePattern(TextFolding.fold(pattern, options)) }
        return { [prepared] (left, right) throws(EvaluationError) in
            guard let (text, pattern) = try texts("LIKE", left, right) else { return false }
            let like = prepared ?? LikePattern(TextFolding.fold(pattern, options))
            return like.matches(TextFolding.fold(text, options))
        }
    }

    private static func matches(_ options: Predicate.Options, _ constant: Value?) throws(CompilationError) -> Compare {
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
