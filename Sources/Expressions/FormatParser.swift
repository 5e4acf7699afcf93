/// Parses Apple's predicate format strings by precedence climbing.
///
/// Conditions and expressions share one grammar, since after `(` either may follow: every step yields a `Term`, and a
/// caller that needs one kind asks for it. Nothing is parsed twice, so time is linear in the text.
///
/// Levels, loosest first: `OR`; `AND`; `NOT`; comparisons, which don't chain; `UNION INTERSECT MINUS`; `+ -`; `* /`;
/// `**`; the sign; `.key` and `[index]`. All binary ones group from the left.
struct FormatParser {
    /// What was parsed, with the height of its tree: long chains make deep trees without deep recursion.
    struct Term {
        enum Kind {
            case expression(Expression)
            case predicate(Predicate)
        }
        var kind: Kind
        var height: Int
        var start: Int
    }

    enum Level: Comparable {
        case or, and, comparison, set, sum, product, power, operand
    }

    private var lexer: FormatLexer
    private(set) var token: FormatToken
    /// Where the token before `token` ends; a dot or bracket counts as postfix only there.
    private(set) var previousEnd = 0
    private var depth = 0

    init(_ text: String) throws(ExpressionSyntaxError) {
        guard text.utf8.count <= ExpressionLimits.textLength else {
            throw ExpressionSyntaxError(
                .limitExceeded, "The text is longer than \(ExpressionLimits.textLength) bytes.",
                offset: ExpressionLimits.textLength)
        }
        lexer = FormatLexer(text)
        token = try lexer.next()
    }

    // MARK: - Whole texts

    mutating func wholeExpression() throws(ExpressionSyntaxError) -> Expression {
        let term = try whole()
        return try expression(term)
    }

    mutating func wholePredicate() throws(ExpressionSyntaxError) -> Predicate {
        let term = try whole()
        return try predicate(term)
    }

    private mutating func whole() throws(ExpressionSyntaxError) -> Term {
        let term = try term(.or)
        guard token.kind == .end else { throw unexpected("an operator or the end") }
        return term
    }

    // MARK: - Binary operators

    /// A term whose operators all bind at least as tightly as `level`.
    mutating func term(_ level: Level) throws(ExpressionSyntaxError) -> Term {
        depth += 1
        defer { depth -= 1 }
        guard depth <= ExpressionLimits.depth else { throw tooDeep(at: token.range.lowerBound) }
        var left = try prefixed()
        while let infix = infix(), infix.level >= level {
            left = try combine(left, infix)
        }
        return left
    }

    private mutating func combine(_ left: Term, _ infix: Infix) throws(ExpressionSyntaxError) -> Term {
        switch infix {
        case .and: return try compound(left, .and)
        case .or: return try compound(left, .or)
        case .comparison(let operation):
            let comparison = try comparison(left, operation, modifier: .direct)
            if case .comparison? = self.infix() {
                throw ExpressionSyntaxError(
                    .unexpected, "Comparisons don't chain: join them with AND.", offset: token.range.lowerBound,
                    expected: "AND, OR or the end")
            }
            return comparison
        case .set(let operation):
            let (first, second, height) = try operands(left, .sum)
            return Term(kind: .expression(.set(operation, first, second)), height: height, start: left.start)
        case .arithmetic(let name, let level):
            // The right side binds tighter, which makes the operators group from the left.
            let tighter: Level = level == .sum ? .product : level == .product ? .power : .operand
            let (first, second, height) = try operands(left, tighter)
            let call = Expression.function(operand: nil, name: name, arguments: [first, second])
            return Term(kind: .expression(call), height: height, start: left.start)
        }
    }

    private mutating func operands(
        _ left: Term, _ level: Level
    ) throws(ExpressionSyntaxError) -> (Expression, Expression, Int) {
        let first = try expression(left)
        try advance()
        let right = try term(level)
        return (first, try expression(right), try height(over: [left, right], at: left.start))
    }

