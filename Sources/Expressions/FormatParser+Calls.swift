// Everything that has arguments in brackets.

extension FormatParser {
    /// The calls whose name is a keyword; nil for another name, and for one that no bracket follows.
    mutating func keywordCall(_ keyword: String, from start: Int) throws(ExpressionSyntaxError) -> Term? {
        switch keyword {
        case "function", "cast", "subquery":
            try advance()
            guard token.isSymbol("(") else { throw unexpected("“(”") }
        case "ternary", "fetch":
            // Not among Apple's reserved words, so a key may have that name.
            guard followsBracket() else { return nil }
            try advance()
        default: return nil
        }
        try expect("(")
        let arguments = try list(closing: ")")
        let result: Expression
        switch keyword {
        case "function": result = try function(arguments, from: start)
        case "cast": result = try cast(arguments, from: start)
        case "subquery": result = try subquery(arguments, from: start)
        case "ternary":
            try require(3, arguments, "TERNARY(condition, value, other value)", from: start)
            result = .conditional(
                try predicate(arguments[0]), try expression(arguments[1]), try expression(arguments[2]))
        default:
            try require(3, arguments, "FETCH(request, context, YES or NO)", from: start)
            guard case .constant(.boolean(let countOnly)) = try expression(arguments[2]) else {
                throw ExpressionSyntaxError(
                    .unexpected, "Expected YES or NO.", offset: arguments[2].start, expected: "YES or NO")
            }
            result = .fetch(
                request: try expression(arguments[0]), context: try expression(arguments[1]), countOnly: countOnly)
        }
        return try made(.expression(result), of: arguments, from: start)
    }

    /// `now()`, `count:(pages)`, and `sum(x)`, which means `sum:(x)`.
    mutating func builtIn(_ name: String, from start: Int) throws(ExpressionSyntaxError) -> Term {
        try expect("(")
        let arguments = try list(closing: ")")
        let selector = arguments.isEmpty || name.contains(":") ? name : name + ":"
        let call = Expression.function(operand: nil, name: selector, arguments: try expressions(arguments))
        return try made(.expression(call), of: arguments, from: start)
    }

    /// Terms separated by commas, up to and including the bracket.
    mutating func list(closing bracket: String) throws(ExpressionSyntaxError) -> [Term] {
        var terms: [Term] = []
        while !token.isSymbol(bracket) || !terms.isEmpty {
            terms.append(try term(.or))
            guard token.isSymbol(",") else { break }
            try advance()
        }
        guard token.isSymbol(bracket) else { throw unexpected("“,” or “\(bracket)”") }
        try advance()
        return terms
    }

    func expressions(_ terms: [Term]) throws(ExpressionSyntaxError) -> [Expression] {
        var expressions: [Expression] = []
        expressions.reserveCapacity(terms.count)
        for term in terms { expressions.append(try expression(term)) }
        return expressions
    }

    // MARK: - One call each

    private func function(_ arguments: [Term], from start: Int) throws(ExpressionSyntaxError) -> Expression {
        guard arguments.count >= 2 else { throw wrongArguments("FUNCTION(target, \"selector:\", argument)", start) }
        guard case .constant(.string(let name)) = try expression(arguments[1]) else {
            throw ExpressionSyntaxError(
                .unexpected, "Expected the selector as a string.", offset: arguments[1].start, expected: "a string")
        }
        let target = try expression(arguments[0])
        // Built-ins have no target; mapping models write that as nil.
        return .function(
            operand: target == .constant(.null) ? nil : target, name: name,
            arguments: try expressions(Array(arguments.dropFirst(2))))
    }

    private func subquery(_ arguments: [Term], from start: Int) throws(ExpressionSyntaxError) -> Expression {
        try require(3, arguments, "SUBQUERY(collection, $variable, condition)", from: start)
        guard case .variable(let variable) = try expression(arguments[1]) else {
            throw ExpressionSyntaxError(
                .unexpected, "Expected a variable.", offset: arguments[1].start, expected: "a variable")
        }
        return .subquery(
            collection: try expression(arguments[0]), variable: variable, predicate: try predicate(arguments[2]))
    }

    /// A literal's cast is the literal of that type, which is how dates and the like are written.
    private func cast(_ arguments: [Term], from start: Int) throws(ExpressionSyntaxError) -> Expression {
        try require(2, arguments, "CAST(value, \"type\")", from: start)
        let value = try expression(arguments[0])
        let type = try expression(arguments[1])
        if case .constant(let constant) = value, case .constant(.string(let name)) = type,
            let folded = CastLiteral.fold(constant, to: name)
        {
            return .constant(folded)
        }
        return .function(operand: nil, name: "castObject:toType:", arguments: [value, type])
    }

    private func require(
        _ count: Int, _ arguments: [Term], _ usage: String, from start: Int
    ) throws(ExpressionSyntaxError) {
        guard arguments.count == count else { throw wrongArguments(usage, start) }
    }

    private func wrongArguments(_ usage: String, _ start: Int) -> ExpressionSyntaxError {
        ExpressionSyntaxError(.unexpected, "Expected \(usage).", offset: start, expected: usage)
    }
}
