import CausewayXML
import Foundation
import Testing

@Suite("Reading XML", .timeLimit(.minutes(60)))
struct XMLTreeTests {
    private func parse(_ text: String) throws -> XMLTree { try XMLTree(parsing: Array(text.utf8)) }

    @Test("names, attributes, children, text and lines")
    func tree() throws {
        let root = try parse(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model name="a &amp; b" version="1">
                <!-- <ignored/> -->
                <entity name="Übung"/>
                <attribute type="string">te&lt;xt &#65;<![CDATA[<raw>]]></attribute>
                <entity name="second">  </entity>
            </model>
            """
        ).root
        #expect(root.name == "model")
        #expect(root.attributes == ["name": "a & b", "version": "1"])
        #expect(root.text.isEmpty)
        #expect(root.children.map(\.name) == ["entity", "attribute", "entity"])
        #expect(root.children(named: "entity").compactMap { $0["name"] } == ["Übung", "second"])
        #expect(root.child(named: "attribute")?.text == "te<xt A<raw>")
        #expect(root.children.last?.text == "  ")
        #expect(root.line == 2)
        #expect(root.children.map(\.line) == [4, 5, 6])
    }

    @Test("a byte order mark of UTF-8 isn't content")
    func byteOrderMark() throws {
        #expect(try XMLTree(parsing: [0xEF, 0xBB, 0xBF] + Array("<a>x</a>".utf8)).root.text == "x")
    }

    @Test("a document of 12 MB in one line, and a longer one, are read whole")
    func largeDocument() throws {
        let text = String(repeating: "ä€😀x", count: 1_200_000)
        let root = try parse("<a>\n<b>\(text)</b>\n<c d=\"e\"><![CDATA[<ä>]]></c></a>").root
        #expect(root.children.map(\.line) == [2, 3])
        #expect(root.children.first?.text == text)
        #expect(root.children.last?.text == "<ä>")
        let child = "<b c='\(String(repeating: "x", count: 1_000))'/>\n"
        let many = try parse("<a>\(String(repeating: child, count: 12_000))</a>").root
        #expect(many.children.count == 12_000)
        #expect(many.children.last?.line == 12_000)
    }

    @Test("large documents are held to the bounds too, and must be whole")
    func largeHostileDocuments() {
        let filling = "<b>\(String(repeating: "x", count: 11_000_000))</b>"
        func code(_ text: String) -> XMLError.Code? {
            let error = #expect(throws: XMLError.self) { try parse(text) }
            return error?.code
        }
        #expect(code("<a>\(filling)") == .malformed)
        #expect(code("<a>\(filling)</a><a/>") == .malformed)
        #expect(code("<a>\(filling)&x;</a>") == .malformed)
        let levels = XMLLimits.depth
        let nested = String(repeating: "<b>", count: levels) + String(repeating: "</b>", count: levels)
        #expect(code("<a>\(filling)\(nested)</a>") == .limitExceeded)
    }

    @Test("mixed content keeps its text")
    func mixed() throws {
        #expect(try parse("<a>one<b/>two</a>").root.text == "onetwo")
    }

    private static let malformedTexts = [
        "", " ", "text", "<a>", "<a><b></a>", "<a></b>", "</a>", "<a/><b/>", "<a/>text", "<a b=c/>", "<a b='1' b='2'/>",
        "<a b=\"<\"/>", "<a", "<a b=\"", "<!--", "<a><![CDATA[x</a>", "<?xml version=\"1.0\"", "<a>&undefined;</a>",
        "<a>&#0;</a>", "<1/>", "<a>\u{1}</a>", "<?xml version=\"1.0\"?>", "<a><b></a></b>",
    ]

    @Test("a document that is not well formed is refused", arguments: malformedTexts)
    func malformed(text: String) {
        let error = #expect(throws: XMLError.self) { try parse(text) }
        #expect(error?.code == .malformed)
    }

    @Test("errors name the place")
    func place() {
        let error = #expect(throws: XMLError.self) { try parse("<a>\n  <b>\n  </c>\n</a>") }
        #expect(error?.line == 3)
        let tag = #expect(throws: XMLError.self) { try parse("<a>\n  <b x=\"1>\n</a>") }
        #expect(tag?.line == 2)
        #expect(tag?.column == 3)
    }

    @Test("a damaged document is refused or read, never a trap")
    func damage() throws {
        let bytes = Array("<?xml version=\"1.0\"?>\n<a b='c'><d>e&amp;f</d><![CDATA[g]]><!--h--></a>".utf8)
        for length in bytes.indices {
            #expect(throws: XMLError.self) { try XMLTree(parsing: Array(bytes[..<length])) }
        }
        for position in bytes.indices {
            for value: UInt8 in [0, 0x22, 0x3C, 0x3E, 0x26, 0x80, 0xFF] {
                var changed = bytes
                changed[position] = value
                _ = try? XMLTree(parsing: changed, doctype: .allowExternalIdentifierOnly)
            }
        }
    }
}
