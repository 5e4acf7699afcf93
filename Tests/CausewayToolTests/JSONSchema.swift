import Foundation

/// The schemas of the tool's JSON in `Sources/CausewayTool/Schema`, and a validator for the words that they use:
/// `type`, `properties`, `required`, `additionalProperties`, `enum`, `const`, `items`, `pattern`, `minimum`, `maximum`,
/// `oneOf`, `anyOf`, `$ref` to a definition of the same file or another one.
///
/// A word that it doesn't know is a fault: a schema never says less here than it seems to.
struct JSONSchema {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/CausewayTool/Schema")

    private static let annotations: Set<String> = ["$schema", "$id", "$defs", "title", "description"]

    /// By the name of the file without `.schema.json`.
    let files: [String: JSONValue]

    init() throws {
        var files: [String: JSONValue] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        where name.hasSuffix(".schema.json") {
            let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
            files[String(name.dropLast(".schema.json".count))] = try JSONValue(text)
        }
        self.files = files
    }

    /// The faults of a JSON text against a schema, each with its place; empty where it fits.
    func faults(_ text: some StringProtocol, as name: String) -> [String] {
        do {
            return faults(try JSONValue(text), as: name)
        } catch {
            return ["no JSON: \(text.prefix(200))"]
        }
    }

    func faults(_ value: JSONValue, as name: String) -> [String] {
        guard let schema = files[name] else { return ["there is no schema \(name)"] }
        return faults(value, schema, in: name, at: "$")
    }

    /// A definition that a `$ref` names, and the file that it is in.
    func resolve(_ reference: String, in file: String) -> (schema: JSONValue, file: String)? {
        let parts = reference.split(separator: "#", omittingEmptySubsequences: false)
        var name = file
        if let path = parts.first, !path.isEmpty { name = path.replacingOccurrences(of: ".schema.json", with: "") }
        guard var schema = files[name] else { return nil }
        if parts.count > 1 {
            for key in parts[1].split(separator: "/") {
                guard let next = schema[String(key)] else { return nil }
                schema = next
            }
        }
        return (schema, name)
    }

    private func faults(_ value: JSONValue, _ schema: JSONValue, in file: String, at place: String) -> [String] {
        guard let words = schema.object else { return ["\(place): the schema is no object"] }
        var faults: [String] = []
        for (word, rule) in words.sorted(by: { $0.key < $1.key }) {
            switch word {
            case "$ref":
                guard let reference = rule.string, let found = resolve(reference, in: file) else {
                    faults.append("\(place): \(rule) leads nowhere")
                    continue
                }
                faults += self.faults(value, found.schema, in: found.file, at: place)
            case "type":
                if !rule.strings.contains(where: { Self.isType($0, value) }) {
                    faults.append("\(place): is no \(rule.strings.joined(separator: " or "))")
                }
            case "enum": if rule.array?.contains(value) != true { faults.append("\(place): \(value) isn't allowed") }
            case "const": if rule != value { faults.append("\(place): \(value) isn't \(rule)") }
            case "pattern":
                if let text = value.string, let pattern = rule.string,
                    text.range(of: pattern, options: .regularExpression) == nil
                {
                    faults.append("\(place): “\(text)” doesn't match \(pattern)")
                }
            case "minimum", "maximum": faults += Self.bounds(value, word, rule, at: place)
            case "oneOf", "anyOf": faults += choices(value, word, rule, in: file, at: place)
            case "items":
                for (index, element) in (value.array ?? []).enumerated() {
                    faults += self.faults(element, rule, in: file, at: "\(place)[\(index)]")
                }
            case "required":
                guard let members = value.object else { continue }
                faults += rule.strings.filter { members[$0] == nil }.map { "\(place): lacks \($0)" }
            case "properties", "additionalProperties": continue
            default: if !Self.annotations.contains(word) { faults.append("\(place): unknown word \(word)") }
            }
        }
        return faults + members(value, words, in: file, at: place)
    }

    private func members(
        _ value: JSONValue, _ words: [String: JSONValue], in file: String, at place: String
    ) -> [String] {
        guard let members = value.object else { return [] }
        let known = words["properties"]?.object ?? [:]
        var faults: [String] = []
        for (key, member) in members.sorted(by: { $0.key < $1.key }) {
            let inside = "\(place).\(key)"
            if let rule = known[key] {
                faults += self.faults(member, rule, in: file, at: inside)
            } else if words["additionalProperties"] == .bool(false) {
                faults.append("\(inside): isn't documented")
            } else if let rule = words["additionalProperties"], rule.object != nil {
                faults += self.faults(member, rule, in: file, at: inside)
            }
        }
        return faults
    }

    private func choices(
        _ value: JSONValue, _ word: String, _ rule: JSONValue, in file: String, at place: String
    ) -> [String] {
        let found = (rule.array ?? []).map { faults(value, $0, in: file, at: place) }
        let fitting = found.count { $0.isEmpty }
        if fitting == 1 || (word == "anyOf" && fitting > 0) { return [] }
        // The nearest one says most.
        return ["\(place): \(fitting) of \(found.count) fit"] + (found.min { $0.count < $1.count } ?? [])
    }

    private static func bounds(
        _ value: JSONValue, _ word: String, _ rule: JSONValue, at place: String
    ) -> [String] {
        guard let number = value.number, let bound = rule.number else { return [] }
        let isInside = word == "minimum" ? number >= bound : number <= bound
        return isInside ? [] : ["\(place): \(number) is beyond the \(word), \(bound)"]
    }

    private static func isType(_ name: String, _ value: JSONValue) -> Bool {
        switch (name, value) {
        case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number(let number)): number == number.rounded()
        default: false
        }
    }
}
