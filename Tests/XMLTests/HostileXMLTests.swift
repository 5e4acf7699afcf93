import CausewayXML
import Foundation
import Testing

@Suite("Hostile XML", .timeLimit(.minutes(60)))
struct HostileXMLTests {
    private func code(_ text: String, _ policy: XMLTree.DoctypePolicy) -> XMLError.Code? {
        do throws(XMLError) {
            _ = try XMLTree(parsing: Array(text.utf8), doctype: policy)
            return nil
        } catch {
            return error.code
        }
    }

    private static let external = "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">"

    @Test("a document type is refused unless it's allowed")
    func policy() {
        #expect(code(Self.external + "<database/>", .refuse) == .forbiddenDeclaration)
        #expect(code(Self.external + "<database/>", .allowExternalIdentifierOnly) == nil)
        #expect(code("<!DOCTYPE a PUBLIC '-//A//B' 'http://x/y.dtd' ><a/>", .allowExternalIdentifierOnly) == nil)
        #expect(code("<!DOCTYPE a SYSTEM 'a>b'\n><a/>", .allowExternalIdentifierOnly) == nil)
    }

    private static let forbiddenTexts = [
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM \"x\" [<!ENTITY x \"y\">]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM \"x\"[]><a/>",
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a SYSTEM><a/>",
        "<!DOCTYPE a SYSTEM \"x\" \"y\"><a/>",
        "<!DOCTYPE a PUBLIC \"x\"><a/>",
        "<!DOCTYPE a OTHER \"x\"><a/>",
        "<!DOCTYPE a SYSTEM \"x",
        "<!DOCTYPE",
        external + external + "<a/>",
        "<a/>" + external,
        "<a>" + external + "</a>",
        "<!ENTITY x \"y\"><a/>",
        "<!doctype a><a/>",
        "<a><!ELEMENT b ANY></a>",
    ]

    @Test("nothing but one external name gets through", arguments: forbiddenTexts)
    func forbidden(text: String) {
        #expect(code(text, .allowExternalIdentifierOnly) == .forbiddenDeclaration)
        #expect(code(text, .refuse) == .forbiddenDeclaration)
    }

    @Test("a document type in a comment or in CDATA is text")
    func quoted() {
        #expect(code("<!-- <!DOCTYPE a [ --><a><![CDATA[<!DOCTYPE a>]]></a>", .refuse) == nil)
        #expect(code("<a b='<'/>", .refuse) == .malformed)
    }

    @Test("an allowed document type leaves the lines as they are")
    func lines() throws {
        let text = "<!DOCTYPE a\n  SYSTEM\n  'x'>\n<a/>"
        #expect(try XMLTree(parsing: Array(text.utf8), doctype: .allowExternalIdentifierOnly).root.line == 4)
    }

    @Test("instructions before the root element are passed over, lines kept; the parser would trap at one without data")
    func instructions() throws {
        for text in ["<?a?>", "<?a ?>", "<?xml-stylesheet href='x'?>", "<?a\n?>", "<?xml version='1.0'?><?b?>"] {
            let root = try XMLTree(parsing: Array((text + "\n<a/>").utf8)).root
            #expect(root.line == text.count { $0 == "\n" } + 2)
        }
        for text in ["<??>", "<? ?>", "<?xml?>", "<?XML?>", "<?1?>", " <?xml version='1.0'?>", "<?a?><?xml?>"] {
            #expect(code(text + "<a/>", .refuse) == .malformed, "\(text)")
        }
        for text in ["<a><?b?></a>", "<a/><?b?>"] { #expect(code(text, .refuse) == .forbiddenDeclaration) }
        #expect(code("<a><![CDATA[<?b?>]]></a>", .refuse) == nil)
    }

    @Test("other encodings than UTF-8 are refused")
    func encodings() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>"
        for encoding: String.Encoding in [.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian] {
            let bytes = text.data(using: encoding).map { [UInt8]($0) } ?? []
            let error = #expect(throws: XMLError.self) { try XMLTree(parsing: bytes) }
            #expect(error?.code == .unsupportedEncoding)
        }
        for name in ["UTF-16", "ISO-8859-1", "utf-7", "EBCDIC", ""] {
            #expect(code("<?xml version='1.0' encoding='\(name)'?><a/>", .refuse) == .unsupportedEncoding)
        }
        #expect(code("<?xml version='1.0' encoding = 'us-ascii'?><a/>", .refuse) == nil)
        let latin = #expect(throws: XMLError.self) { try XMLTree(parsing: [0x3C, 0x61, 0x3E, 0xFC]) }
        #expect(latin?.code == .unsupportedEncoding)
    }

    private func nested(_ depth: Int) -> String {
        String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }

    @Test("64 levels are read, one more and 200,000 more are refused")
    func depth() {
        #expect(code(nested(XMLLimits.depth), .refuse) == nil)
        #expect(code(nested(XMLLimits.depth + 1), .refuse) == .limitExceeded)
        #expect(code(nested(200_000), .refuse) == .limitExceeded)
    }

    @Test("too many attributes, too long a value, too many elements, too many bytes")
    func sizes() {
        let attributes = (0...XMLLimits.attributesPerElement).map { " a\($0)=''" }
        #expect(code("<a\(attributes.joined())/>", .refuse) == .limitExceeded)
        #expect(code("<a\(attributes.dropLast().joined())/>", .refuse) == nil)
        let value = String(repeating: "x", count: XMLLimits.attributeSize)
        #expect(code("<a b='\(value)'/>", .refuse) == nil)
        #expect(code("<a b='\(value)x'/>", .refuse) == .limitExceeded)
        let many = String(repeating: "<b/>", count: XMLLimits.elements)
        #expect(code("<a>\(many)</a>", .refuse) == .limitExceeded)
        let error = #expect(throws: XMLError.self) {
            try XMLTree(parsing: [UInt8](repeating: 0x20, count: XMLLimits.documentSize + 1))
        }
        #expect(error?.code == .limitExceeded)
    }
}
