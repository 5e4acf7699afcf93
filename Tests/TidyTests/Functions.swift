/// The functions and initialisers of a file, by their indentation, which `swift format` sees to.
struct Functions {
    let all: [(name: String, line: Int, length: Int)]

    init(_ file: SourceTree.File) {
        let lines = file.lines
        var result: [(name: String, line: Int, length: Int)] = []
        for (index, line) in lines.enumerated() {
            guard let name = Self.name(line) else { continue }
            let indent = String(line.prefix { $0 == " " })
            // A body on a line of its own ends at the function's indentation.
            guard let begin = lines[index...].firstIndex(where: { $0.hasSuffix("{") || $0.hasSuffix("}") }),
                lines[begin].hasSuffix("{"),
                let end = lines[begin...].firstIndex(of: indent + "}")
            else { continue }
            result.append((name, index + 1, end - index + 1))
        }
        all = result
    }

    private static func name(_ line: String) -> String? {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        for (index, word) in words.enumerated() {
            if word == "func" { return words.indices.contains(index + 1) ? String(words[index + 1]) : nil }
            if word.hasPrefix("init(") || word.hasPrefix("init?(") || word.hasPrefix("init<") { return String(word) }
            guard modifiers.contains(String(word)) || word.hasPrefix("@") else { return nil }
        }
        return nil
    }

    private static let modifiers: Set<String> = [
        "package", "public", "private", "fileprivate", "static", "mutating", "override", "convenience", "final",
        "borrowing", "consuming", "nonisolated", "class", "required",
    ]
}
