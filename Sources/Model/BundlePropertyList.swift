import CausewayPlist
import CausewayXML

/// Property lists of bundles: `.xccurrentversion` is usually XML, `VersionInfo.plist` usually binary; both may be
/// either.
enum BundlePropertyList {
    static func parse(_ bytes: [UInt8], path: String) throws(ModelError) -> PropertyList {
        let tree: XMLTree
        do {
            if !ModelForm.looksLikeXML(bytes.prefix(64)) { return try PropertyList(parsing: bytes) }
            tree = try XMLTree(parsing: bytes, doctype: .allowExternalIdentifierOnly)
        } catch {
            throw ModelError(.damaged, "The property list can't be read: \(error).", path: path)
        }
        guard tree.root.name == "plist", tree.root.children.count == 1, let value = tree.root.children.first else {
            throw ModelError(.damaged, "The XML isn't a property list.", path: path)
        }
        return try self.value(value, path)
    }

    /// Nesting is bounded by `XMLLimits.depth`.
    private static func value(_ element: XMLTree.Element, _ path: String) throws(ModelError) -> PropertyList {
        switch element.name {
        case "string": return .string(element.text)
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "integer":
            if let number = Int64(trimmed(element.text)) { return .integer(number) }
        case "real":
            if let number = Double(trimmed(element.text)) { return .real(number) }
        case "data":
            if let bytes = Base64.decode(element.text) { return .data(bytes) }
        case "array":
            var items: [PropertyList] = []
            for child in element.children { items.append(try value(child, path)) }
            return .array(items)
        case "dict":
            if let entries = try dictionary(element, path) { return .dictionary(entries) }
        default: break
        }
        throw ModelError(
            .damaged, "The property list's <\(element.name)> in line \(element.line) can't be understood.", path: path)
    }

    /// nil if keys and values don't alternate or a key is repeated.
    private static func dictionary(
        _ element: XMLTree.Element, _ path: String
    ) throws(ModelError) -> [String: PropertyList]? {
        guard element.children.count.isMultiple(of: 2) else { return nil }
        var entries: [String: PropertyList] = [:]
        for position in stride(from: 0, to: element.children.count, by: 2) {
            let key = element.children[position]
            guard key.name == "key", entries[key.text] == nil else { return nil }
            entries[key.text] = try value(element.children[position + 1], path)
        }
        return entries
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
