import CausewayXML
import Testing

@Suite("Writing XML", .timeLimit(.minutes(60)))
struct XMLWriterTests {
    private func text(_ root: XMLWriter.Element) throws -> String {
        String(decoding: try XMLWriter.document(root), as: UTF8.self)
    }

    @Test("elements are laid out as Xcode does it, attributes in the order in which they were set")
    func layout() throws {
        var entity = XMLWriter.Element("entity", ["name": "Thing", "a": "1"])
        entity.set("left", nil)
        entity.set("out", "2")
        entity.children = [XMLWriter.Element("attribute", ["name": "x"])]
        let root = XMLWriter.Element("model", ["version": "1.0"], children: [entity, XMLWriter.Element("empty")])
        #expect(
            try text(root) == """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model version="1.0">
                    <entity name="Thing" a="1" out="2">
                        <attribute name="x"/>
                    </entity>
                    <empty/>
                </model>
                """)
    }

    @Test(
        "every text that can be written is read back as it was",
        arguments: [
            "", "a & b < c > d \"quoted\" 'single'", " spaces at both ends ", "two\nlines\r\nand\ta tab", "&#10;",
            "]]>",
            "Übung, 木, 👩‍👩‍👧, e\u{301}", "\u{85}\u{2028}\u{A0}",
        ])
    func texts(value: String) throws {
        let bytes = try XMLWriter.document(XMLWriter.Element("a", ["b": value]))
        let read = try XMLTree(parsing: bytes).root["b"]
        #expect(read?.unicodeScalars.elementsEqual(value.unicodeScalars) == true)
        #expect(XMLWriter.canWrite(value))
    }

    @Test(
        "a character that XML has no form for is refused",
        arguments: ["\u{0}", "a\u{1B}[31m", "\u{8}", "\u{FFFE}", "\u{FFFF}"])
    func characters(value: String) throws {
        #expect(!XMLWriter.canWrite(value))
        let error = #expect(throws: XMLError.self) { try text(XMLWriter.Element("a", ["b": value])) }
        #expect(error?.code == .unwritable)
    }

    @Test("what the reader would refuse isn't written: levels, attributes, long values")
    func limits() throws {
        var deep = XMLWriter.Element("a")
        for _ in 1..<XMLLimits.depth { deep = XMLWriter.Element("a", children: [deep]) }
        #expect(throws: Never.self) { try XMLTree(parsing: XMLWriter.document(deep)) }
        let deeper = XMLWriter.Element("a", children: [deep])
        #expect(throws: XMLError.self) { try XMLWriter.document(deeper) }
        #expect(!XMLWriter.canWrite(String(repeating: "\"", count: XMLLimits.attributeSize)))
        let longest = String(repeating: "\"", count: XMLLimits.attributeSize / 6)
        #expect(try XMLTree(parsing: XMLWriter.document(XMLWriter.Element("a", ["b": longest]))).root["b"] == longest)
    }
}