    /// `a AND b AND c` is one condition with three terms; `(a AND b) AND c` isn't.
    private mutating func compound(_ left: Term, _ level: Level) throws(ExpressionSyntaxError) -> Term {
        var terms = [left]
        var predicates = [try predicate(left)]
        while let infix = infix(), infix.level == level {
            try advance()
            let next = try term(level == .or ? .and : .comparison)
            predicates.append(try predicate(next))
            terms.append(next)
        }
        return try made(.predicate(level == .or ? .or(predicates) : .and(predicates)), of: terms, from: left.start)
    }

    /// From the operator on.
    mutating func comparison(
        _ left: Term, _ operation: ComparisonOperator, modifier: Predicate.Modifier
    ) throws(ExpressionSyntaxError) -> Term {
        let first = try expression(left)
        try advance()
        let options = try options()
        let right = try term(.set)
        let comparison = Predicate.Comparison(
            first, operation, try expression(right), modifier: modifier, options: options)
        return try made(.predicate(.comparison(comparison)), of: [left, right], from: left.start)
    }

    /// `[cdnl]`, in any order.
    private mutating func options() throws(ExpressionSyntaxError) -> Predicate.Options {
        guard token.isSymbol("[") else { return [] }
        try advance()
        guard case .name(let letters, isKey: false) = token.kind else { throw unexpected("options like [cd]") }
        var options: Predicate.Options = []
        for letter in letters.lowercased() {
            guard let option = Predicate.Options.letters.first(where: { $0.letter == letter })?.option else {
                throw unexpected("options out of c, d, n and l")
            }
            options.insert(option)
        }
        try advance()
        try expect("]")
        return options
    }

    // MARK: - Kinds and heights

    func expression(_ term: Term) throws(ExpressionSyntaxError) -> Expression {
        guard case .expression(let expression) = term.kind else {
            throw ExpressionSyntaxError(
                .unexpected, "Expected an expression, found a condition.", offset: term.start,
                expected: "an expression")
        }
        return expression
    }

    func predicate(_ term: Term) throws(ExpressionSyntaxError) -> Predicate {
        guard case .predicate(let predicate) = term.kind else {
            throw ExpressionSyntaxError(
                .unexpected, "Expected a condition, found an expression: compare it with something.",
                offset: term.start, expected: "a condition")
        }
        return predicate
    }

    func made(_ kind: Term.Kind, of parts: [Term], from start: Int) throws(ExpressionSyntaxError) -> Term {
        Term(kind: kind, height: try height(over: parts, at: start), start: start)
    }

    func height(over terms: [Term], at offset: Int) throws(ExpressionSyntaxError) -> Int {
        let height = 1 + (terms.map(\.height).max() ?? 0)
        guard height <= ExpressionLimits.depth else { throw tooDeep(at: offset) }
        return height
    }

    private func tooDeep(at offset: Int) -> ExpressionSyntaxError {
        ExpressionSyntaxError(
            .limitExceeded, "The text nests deeper than \(ExpressionLimits.depth) levels.", offset: offset)
    }

    // MARK: - Tokens

    mutating func advance() throws(ExpressionSyntaxError) {
        previousEnd = token.range.upperBound
        token = try lexer.next()
    }

    /// Whether the token after the current one is an opening bracket.
    func followsBracket() -> Bool {
        var ahead = lexer
        return (try? ahead.next())?.isSymbol("(") == true
    }

    mutating func expect(_ symbol: String) throws(ExpressionSyntaxError) {
        guard token.isSymbol(symbol) else { throw unexpected("“\(symbol)”") }
        try advance()
    }

    func unexpected(_ expected: String) -> ExpressionSyntaxError {
        ExpressionSyntaxError(
            .unexpected, "Expected \(expected), found \(token.summary).", offset: token.range.lowerBound,
            expected: expected)
    }
}
