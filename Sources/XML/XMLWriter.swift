/// Writes XML documents as Xcode lays them out: UTF-8, four spaces a level, attributes in the order in which they were
/// set. The bytes depend on the elements alone, and reading them gives the same names and values.
package enum XMLWriter {
    /// An element with its attributes in order. `XMLTree.Element` has none: a document's reader doesn't need it.
    package struct Element: Hashable, Sendable {
        package let name: String
        package private(set) var attributes: [Attribute] = []
        package var children: [Element] = []

        package struct Attribute: Hashable, Sendable {
            package let name: String
            package let value: String
        }

        /// Names are the format's own; a foreign text belongs in an attribute's value.
        package init(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], children: [Element] = []) {
            precondition(XMLWriter.isName(name), "“\(name)” is no name of an XML element")
            self.name = name
            self.children = children
            for (name, value) in attributes { set(name, value) }
        }

        /// Adds an attribute; nil adds none.
        package mutating func set(_ name: String, _ value: String?) {
            guard let value else { return }
            precondition(XMLWriter.isName(name), "“\(name)” is no name of an XML attribute")
            precondition(!attributes.contains { $0.name == name }, "the attribute \(name) is set twice")
            attributes.append(Attribute(name: name, value: value))
        }
    }

    /// The document with its XML declaration.
    ///
    /// Throws `unwritable` for a character that XML has no form for, and `limitExceeded` for what `XMLTree` would
    /// refuse to read back.
    package static func document(_ root: Element) throws(XMLError) -> [UInt8] {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        var count = 0
        try write(root, level: 0, count: &count, into: &text)
        let bytes = Array(text.dropLast().utf8)
        guard bytes.count <= XMLLimits.documentSize else {
            throw XMLError(
                .limitExceeded, "The document has \(bytes.count) bytes; at most \(XMLLimits.documentSize) are read.")
        }
        return bytes
    }

    /// Whether a text can be an attribute's value: XML has no form for most control characters, not even an escaped
    /// one, and the reader bounds a value's length.
    package static func canWrite(_ text: String) -> Bool {
        // An escaped character takes six bytes at most.
        text.utf8.count <= XMLLimits.attributeSize / 6 && text.unicodeScalars.allSatisfy(isCharacter)
    }

    private static func write(
        _ element: Element, level: Int, count: inout Int, into text: inout String
    ) throws(XMLError) {
        count += 1
        guard level < XMLLimits.depth, count <= XMLLimits.elements,
            element.attributes.count <= XMLLimits.attributesPerElement
        else {
            throw XMLError(.limitExceeded, "The document has more elements, levels or attributes than are read.")
        }
        let indentation = String(repeating: "    ", count: level)
        text += "\(indentation)<\(element.name)"
        for attribute in element.attributes {
            guard canWrite(attribute.value) else {
                throw XMLError(
                    .unwritable, "The value of “\(attribute.name)” in <\(element.name)> can't be written in XML.")
            }
            text += " \(attribute.name)=\""
            escape(attribute.value, into: &text)
            text += "\""
        }
        guard !element.children.isEmpty else {
            text += "/>\n"
            return
        }
        text += ">\n"
        for child in element.children { try write(child, level: level + 1, count: &count, into: &text) }
        text += "\(indentation)</\(element.name)>\n"
    }

    /// Tabs and line ends are escaped because a reader turns bare ones in an attribute into spaces
    /// (https://www.w3.org/TR/xml/#AVNormalize).
    private static func escape(_ value: String, into text: inout String) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\t": text += "&#9;"
            case "\n": text += "&#10;"
            case "\r": text += "&#13;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// `Char` of XML 1.0 (https://www.w3.org/TR/xml/#charsets).
    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    fileprivate static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    }
}
