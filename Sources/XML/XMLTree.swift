/// An XML document as a tree of values.
package struct XMLTree: Hashable, Sendable {
    package struct Element: Hashable, Sendable {
        package let name: String
        package let attributes: [String: String]
        package let children: [Element]
        /// The character data directly inside the element, CDATA included and children left out. When there are
        /// children, data that is only white space counts as indentation and is dropped.
        package let text: String
        /// Where the start tag ends; from 1. 0 for an element that no document had.
        package let line: Int

        /// An element that no document had: it has no text and line 0.
        package init(name: String, attributes: [String: String] = [:], children: [Element] = []) {
            self.init(name: name, attributes: attributes, children: children, text: "", line: 0)
        }

        init(name: String, attributes: [String: String], children: [Element], text: String, line: Int) {
            self.name = name
            self.attributes = attributes
            self.children = children
            self.text = text
            self.line = line
        }

        package subscript(attribute: String) -> String? { attributes[attribute] }

        /// The children with that name, in document order.
        package func children(named name: String) -> [Element] { children.filter { $0.name == name } }

        package func child(named name: String) -> Element? { children.first { $0.name == name } }
    }

    /// What to do with a document type declaration. None is ever loaded or obeyed.
    package enum DoctypePolicy: Hashable, Sendable {
        /// A declaration is an error.
        case refuse
        /// One declaration that only names an external file is skipped; `xcmapping.xml` begins with such a one.
        /// Declarations inside it (`[`) are an error.
        case allowExternalIdentifierOnly
    }

    package let root: Element

    /// Parses a document in UTF-8 or ASCII.
    ///
    /// Throws when the document isn't well formed, has another encoding, has a document type that the policy refuses,
    /// declares or uses entities beyond the five of XML, or exceeds `XMLLimits`.
    package init(parsing bytes: [UInt8], doctype: DoctypePolicy = .refuse) throws(XMLError) {
        var scanner = XMLScanner(bytes)
        let screened = try scanner.screen(doctype: doctype)
        self.root = try XMLTreeBuilder.parse(screened)
    }
}

/// Bounds on foreign documents. A document beyond them is refused, never truncated.
package enum XMLLimits {
    /// Bytes of a document. The largest mapping model known (WooCommerce's from 111 to 112) has 11.3 MB.
    package static let documentSize = 64 * 1024 * 1024
    /// Levels of elements; models have 4, mapping models 6. Walking and releasing a tree recurse.
    package static let depth = 64
    /// Elements of a document, each of which takes about 150 bytes of memory.
    package static let elements = 1_000_000
    /// Attributes of one element: the parser compares each with all others.
    package static let attributesPerElement = 1_024
    /// Bytes of an attribute's value.
    package static let attributeSize = 1024 * 1024
}

/// Why a document could not be read or written.
package struct XMLError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Neither UTF-8 nor ASCII.
        case unsupportedEncoding
        /// A document type declaration that the policy refuses, or an entity declaration.
        case forbiddenDeclaration
        /// One of `XMLLimits` is exceeded.
        case limitExceeded
        /// Not well formed.
        case malformed
        /// A text to be written has a character that XML has no form for.
        case unwritable
    }

    package let code: Code
    /// What went wrong and what to do about it.
    package let message: String
    /// From 1; 0 when the error has no place.
    package let line: Int
    /// In bytes, from 1; 0 when unknown.
    package let column: Int

    init(_ code: Code, _ message: String, line: Int = 0, column: Int = 0) {
        self.code = code
        self.message = message
        self.line = line
        self.column = column
    }

    /// Without a full stop, so that a sentence can end with it.
    package var description: String {
        let clause = message.hasSuffix(".") ? String(message.dropLast()) : message
        return line > 0 ? "\(clause) (line \(line), column \(column))" : clause
    }
}
