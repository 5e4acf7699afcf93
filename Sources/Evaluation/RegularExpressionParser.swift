/// The parsed pattern.
indirect enum RegularExpressionNode: Sendable {
    case match(ScalarSet)
    case sequence([RegularExpressionNode])
    case alternatives([RegularExpressionNode])
    case repeated(RegularExpressionNode, Int, Int?)
    case assertion(RegularExpression.Assertion)
    case look(RegularExpressionNode, ahead: Bool, negated: Bool)
}

/// Reads ICU's syntax.
struct RegularExpressionParser {
    typealias Node = RegularExpressionNode

    struct Flags {
        var caseInsensitive = false
        var dotMatchesLineEnds = false
        var multiline = false
        var comments = false
    }

    let characters: [Unicode.Scalar]
    var position = 0
    var flags = Flags()
    /// The quotation before the atom just read: a repetition after it is its last character's.
    private var quoted: [Node] = []
    /// Open groups and sets; parsing recurses.
    var depth = 0
    static let depthLimit = 64

    init(_ pattern: String, caseInsensitive: Bool) {
        characters = Array(pattern.unicodeScalars)
        flags.caseInsensitive = caseInsensitive
    }

    mutating func whole() throws(RegularExpressionError) -> Node {
        let node = try alternatives()
        if peek() != nil { throw error("This bracket closes nothing") }
        return node
    }

