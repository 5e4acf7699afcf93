/// A function or initialiser as found in its text: its length and its number of parameters.
struct Callable {
    /// `func run` or `init`.
    let name: String
    /// Counted from 1.
    let line: Int
    /// Lines from the name to the closing brace; 0 for a declaration without a body.
    let length: Int
    let parameters: Int

    /// All of a formatted file: the closing brace of a body stands below the first character of its declaration.
    static func all(in file: SourceTree.File) -> [Callable] {
        let code = file.code
        return code.indices.compactMap { start in
            guard let name = name(code[start]) else { return nil }
            var end = start
            while end < code.count, !isBalanced(code[start...end]) { end += 1 }
            guard end < code.count else { return nil }
            let signature = code[start...end].joined(separator: "\n")
            return Callable(
                name: name, line: start + 1, length: length(code, from: start, signatureEnd: end),
                parameters: parameters(signature))
        }
    }

    private static func name(_ line: String) -> String? {
        let words = line.split(separator: " ")
        for (index, word) in words.enumerated() {
            if word == "func" { return words.indices.contains(index + 1) ? "func \(words[index + 1])" : nil }
            if word.hasPrefix("init("), !line.contains(".init(") || index == 0 { return "init" }
            guard modifiers.contains(where: { word.hasPrefix($0) }) else { return nil }
        }
        return nil
    }

    private static let modifiers = [
        "@", "package", "public", "private", "fileprivate", "static", "mutating", "override", "convenience", "final",
        "borrowing", "consuming", "nonisolated", "internal", "required",
    ]

    private static func isBalanced(_ lines: ArraySlice<String>) -> Bool {
        var depth = 0
        var hasOpened = false
        for character in lines.joined() {
            if character == "(" {
                depth += 1
                hasOpened = true
            }
            if character == ")" { depth -= 1 }
        }
        return hasOpened && depth == 0
    }

    private static func length(_ code: [String], from start: Int, signatureEnd: Int) -> Int {
        let opening = code.indices.first { $0 >= signatureEnd && code[$0].hasSuffix("{") }
        guard let opening, opening <= signatureEnd + 3 else { return 0 }
        let indentation = code[start].prefix { $0 == " " }
        guard let end = code[opening...].firstIndex(of: indentation + "}") else { return 0 }
        return end - start + 1
    }

    /// Counts the colons of the first parameter list outside of inner brackets.
    private static func parameters(_ signature: String) -> Int {
        var depth = 0
        var count = 0
        for character in signature.drop(while: { $0 != "(" }) {
            switch character {
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return count }
            case ":": if depth == 1 { count += 1 }
            default: break
            }
        }
        return count
    }
}
