// Operands: literals, keys, brackets, with their prefixes and postfixes.

extension FormatParser {
    /// `NOT`, `ANY` and the like, the sign, or an operand with its postfixes.
    mutating func prefixed() throws(ExpressionSyntaxError) -> Term {
        let start = token.range.lowerBound
        if token.isSymbol("!") { return try negation(from: start) }
        if token.isSymbol("-") { return try signed(from: start) }
        switch token.keyword {
        case "not": return try negation(from: start)
        case "any", "some": return try modified(.any, from: start)
        case "all": return try modified(.all, from: start)
        case "none":
            let term = try modified(.any, from: start)
            return try made(.predicate(.not(try predicate(term))), of: [term], from: start)
        default: return try postfixed(operand())
        }
    }

    private mutating func negation(from start: Int) throws(ExpressionSyntaxError) -> Term {
        try advance()
        let term = try term(.comparison)
        return try made(.predicate(.not(try predicate(term))), of: [term], from: start)
    }

    private mutating func modified(
        _ modifier: Predicate.Modifier, from start: Int
    ) throws(ExpressionSyntaxError) -> Term {
        try advance()
        let left = try term(.set)
        guard case .comparison(let operation)? = infix() else { throw unexpected("a comparison") }
        var comparison = try comparison(left, operation, modifier: modifier)
        comparison.start = start
        return comparison
    }

    /// The sign of a number belongs to the number; any other sign is the built-in `chs:`, "change sign".
    private mutating func signed(from start: Int) throws(ExpressionSyntaxError) -> Term {
        try advance()
        switch token.kind {
        case .integer(let magnitude):
            let value: Constant =
                if magnitude <= UInt64(Int64.max) + 1 {
                    .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
                } else {
                    .real(-Double(magnitude))
                }
            return try postfixed(literal(value, from: start))
        case .real(let magnitude):
            return try postfixed(literal(.real(-magnitude), from: start))
        default:
            let term = try term(.operand)
            let negated = Expression.function(operand: nil, name: "chs:", arguments: [try expression(term)])
            return try made(.expression(negated), of: [term], from: start)
        }
    }

    // MARK: - Operands

    private mutating func operand() throws(ExpressionSyntaxError) -> Term {
        let start = token.range.lowerBound
        switch token.kind {
        case .string(let text): return try literal(.string(text), from: start)
        case .integer(let magnitude):
            let value: Constant =
                if let signed = Int64(exactly: magnitude) { .integer(signed) } else { .real(Double(magnitude)) }
            return try literal(value, from: start)
        case .real(let value): return try literal(.real(value), from: start)
        case .variable(let name):
            try advance()
            return Term(kind: .expression(.variable(name)), height: 1, start: start)
        case .symbol("("):
            try advance()
            var inner = try term(.or)
            try expect(")")
            inner.start = start
            return inner
        case .symbol("{"): return try aggregate(from: start)
        case .name(let name, isKey: true): return try keyOrCall(name, from: start)
        case .name(let name, isKey: false): return try word(name, from: start)
        case .symbol(":="):
            throw ExpressionSyntaxError(
                .unsupported, "Assignments aren't supported: write the value itself.", offset: start)
        case .symbol, .end: throw unexpected("an expression")
        }
    }

    private mutating func literal(_ value: Constant, from start: Int) throws(ExpressionSyntaxError) -> Term {
        try advance()
        return Term(kind: .expression(.constant(value)), height: 1, start: start)
    }

    private mutating func aggregate(from start: Int) throws(ExpressionSyntaxError) -> Term {
        try advance()
        let elements = try list(closing: "}")
        return try made(.expression(.aggregate(try expressions(elements))), of: elements, from: start)
    }

    /// A name that isn't escaped: a keyword or a key.
    private mutating func word(_ name: String, from start: Int) throws(ExpressionSyntaxError) -> Term {
        let keyword = name.lowercased()
        switch keyword {
        case "true", "yes": return try literal(.boolean(true), from: start)
        case "false", "no": return try literal(.boolean(false), from: start)
        case "nil", "null": return try literal(.null, from: start)
        case "truepredicate", "falsepredicate":
            try advance()
            return Term(kind: .predicate(.literal(keyword == "truepredicate")), height: 1, start: start)
        case "self":
            try advance()
            return Term(kind: .expression(.evaluatedObject), height: 1, start: start)
        case "tokenmatches":
            throw ExpressionSyntaxError(
                .unsupported, "TOKENMATCHES isn't supported: use MATCHES or CONTAINS.", offset: start)
        default: break
        }
        if let call = try keywordCall(keyword, from: start) { return call }
        if ReservedWords.escaped.contains(keyword), !ReservedWords.harmless.contains(keyword) {
            throw ExpressionSyntaxError(
                .unexpected, "“\(name)” is a reserved word: write “#\(name)” if it's a key.", offset: start,
                expected: "an expression")
        }
        return try keyOrCall(name, from: start)
    }

    private mutating func keyOrCall(_ name: String, from start: Int) throws(ExpressionSyntaxError) -> Term {
        try advance()
        if token.isSymbol("("), !name.hasPrefix("@") { return try builtIn(name, from: start) }
        guard !name.contains(":") else { throw unexpected("“(” after the function's name") }
        return Term(kind: .expression(.key(try path(from: name))), height: 1, start: start)
    }

    // MARK: - Postfixes

    private mutating func postfixed(_ operand: Term) throws(ExpressionSyntaxError) -> Term {
        var term = operand
        while token.range.lowerBound == previousEnd {
            if token.isSymbol(".") {
                let base = try expression(term)
                try advance()
                let path = try path(from: component())
                // A bare key path is one on SELF; writing SELF out changes nothing.
                term.kind = .expression(.keyPath(operand: base, path: path))
                if base != .evaluatedObject { term.height = try height(over: [term], at: term.start) }
            } else if token.isSymbol("["), case .expression(let base) = term.kind {
                try advance()
                let index = try index()
                try expect("]")
                let indexed = Expression.function(
                    operand: nil, name: "objectFrom:withIndex:", arguments: [base, try expression(index)])
                term = try made(.expression(indexed), of: [term, index], from: term.start)
            } else {
                break
            }
        }
        return term
    }

    private mutating func index() throws(ExpressionSyntaxError) -> Term {
        let symbols: [String: Expression] = ["first": .firstElement, "last": .lastElement, "size": .elementCount]
        guard let word = token.keyword, let symbol = symbols[word] else { return try term(.set) }
        let start = token.range.lowerBound
        try advance()
        return Term(kind: .expression(symbol), height: 1, start: start)
    }

    /// The rest of a key path whose first component has just been read.
    private mutating func path(from first: String) throws(ExpressionSyntaxError) -> String {
        var path = first
        while token.isSymbol("."), token.range.lowerBound == previousEnd {
            try advance()
            path += "." + (try component())
        }
        return path
    }

    private mutating func component() throws(ExpressionSyntaxError) -> String {
        guard case .name(let name, _) = token.kind, token.range.lowerBound == previousEnd, !name.contains(":") else {
            throw unexpected("a key")
        }
        try advance()
        return name
    }
}