    private mutating func alternatives() throws(RegularExpressionError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw error("Groups nest deeper than \(Self.depthLimit) levels") }
        var branches = [try sequence()]
        while skip("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func sequence() throws(RegularExpressionError) -> Node {
        var nodes: [Node] = []
        while let next = peek(), next != "|", next != ")" {
            if flags.comments, skipComment(next) { continue }
            guard let node = try atom() else { continue }
            nodes += quoted
            quoted = []
            nodes.append(try quantified(node))
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func skipComment(_ next: Unicode.Scalar) -> Bool {
        if next.properties.isWhitespace {
            position += 1
            return true
        }
        guard next == "#" else { return false }
        while let next = peek(), next != "\n" { position += 1 }
        return true
    }

    private mutating func quantified(_ node: Node) throws(RegularExpressionError) -> Node {
        var node = node
        var isQuantified = false
        while let (least, most) = try quantifier() {
            if isQuantified { throw error("A repetition can't be repeated: put it in brackets") }
            isQuantified = true
            if skip("+") { throw error("Possessive repetition isn't supported") }
            // Lazy or greedy, the whole text matches or it doesn't.
            _ = skip("?")
            node = .repeated(node, least, most)
        }
        return node
    }

    private mutating func quantifier() throws(RegularExpressionError) -> (Int, Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        guard skip("{") else { return nil }
        guard let least = number() else { throw error("Expected a count in braces, as in {2,5}") }
        var most: Int? = least
        if skip(",") { most = number() }
        guard skip("}") else { throw error("The braces of a count aren't closed") }
        if let most, most < least { throw error("The count's bounds are reversed") }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let digit = peek(), ("0"..."9").contains(digit) {
            // Past the limit for programs the exact count doesn't matter.
            value = min((value ?? 0) * 10 + Int(digit.value - 48), EvaluationLimits.patternLength + 1)
            position += 1
        }
        return value
    }

    // MARK: - Atoms

    /// Nil for an atom that matches nothing but changes the options: `(?i)`.
    private mutating func atom() throws(RegularExpressionError) -> Node? {
        guard let next = take() else { throw error("Expected a character") }
        switch next {
        case "(": return try group()
        case "[": return .match(cased(try set()))
        case ".":
            return .match(flags.dotMatchesLineEnds ? .all : .inverted(.lineEnd))
        case "^": return .assertion(flags.multiline ? .lineStart : .textStart)
        case "$": return .assertion(flags.multiline ? .lineEnd : .textEndOrBeforeLastLineEnd)
        case "*", "+", "?", "{": throw error("There is nothing to repeat here", at: position - 1)
        case "\\": return try escape()
        default: return .match(cased(.one(next)))
        }
    }

    private func cased(_ set: ScalarSet) -> ScalarSet { flags.caseInsensitive ? .caseless(set) : set }

    private mutating func group() throws(RegularExpressionError) -> Node? {
        let saved = flags
        guard skip("?") else { return try inside(saved) { $0 } }
        if skip("#") {
            while let next = take(), next != ")" { if peek() == nil { throw error("The comment isn't closed") } }
            return nil
        }
        if skip(":") { return try inside(saved) { $0 } }
        if skip("=") { return try inside(saved) { .look($0, ahead: true, negated: false) } }
        if skip("!") { return try inside(saved) { .look($0, ahead: true, negated: true) } }
        if skip(">") { throw error("Atomic groups aren't supported") }
        if skip("<") {
            if skip("=") { return try inside(saved) { .look($0, ahead: false, negated: false) } }
            if skip("!") { return try inside(saved) { .look($0, ahead: false, negated: true) } }
            while let next = take(), next != ">" {
                guard next.properties.isAlphabetic || ("0"..."9").contains(next) else {
                    throw error("A group's name has letters and digits")
                }
            }
            return try inside(saved) { $0 }
        }
        try readFlags()
        if skip(")") { return nil }
        guard skip(":") else { throw error("Expected a group like (?:…), (?=…) or (?i)") }
        return try inside(saved) { $0 }
    }

    private mutating func inside(_ saved: Flags, _ make: (Node) -> Node) throws(RegularExpressionError) -> Node {
        let node = try alternatives()
        guard skip(")") else { throw error("The group isn't closed") }
        flags = saved
        return make(node)
    }

    private mutating func readFlags() throws(RegularExpressionError) {
        var value = true
        while let next = peek(), next != ")", next != ":" {
            switch next {
            case "-": value = false
            case "i": flags.caseInsensitive = value
            case "s": flags.dotMatchesLineEnds = value
            case "m": flags.multiline = value
            case "x": flags.comments = value
            default: throw error("Expected flags out of i, m, s and x")
            }
            position += 1
        }
    }

    private mutating func escape() throws(RegularExpressionError) -> Node? {
        guard let next = peek() else { throw error("The pattern ends within an escape") }
        let assertions: [Unicode.Scalar: RegularExpression.Assertion] = [
            "b": .wordBoundary, "B": .noWordBoundary, "A": .textStart, "z": .textEnd,
            "Z": .textEndOrBeforeLastLineEnd,
        ]
        if let assertion = assertions[next] {
            position += 1
            return .assertion(assertion)
        }
        switch next {
        case "Q":
            position += 1
            let characters = quotation()
            quoted = characters.dropLast().map { .match(cased(.one($0))) }
            return characters.last.map { .match(cased(.one($0))) }
        case "R":
            position += 1
            return .alternatives([.sequence([.match(.one("\r")), .match(.one("\n"))]), .match(.lineEnd)])
        case "1"..."9", "k": throw error("Back references aren't supported")
        case "X", "G": throw error("`\\\(next)` isn't supported")
        default: return .match(cased(try escapedSet()))
        }
    }

    private mutating func quotation() -> [Unicode.Scalar] {
        var quoted: [Unicode.Scalar] = []
        while let next = take() {
            if next == "\\", skip("E") { break }
            quoted.append(next)
        }
        return quoted
    }

    // MARK: - Characters

    func peek() -> Unicode.Scalar? { position < characters.count ? characters[position] : nil }

    mutating func take() -> Unicode.Scalar? {
        guard let next = peek() else { return nil }
        position += 1
        return next
    }

    mutating func skip(_ wanted: Unicode.Scalar) -> Bool {
        guard peek() == wanted else { return false }
        position += 1
        return true
    }

    func error(_ message: String, at place: Int? = nil) -> RegularExpressionError {
        RegularExpressionError(message: message, offset: place ?? position)
    }
}
