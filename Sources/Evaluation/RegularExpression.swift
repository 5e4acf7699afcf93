/// A regular expression in ICU's syntax, matched against whole texts: what `MATCHES` does.
///
/// It runs as a set of states over the text's code points, so that time is linear in the text's length where Swift's
/// and ICU's own matchers, which go back and try again, need exponential time for patterns like `(a+)+$`. Since only
/// “matches or not” is asked, lazy and greedy are the same. Back references, possessive and atomic groups aren't
/// possible that way and are refused.
package struct RegularExpression: Sendable {
    typealias Program = [Instruction]

    enum Instruction: Sendable {
        case match(ScalarSet)
        /// Continue at both.
        case split(Int, Int)
        case jump(Int)
        case assertion(Assertion)
        /// Whether the program with this number matches here.
        case look(Int, ahead: Bool, negated: Bool)
        case accept
    }

    enum Assertion: Sendable {
        case textStart, textEnd, textEndOrBeforeLastLineEnd, lineStart, lineEnd, wordBoundary, noWordBoundary
    }

    /// The first is the whole expression, the others are its look-arounds.
    let programs: [Program]

    /// - Throws: `RegularExpressionError` for an invalid or unsupported pattern.
    package init(_ pattern: String, caseInsensitive: Bool = false) throws(RegularExpressionError) {
        var parser = RegularExpressionParser(pattern, caseInsensitive: caseInsensitive)
        var builder = RegularExpressionBuilder()
        _ = try builder.program(parser.whole())
        programs = builder.programs
    }

    /// Whether the pattern matches the whole text.
    ///
    /// - Throws: `type` past `EvaluationLimits.patternSteps`.
    package func matches(_ text: String) throws(EvaluationError) -> Bool {
        var run = RegularExpressionRun(programs: programs, text: Array(text.unicodeScalars))
        return try run.matches(0, in: .whole, at: 0)
    }
}

/// Why a text isn't a regular expression.
package struct RegularExpressionError: Error, Hashable, Sendable {
    package var message: String
    /// Characters before the place.
    package var offset: Int
}

/// One text being matched.
struct RegularExpressionRun {
    enum Extent {
        /// From the place to the text's end.
        case whole
        /// From the place to anywhere.
        case ahead
        /// From anywhere to the place.
        case behind
    }

    let programs: [RegularExpression.Program]
    let text: [Unicode.Scalar]
    private var steps = 0

    init(programs: [RegularExpression.Program], text: [Unicode.Scalar]) {
        self.programs = programs
        self.text = text
    }

    mutating func matches(_ number: Int, in extent: Extent, at place: Int) throws(EvaluationError) -> Bool {
        let instructions = programs[number]
        var seen = [Int](repeating: -1, count: instructions.count)
        var current: [Int] = []
        var position = extent == .behind ? 0 : place
        let end = extent == .behind ? place : text.count
        try follow(0, instructions, at: position, &seen, &current)
        while true {
            var next: [Int] = []
            for state in current {
                switch instructions[state] {
                case .accept: if extent == .ahead || position == end { return true }
                case .match(let set):
                    if position < end, set.contains(text[position]) { next.append(state + 1) }
                default: break
                }
            }
            guard position < end, !next.isEmpty || extent == .behind else { return false }
            position += 1
            current.removeAll(keepingCapacity: true)
            for state in next { try follow(state, instructions, at: position, &seen, &current) }
            if extent == .behind { try follow(0, instructions, at: position, &seen, &current) }
        }
    }

    /// Adds all states that can be reached from one without reading a character.
    private mutating func follow(
        _ state: Int, _ instructions: RegularExpression.Program, at position: Int, _ seen: inout [Int],
        _ states: inout [Int]
    ) throws(EvaluationError) {
        var pending = [state]
        while let state = pending.popLast() {
            guard seen[state] != position else { continue }
            seen[state] = position
            steps += 1
            guard steps <= EvaluationLimits.patternSteps else {
                throw EvaluationError(.type, "The regular expression takes too long on this text: write a simpler one.")
            }
            switch instructions[state] {
            case .match, .accept: states.append(state)
            case .jump(let target): pending.append(target)
            case .split(let first, let second): pending += [second, first]
            case .assertion(let assertion): if holds(assertion, at: position) { pending.append(state + 1) }
            case .look(let number, let ahead, let negated):
                if try matches(number, in: ahead ? .ahead : .behind, at: position) != negated {
                    pending.append(state + 1)
                }
            }
        }
    }

    private func holds(_ assertion: RegularExpression.Assertion, at position: Int) -> Bool {
        switch assertion {
        case .textStart: return position == 0
        case .textEnd: return position == text.count
        case .textEndOrBeforeLastLineEnd:
            return position == text.count || position == text.count - 1 && isLineEnd(position)
                || position == text.count - 2 && text[position] == "\r" && text[position + 1] == "\n"
        case .lineStart: return position == 0 || isLineEnd(position - 1) && position < text.count
        case .lineEnd: return position == text.count || isLineEnd(position)
        case .wordBoundary: return isWord(position - 1) != isWord(position)
        case .noWordBoundary: return isWord(position - 1) == isWord(position)
        }
    }

    private func isLineEnd(_ position: Int) -> Bool { ScalarSet.lineEnd.contains(text[position]) }

    private func isWord(_ position: Int) -> Bool {
        text.indices.contains(position) && ScalarSet.word.contains(text[position])
    }
}
