import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Builds the tree from the events of Foundation's parser.
///
/// `parse()` alone proves nothing: it returned true for empty input and for an element that's never closed
/// (InsideCrashSafety §2.4). A tree counts only if there's no parser error and the root was closed.
final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    private struct OpenElement {
        let name: String
        let attributes: [String: String]
        let line: Int
        var children: [XMLTree.Element] = []
        var text = ""
    }

    private var stack: [OpenElement] = []
    private var root: XMLTree.Element?
    private var elementCount = 0
    private var failure: XMLError?

    /// Bytes up to which a document is parsed as one piece: libxml2 refuses a piece of more than 10,000,000 bytes
    /// (`XML_MAX_LOOKUP_LIMIT` of parserInternals.h), whatever is in it.
    private static let pieceSize = 8 * 1024 * 1024

    static func parse(_ bytes: [UInt8]) throws(XMLError) -> XMLTree.Element {
        let document = Data(bytes)
        // A stream is parsed in small pieces.
        let parser =
            bytes.count <= pieceSize ? XMLParser(data: document) : XMLParser(stream: InputStream(data: document))
        let builder = XMLTreeBuilder()
        parser.shouldProcessNamespaces = false
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let succeeded = parser.parse()
        if let failure = builder.failure { throw failure }
        if let error = parser.parserError { throw notWellFormed(error, parser) }
        guard succeeded, builder.stack.isEmpty, let root = builder.root else {
            throw error(.malformed, "The document ends before its root element does.", parser)
        }
        return root
    }

    private static func error(_ code: XMLError.Code, _ message: String, _ parser: XMLParser) -> XMLError {
        XMLError(code, message, line: max(1, parser.lineNumber), column: max(0, parser.columnNumber))
    }

    private static func notWellFormed(_ error: any Error, _ parser: XMLParser) -> XMLError {
        Self.error(
            .malformed, "The document is not well formed (parser code \((error as NSError).code)).", parser)
    }

    private func fail(_ code: XMLError.Code, _ message: String, _ parser: XMLParser) {
        if failure == nil { failure = Self.error(code, message, parser) }
        parser.abortParsing()
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName qName: String?, attributes attributeDict: [String: String]
    ) {
        // After `abortParsing` libxml2 may still deliver what it has read.
        guard failure == nil else { return }
        elementCount += 1
        guard elementCount <= XMLLimits.elements else {
            return fail(.limitExceeded, "The document has more than \(XMLLimits.elements) elements.", parser)
        }
        guard stack.count < XMLLimits.depth else {
            return fail(.limitExceeded, "Elements are nested deeper than \(XMLLimits.depth) levels.", parser)
        }
        guard root == nil else { return fail(.malformed, "The document has a second root element.", parser) }
        stack.append(OpenElement(name: elementName, attributes: attributeDict, line: max(1, parser.lineNumber)))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard failure == nil else { return }
        guard let open = stack.popLast(), open.name == elementName else {
            return fail(.malformed, "An end tag has no start tag.", parser)
        }
        let isIndentation = !open.children.isEmpty && open.text.utf8.allSatisfy { $0 <= 0x20 }
        let element = XMLTree.Element(
            name: open.name, attributes: open.attributes, children: open.children,
            text: isIndentation ? "" : open.text, line: open.line)
        if stack.isEmpty { root = element } else { stack[stack.count - 1].children.append(element) }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard failure == nil, !stack.isEmpty else { return }
        stack[stack.count - 1].text += string
    }

    func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) {
        self.parser(parser, foundCharacters: String(decoding: CDATABlock, as: UTF8.self))
    }

    // Called at the place of the error; once `parse()` has returned, the parser may have read on.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        if failure == nil { failure = Self.notWellFormed(parseError, parser) }
    }

    // The scanner lets no declaration through; this is a safeguard in case it and libxml2 read a document differently.
    func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
        fail(.forbiddenDeclaration, "The document declares an entity.", parser)
    }

    func parser(
        _ parser: XMLParser, foundExternalEntityDeclarationWithName name: String, publicID: String?, systemID: String?
    ) {
        fail(.forbiddenDeclaration, "The document declares an external entity.", parser)
    }
}
