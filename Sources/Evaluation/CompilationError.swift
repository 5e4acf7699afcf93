/// Why an expression or a predicate can't be run against a model: a planning error.
package struct CompilationError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// A key that the entity, or the kind of value, doesn't have.
        case unknownKey
        case unknownVariable
        /// A selector that neither Foundation's language nor the receiver has, or one with too few or many arguments.
        case unknownFunction
        /// Operands that don't fit the operator, according to the model.
        case type
        /// Understood, and not supported here; the message says what to do instead.
        case unsupported
        /// A pattern that isn't a regular expression.
        case pattern
        /// One of `EvaluationLimits` is exceeded.
        case limitExceeded
    }

    package var code: Code
    /// What is wrong and what to do about it.
    package var message: String
    /// The key, variable or function in question; empty where it's none of them.
    package var name: String
    /// The entity that lacks the key; nil if it isn't an entity.
    package var entity: String?
    /// Where in the expression, outermost first: `["right side of ==", "argument 2 of add:to:"]`.
    package var path: [String]
    /// The whole expression or predicate in format syntax; empty until `compile` rethrows the error.
    package private(set) var text = ""
    /// UTF-8 bytes of `text` before the place; nil where the place has no text of its own.
    package private(set) var offset: Int?

    package init(
        _ code: Code, _ message: String, name: String = "", entity: String? = nil, path: [String] = []
    ) {
        self.code = code
        self.message = message
        self.name = name
        self.entity = entity
        self.path = path
    }

    package var description: String {
        guard !text.isEmpty else { return message }
        let place = offset.map { " at column \($0 + 1) of “\(text)”" } ?? " in “\(text)”"
        return path.isEmpty ? message + place : "\(message)\(place), \(path.joined(separator: ", "))"
    }

    /// Says where in which text.
    func located(in text: String) -> CompilationError {
        var located = self
        located.text = text
        located.offset = name.isEmpty ? nil : text.firstOffset(of: name)
        return located
    }
}

extension String {
    /// The first place of a piece of text that is a whole word, in UTF-8 bytes.
    fileprivate func firstOffset(of piece: String) -> Int? {
        let (text, piece) = (Array(utf8), Array(piece.utf8))
        guard !piece.isEmpty, piece.count <= text.count else { return nil }
        func continues(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            return byte == UInt8(ascii: "_") || byte >= 0x80 || Unicode.Scalar(byte).properties.isAlphabetic
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return (0...(text.count - piece.count)).first { start in
            text[start...].starts(with: piece) && !continues(start > 0 ? text[start - 1] : nil)
                && !continues(start + piece.count < text.count ? text[start + piece.count] : nil)
        }
    }
}

/// The nearest known names for a misspelt one.
package enum Spelling {
    /// “; did you mean `title`?”, or nothing where no name is near.
    package static func hint(_ name: String, among names: some Sequence<String>) -> String {
        guard let nearest = nearest(name, among: names) else { return "" }
        return "; did you mean `\(nearest)`?"
    }

    static func nearest(_ name: String, among names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased())
        // A third of the letters may be wrong: one in a short name, never a different word.
        var best: (name: String, distance: Int)?
        for candidate in names {
            let distance = distance(wanted, Array(candidate.lowercased()))
            guard distance <= max(1, wanted.count / 3) else { continue }
            if let known = best, (known.distance, known.name) <= (distance, candidate) { continue }
            best = (candidate, distance)
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours.
    package static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in right.indices {
                let same = left[row] == right[column]
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (same ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
