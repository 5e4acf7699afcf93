import Foundation
import Testing

/// The tables of fields in the article on JSON are the schema's own words; `SNAP_UPDATE=1` rewrites them.
@Suite("The article on JSON", .timeLimit(.minutes(60)))
struct JSONArticleTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources/Causeway/Documentation.docc/JSONOutput.md")
    private static let mark =
        "<!-- Generated from Sources/CausewayTool/Schema by JSONArticleTests; SNAP_UPDATE=1. -->\n"

    /// The commands first, as one meets them; a schema that isn't named here comes after them.
    private static let order = [
        "migrate", "error", "plan", "plan-stores", "models", "models-check", "models-record", "model-export",
        "mapping-model", "progress", "inspect", "verify", "status", "backups", "rollback", "purge-backup", "compare",
        "export",
        "salvage", "generate",
    ]

    @Test("has every field of every output, with its type and what it means")
    func tables() throws {
        let schema = try JSONSchema()
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let parts = text.components(separatedBy: Self.mark)
        try #require(parts.count == 2)
        let wanted = parts[0] + Self.mark + "\n" + Self.sections(schema)
        if ProcessInfo.processInfo.environment["SNAP_UPDATE"] == "1" {
            try Data(wanted.utf8).write(to: Self.file)
        }
        #expect(try String(contentsOf: Self.file, encoding: .utf8) == wanted)
    }

    private static func sections(_ schema: JSONSchema) -> String {
        let others = schema.files.keys.filter { !order.contains($0) && $0 != "definitions" }.sorted()
        var blocks: [String] = []
        for name in order + others + ["definitions"] {
            guard let root = schema.files[name] else { continue }
            var block =
                "## \(root["title"]?.string ?? name)\n\n`\(name).schema.json`. \(root["description"]?.string ?? "")\n"
            if root["properties"] != nil { block += "\n" + table(root) }
            for (key, definition) in (root["$defs"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                block += "\n### \(name): \(key)\n\n\(definition["description"]?.string ?? "")\n"
                if let pattern = definition["pattern"]?.string { block += "\nPattern: `\(pattern)`\n" }
                if definition["properties"] != nil { block += "\n" + table(definition) }
            }
            blocks.append(block)
        }
        return blocks.joined(separator: "\n")
    }

    private static func table(_ definition: JSONValue) -> String {
        let required = Set(definition["required"]?.strings ?? [])
        var lines = ["| field | type | what it is |", "|---|---|---|"]
        for (name, member) in (definition["properties"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            let presence = required.contains(name) ? "" : " (optional)"
            lines.append("| `\(name)` | \(type(member))\(presence) | \(meaning(member)) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func type(_ member: JSONValue) -> String {
        if let reference = member["$ref"]?.string {
            let name = reference.split(separator: "/").last.map(String.init) ?? reference
            return name.replacingOccurrences(of: ".schema.json", with: "")
        }
        if let constant = member["const"]?.string { return "`\"\(constant)\"`" }
        let name = (member["type"]?.strings ?? []).joined(separator: " or ")
        if let items = member["items"] { return "array of \(type(items))" }
        if let values = member["additionalProperties"], values.object != nil { return "object of \(type(values))" }
        return name
    }

    private static func meaning(_ member: JSONValue) -> String {
        var text = member["description"]?.string ?? ""
        if text.isEmpty, let reference = member["$ref"]?.string {
            text = reference.hasSuffix("/time") ? "When it was." : "See below."
        }
        if let values = member["enum"]?.strings {
            text += " One of " + values.map { "`\($0)`" }.joined(separator: ", ") + "."
        }
        return text.replacingOccurrences(of: "|", with: "\\|")
    }
}
