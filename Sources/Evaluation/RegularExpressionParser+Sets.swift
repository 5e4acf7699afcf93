// Sets in square brackets, and escapes that stand for characters.

extension RegularExpressionParser {
    /// After the opening bracket: members, ranges, sets within sets, `&&` and `--`.
    mutating func set() throws(RegularExpressionError) -> ScalarSet {
        let start = position - 1
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw error("Sets nest deeper than \(Self.depthLimit) levels") }
        let isInverted = skip("^")
        var members: [ScalarSet] = []
        var result: ScalarSet?
        var subtracts = false
        func joined() -> ScalarSet {
            guard let result else { return .union(members) }
            return .intersection([result, subtracts ? .inverted(.union(members)) : .union(members)])
        }
        var isFirst = true
        while let next = peek() {
            if next == "]", !isFirst {
                position += 1
                return isInverted ? .inverted(joined()) : joined()
            }
            isFirst = false
            if !members.isEmpty || result != nil, isOperator("&") || isOperator("-") {
                result = joined()
                subtracts = next == "-"
                members = []
                position += 2
            } else if next == "[" {
                position += 1
                members.append(peek() == ":" ? try posixSet() : try set())
            } else {
                members.append(try member())
            }
        }
        throw error("The set isn't closed", at: start)
    }

    /// `&&` or `--`; a single one is a member.
    private func isOperator(_ sign: Unicode.Scalar) -> Bool {
        position + 1 < characters.count && characters[position] == sign && characters[position + 1] == sign
    }

    private mutating func posixSet() throws(RegularExpressionError) -> ScalarSet {
        position += 1
        let isInverted = skip("^")
        var name = ""
        while let next = take(), next != ":" { name.unicodeScalars.append(next) }
        guard skip("]"), let set = ScalarSet.named(name) else { throw error("There is no set [:\(name):]") }
        return isInverted ? .inverted(set) : set
    }

    private mutating func member() throws(RegularExpressionError) -> ScalarSet {
        guard let first = take() else { throw error("The set isn't closed") }
        let low = first == "\\" ? try escapedSet() : .one(first)
        guard case .one(let from) = low, peek() == "-", position + 1 < characters.count,
            characters[position + 1] != "]", characters[position + 1] != "-", characters[position + 1] != "["
        else { return low }
        position += 1
        guard let last = take() else { throw error("The set isn't closed") }
        let high = last == "\\" ? try escapedSet() : .one(last)
        guard case .one(let to) = high, from <= to else {
            throw error("The range ends before it begins")
        }
        return .range(from...to)
    }

    /// After the backslash.
    mutating func escapedSet() throws(RegularExpressionError) -> ScalarSet {
        guard let letter = take() else { throw error("The pattern ends within an escape") }
        switch letter {
        case "d": return .digit
        case "D": return .inverted(.digit)
        case "w": return .word
        case "W": return .inverted(.word)
        case "s": return .space
        case "S": return .inverted(.space)
        case "h": return .horizontalSpace
        case "H": return .inverted(.horizontalSpace)
        case "v": return .lineEnd
        case "V": return .inverted(.lineEnd)
        case "p": return try property()
        case "P": return .inverted(try property())
        case "n": return .one("\n")
        case "r": return .one("\r")
        case "t": return .one("\t")
        case "f": return .one("\u{c}")
        case "a": return .one("\u{7}")
        case "e": return .one("\u{1b}")
        case "0": return try codePoint(digits: 1...3, radix: 8)
        case "u": return try codePoint(digits: 4...4, radix: 16)
        case "U": return try codePoint(digits: 8...8, radix: 16)
        case "x":
            if skip("{") {
                let set = try codePoint(digits: 1...6, radix: 16)
                guard skip("}") else { throw error("Expected the closing brace of \\x{…}") }
                return set
            }
            return try codePoint(digits: 1...2, radix: 16)
        default:
            guard !letter.properties.isAlphabetic, !("1"..."9").contains(letter) else {
                throw error("There is no escape `\\\(letter)`", at: position - 2)
            }
            return .one(letter)
        }
    }

    private mutating func property() throws(RegularExpressionError) -> ScalarSet {
        guard let next = take() else { throw error("Expected a property after \\p") }
        var name = ""
        var isInverted = false
        if next == "{" {
            isInverted = skip("^")
            while let letter = take(), letter != "}" { name.unicodeScalars.append(letter) }
        } else {
            name = String(next)
        }
        guard let set = ScalarSet.named(name) else {
            throw error("The property “\(name)” isn't known: use a general category like L, Lu or Nd")
        }
        return isInverted ? .inverted(set) : set
    }

    private mutating func codePoint(
        digits: ClosedRange<Int>, radix: Int
    ) throws(RegularExpressionError) -> ScalarSet {
        var text = ""
        while text.utf8.count < digits.upperBound, let next = peek(),
            Character(next).hexDigitValue.map({ $0 < radix }) == true
        {
            text.unicodeScalars.append(next)
            position += 1
        }
        guard text.utf8.count >= digits.lowerBound, let value = UInt32(text, radix: radix),
            let scalar = Unicode.Scalar(value)
        else { throw error("The escape names no character") }
        return .one(scalar)
    }
}
