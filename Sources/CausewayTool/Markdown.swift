import Causeway

/// Markdown as GitHub and GitLab show it, for a pull request.
enum Markdown {
    /// A name as code: nothing in it is markup.
    static func code(_ text: String) -> String {
        let text = replaced(text, ["`": "'", "|": "\\|"])
        return text.isEmpty ? "" : "`\(text)`"
    }

    /// Text in a cell or a list: characters that are markup elsewhere stay characters.
    static func plain(_ text: String) -> String {
        var result = ""
        for character in replaced(text, [:]) {
            if "\\`*_{}[]<>#|~".contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }

    static func table(_ headings: [String], _ rows: [[String]]) -> [String] {
        func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
        return [line(headings), "|" + String(repeating: "---|", count: headings.count)] + rows.map(line)
    }

    static func list(_ items: [String]) -> [String] { items.map { "- \(plain($0))" } }

    /// Lines in a fenced block, whatever backticks are in them.
    static func block(_ lines: [String], _ language: String) -> [String] {
        var fence = "```"
        while lines.contains(where: { $0.contains(fence) }) { fence += "`" }
        return [fence + language] + lines + [fence]
    }

    /// The changes of one step, with their totals.
    static func changes(_ changes: [ModelChange]) -> [String] {
        guard !changes.isEmpty else { return ["No entity or property changes."] }
        let rows = changes.map { [code($0.entity), code($0.property ?? ""), plain($0.words)] }
        return table(["Entity", "Property", "Change"], rows) + ["", plain(ChangeText.totals(changes))]
    }

    /// A path of versions as a Mermaid diagram; `edges` has the words on each arrow, and whether it can be gone.
    static func diagram(_ versions: [String], _ edges: [(from: Int, to: Int, words: String, isOpen: Bool)]) -> [String]
    {
        var lines = ["```mermaid", "flowchart LR"]
        for (place, version) in versions.enumerated() { lines.append("    v\(place)[\"\(mermaid(version))\"]") }
        for edge in edges {
            let arrow = edge.isOpen ? "-->" : "-.->"
            lines.append("    v\(edge.from) \(arrow)|\"\(mermaid(edge.words))\"| v\(edge.to)")
        }
        return lines + ["```"]
    }

    /// Text between quotes of a diagram.
    private static func mermaid(_ text: String) -> String {
        replaced(text, ["#": "#35;", "\"": "#quot;", "<": "#lt;", ">": "#gt;", "`": "'"])
    }

    /// The text on one line, with other characters for some.
    private static func replaced(_ text: String, _ others: [Character: String]) -> String {
        text.map { character in
            character.isNewline ? " " : others[character] ?? String(character)
        }.joined()
    }
}
