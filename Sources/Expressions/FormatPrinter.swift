extension Expression {
    /// The expression as a format string in Apple's printed form; parsing it gives an equal expression.
    ///
    /// It differs from `predicateFormat` where that loses information: booleans, reals without a fraction, and the
    /// brackets that set operators need. What no format string can express comes back different: an array constant as
    /// an aggregate, the cast of a literal as the constant, a key path component that is no name, a foreign constant.
    package var formatString: String { FormatPrinter.text(.parsable) { $0.print(self) } }

    /// What `-[NSExpression predicateFormat]` returns; version hashes are made of it (InsideVersionHashes §1).
    package var predicateFormat: String { FormatPrinter.text(.apple) { $0.print(self) } }
}

extension Predicate {
    /// The predicate as a format string in Apple's printed form; parsing it gives an equal predicate.
    ///
    /// Compounds of fewer than two terms, which only archives have, are printed by their meaning. See
    /// `Expression.formatString` for the rest.
    package var formatString: String { FormatPrinter.text(.parsable) { $0.print(self) } }

    /// What `-[NSPredicate predicateFormat]` returns; version hashes are made of it (InsideVersionHashes §1).
    package var predicateFormat: String { FormatPrinter.text(.apple) { $0.print(self) } }
}

/// Prints into one growing text.
struct FormatPrinter {
    enum Style {
        /// Byte for byte what Foundation prints, as far as it's known.
        case apple
        /// The same where that parses to the same.
        case parsable
    }

    let style: Style
    private(set) var text = ""

    private init(style: Style) { self.style = style }

    fileprivate static func text(_ style: Style, _ body: (inout FormatPrinter) -> Void) -> String {
        var printer = FormatPrinter(style: style)
        body(&printer)
        return printer.text
    }

    // MARK: - Expressions

    mutating func print(_ expression: Expression) {
        switch expression {
        case .evaluatedObject: text += "SELF"
        case .constant(let constant): print(constant)
        case .variable(let name): text += "$" + name
        case .keyPath(let operand, let path): printKeyPath(operand, path)
        case .function(nil, let name, let arguments): printBuiltIn(name, arguments, of: expression)
        case .function(.some(let operand), let name, let arguments):
            text += "FUNCTION("
            print(operand)
            text += ", "
            print(string: name)
            // Apple's printer puts a space before the comma.
            printCall(arguments.isEmpty ? "" : " , ", arguments, ")")
        case .aggregate(let elements): printCall("{", elements, "}")
        case .subquery(let collection, let variable, let predicate):
            text += "SUBQUERY("
            print(collection)
            text += ", $" + variable + ", "
            print(predicate)
            text += ")"
        case .fetch(let request, let context, let countOnly):
            printCall("FETCH(", [request, context], countOnly ? ", YES)" : ", NO)")
        case .set(let operation, let left, let right): printSet(operation, left, right)
        case .conditional(let predicate, let then, let otherwise):
            text += "TERNARY("
            print(predicate)
            printCall(", ", [then, otherwise], ")")
        }
    }

    private mutating func printKeyPath(_ operand: Expression, _ path: String) {
        if operand != .evaluatedObject {
            print(operand, inBrackets: !Self.takesPostfix(operand))
            text += "."
        }
        let components = path.split(separator: ".", omittingEmptySubsequences: false)
        text += components.map(ReservedWords.escape).joined(separator: ".")
    }

    /// Whether `.key` or `[index]` may follow without brackets and without becoming part of it.
    private static func takesPostfix(_ expression: Expression) -> Bool {
        switch expression {
        case .evaluatedObject, .variable, .subquery, .fetch, .aggregate, .conditional: true
        case .constant(.string): true
        case .constant, .keyPath, .set: false
        case .function(nil, let name, let arguments): Operators.symbol(of: name, arguments) == nil
        case .function: true
        }
    }

    private mutating func printBuiltIn(_ name: String, _ arguments: [Expression], of expression: Expression) {
        if name == "objectFrom:withIndex:", arguments.count == 2 {
            let isKeyPath = if case .keyPath = arguments[0] { true } else { false }
            print(arguments[0], inBrackets: !isKeyPath && !Self.takesPostfix(arguments[0]))
            text += "["
            if let symbol = arguments[1].symbol { text += symbol } else { print(arguments[1]) }
            text += "]"
        } else if let symbol = Operators.symbol(of: name, arguments) {
            print(arguments[0], inBrackets: needsBrackets(arguments[0]))
            text += " \(symbol) "
            print(arguments[1], inBrackets: needsBrackets(arguments[1]))
        } else if name == "castObject:toType:", arguments.count == 2 {
            printCall("CAST(", arguments, ")")
        } else {
            printCall(ReservedWords.escape(Substring(name)) + "(", arguments, ")")
        }
    }

    /// Apple's printer puts every operator within an operator in brackets, and nothing else.
    private func needsBrackets(_ expression: Expression) -> Bool {
        switch expression {
        case .function(nil, let name, let arguments): Operators.symbol(of: name, arguments) != nil
        case .set: style == .parsable
        default: false
        }
    }

    private mutating func printSet(_ operation: Expression.SetOperation, _ left: Expression, _ right: Expression) {
        print(left)
        text += " \(operation.word) "
        // The operators group from the left.
        let isSet = if case .set = right { true } else { false }
        print(right, inBrackets: isSet && style == .parsable)
    }

    private mutating func print(_ expression: Expression, inBrackets: Bool) {
        if inBrackets { text += "(" }
        print(expression)
        if inBrackets { text += ")" }
    }

    private mutating func printCall(_ opening: String, _ arguments: [Expression], _ closing: String) {
        text += opening
        print(arguments) { $0.print($1) }
        text += closing
    }

    mutating func print<Part>(
        _ parts: [Part], joinedBy separator: String = ", ", _ body: (inout FormatPrinter, Part) -> Void
    ) {
        for (index, part) in parts.enumerated() {
            if index > 0 { text += separator }
            body(&self, part)
        }
    }

    // MARK: - Text

    mutating func append(_ more: String) { text += more }

    /// Foundation escapes the quote and the backslash, and leaves control characters as they are.
    mutating func print(string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        text += "\""
    }
}

/// The built-ins that are written as operators.
private enum Operators {
    private static let symbols = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
    ]

    static func symbol(of name: String, _ arguments: [Expression]) -> String? {
        arguments.count == 2 ? symbols[name] : nil
    }
}
