import CausewayExpressions
import CausewayMapping
import CausewayMappingFiles
import CausewayModel
import CausewayPlist
import Foundation
import Testing

@Suite("Hostile mapping model files", .timeLimit(.minutes(60)))
struct HostileMappingFileTests {
    private func code(_ bytes: [UInt8]) -> MappingFileError.Code? {
        do {
            _ = try MappingModelReader.read(bytes, name: "x", path: "/x")
            return nil
        } catch {
            #expect(error.path == "/x")
            return error.code
        }
    }

    private func code(_ objects: String, head: String = "") -> MappingFileError.Code? {
        code(Array("<?xml version=\"1.0\"?>\(head)<database>\(objects)</database>".utf8))
    }

    private static func object(_ type: String, _ id: String, _ body: String = "") -> String {
        "<object type=\"XDDEV\(type)\" id=\"\(id)\">\(body)</object>"
    }

    private static func relation(_ name: String, _ ids: String) -> String {
        "<relationship name=\"\(name)\" type=\"0/0\" destination=\"X\" idrefs=\"\(ids)\"></relationship>"
    }

    private static func text(_ name: String, _ text: String) -> String {
        "<attribute name=\"\(name)\" type=\"string\">\(text)</attribute>"
    }

    private static let root = object("MAPPINGMODEL", "m", relation("entitymappings", "e"))

    @Test("a file that isn't a mapping model is reported as such")
    func foreign() {
        #expect(code([]) == .damaged)
        #expect(code(Array("<plist/>".utf8)) == .notAMappingModel)
        #expect(code("") == .notAMappingModel)
        #expect(code(Self.root + Self.object("MAPPINGMODEL", "n")) == .notAMappingModel)
        #expect(code(Array("SQLite format 3".utf8)) == .damaged)
    }

    @Test("declarations inside a document type are refused")
    func doctype() {
        let head = "<!DOCTYPE database [<!ENTITY a \"b\">]>"
        #expect(code(Self.object("MAPPINGMODEL", "m"), head: head) == .damaged)
    }

    @Test(
        "dangling references, and references to another type, in a cycle or twice, are refused",
        arguments: [
            "", object("ATTRIBUTEMAPPING", "e"), object("MAPPINGMODEL2", "e"),
            object("ENTITYMAPPING", "e", relation("attributemappings", "e")),
            object("ENTITYMAPPING", "e", relation("attributemappings", "m")),
            object("ENTITYMAPPING", "e", relation("attributemappings", "a a"))
                + object("ATTRIBUTEMAPPING", "a", text("name", "x")),
            object("ENTITYMAPPING", "e") + object("ENTITYMAPPING", "e"),
        ])
    func references(objects: String) {
        #expect(code(Self.root + objects) == .damaged)
    }

    @Test("values of the wrong type are refused with their place")
    func values() throws {
        let entity = Self.object(
            "ENTITYMAPPING", "e", Self.text("sourcename", "A") + Self.relation("attributemappings", "a"))
        func attribute(_ body: String) -> [UInt8] {
            Array("<database>\(Self.root)\(entity)\(Self.object("ATTRIBUTEMAPPING", "a", body))</database>".utf8)
        }
        #expect(code(attribute("")) == .damaged)
        #expect(code(attribute(Self.text("name", "x") + Self.text("autogenerateexpression", "maybe"))) == .damaged)
        #expect(code(attribute(Self.text("name", "x") + Self.text("valueexpressiondata", "!!!!"))) == .damaged)
        do {
            _ = try MappingModelReader.read(
                attribute(Self.text("name", "x") + Self.text("valueexpressiondata", "YWJj")), name: "M")
            Issue.record("It must not be read")
        } catch {
            #expect(error.mapping == "A" && error.property == "x" && error.code == .damaged)
            #expect(error.description.hasPrefix("A.x: "))
        }
    }

    @Test("escapes and filters are decoded, and written as they were read")
    func escapes() throws {
        let entity = Self.object(
            "ENTITYMAPPING", "e",
            Self.text("sourcename", "A")
                + Self.text("sourcefilterpredicatestring", #"a \u3c00 5 AND b != '\u5c00u3e00'"#))
        let mapping = try MappingModelReader.read(Array("<database>\(Self.root)\(entity)</database>".utf8), name: "M")
        #expect(mapping.entityMappings[0].filter == #"a < 5 AND b != '\u3e00'"#)
        let written = try mapping.editorDocument()
        #expect(written.contains(#"a \u3c00 5 AND b != '\u5c00u3e00'"#))
        #expect(try MappingModelReader.read(Array(written.utf8), name: "M") == mapping)
    }

    @Test("a filter beside a source expression, and a custom mapping without a policy, are noted")
    func notices() throws {
        var writer = KeyedArchiveWriter()
        let written = try Expression(parsing: "$source.a").archive(into: &writer)
        let expression = Base64.encode(try writer.bytes(root: written))
        let entity = Self.object(
            "ENTITYMAPPING", "e",
            Self.text("sourcename", "A") + Self.text("sourceexpressiondata", expression)
                + Self.text("sourcefilterpredicatestring", "b == 1") + Self.text("mappingtypename", "Custom"))
        let mapping = try MappingModelReader.read(Array("<database>\(Self.root)\(entity)</database>".utf8), name: "M")
        #expect(
            mapping.notices == [
                "The entity mapping “A” (line 1) has a source expression and a filter; the expression is used.",
                "The custom entity mapping “A” names no policy class, so the default policy is used.",
            ])
        let compiled = try MappingModelReader.read(
            try archive([("NSMappingType", .integer(1)), ("NSMappingName", .string("B"))]), name: "M")
        #expect(
            compiled.notices == ["The custom entity mapping “B” names no policy class, so the default policy is used."])
    }

    @Test("copies of the models, which make a mapping model of 12 MB, are read")
    func largeCopies() throws {
        let copy = [UInt8](repeating: 0xA5, count: 4_500_000)
        let root = Self.object(
            "MAPPINGMODEL", "m",
            Self.text("sourcemodeldata", Base64.encode(copy)) + Self.text("destinationmodeldata", Base64.encode(copy))
                + Self.relation("entitymappings", "e"))
        let document = "<database>\(root)\(Self.object("ENTITYMAPPING", "e", Self.text("sourcename", "A")))</database>"
        let mapping = try MappingModelReader.read(Array(document.utf8), name: "M")
        #expect(mapping.sourceModel?.editorArchive == copy)
        #expect(mapping.destinationModel?.editorArchive == copy)
        #expect(mapping.entityMappings.map(\.sourceEntity) == ["A"])
    }

    // MARK: - Archives

    /// A `.cdm` with one entity mapping of these fields.
    private func archive(_ fields: [(name: String, value: KeyedArchiveWriter.Field)]) throws -> [UInt8] {
        var writer = KeyedArchiveWriter()
        let entity = writer.add(ArchivedClass(["NSEntityMapping", "NSObject"]), fields)
        let list = writer.array([entity])
        let root = writer.add(ArchivedClass(["NSMappingModel", "NSObject"]), [("NSEntityMappings", .reference(list))])
        return try writer.bytes(root: root)
    }

    @Test("fields of the wrong type are refused")
    func wrongFields() throws {
        #expect(code(try archive([])) == nil)
        #expect(code(try archive([("NSMappingType", .integer(17))])) == .damaged)
        #expect(code(try archive([("NSMappingType", .integer(.min))])) == .damaged)
        #expect(code(try archive([("NSMappingName", .integer(1))])) == .damaged)
        #expect(code(try archive([("NSSourceEntityVersionHash", .data([1, 2, 3]))])) == .damaged)
        #expect(code(try archive([("NSSourceExpression", .string("SELF"))])) == .damaged)
        #expect(code(try archive([("NSAttributeMappings", .integer(1))])) == .damaged)
        #expect(code(try archive([("NSUserInfo", .boolean(true))])) == .damaged)
    }

    @Test("archives and lists of other objects are refused")
    func otherArchives() throws {
        var writer = KeyedArchiveWriter()
        let text = writer.string("x")
        #expect(code(try writer.bytes(root: text)) == .notAMappingModel)
        let list = writer.array([text])
        let root = writer.add(ArchivedClass(["NSMappingModel", "NSObject"]), [("NSEntityMappings", .reference(list))])
        #expect(code(try writer.bytes(root: root)) == .damaged)
    }

    @Test("an expression that contains itself, or unfolds without end, is refused")
    func unfolding() throws {
        var writer = KeyedArchiveWriter()
        let kind = ArchivedClass(["NSAggregateExpression", "NSExpression", "NSObject"])
        let circle = writer.reserve()
        let circleList = writer.array([circle])
        writer.fill(circle, kind, [("NSExpressionType", .integer(14)), ("NSCollection", .reference(circleList))])
        #expect(code(try model(&writer, circle)) == .limitExceeded)

        var level = writer.add(
            ArchivedClass(["NSSelfExpression", "NSExpression", "NSObject"]), [("NSExpressionType", .integer(1))])
        for _ in 0..<40 {
            let list = writer.array([level, level])
            level = writer.add(kind, [("NSExpressionType", .integer(14)), ("NSCollection", .reference(list))])
        }
        #expect(code(try model(&writer, level)) == .limitExceeded)
    }

    @Test("many properties that share one large expression are counted together")
    func sharedExpression() throws {
        var writer = KeyedArchiveWriter()
        let kind = ArchivedClass(["NSAggregateExpression", "NSExpression", "NSObject"])
        var level = writer.add(
            ArchivedClass(["NSSelfExpression", "NSExpression", "NSObject"]), [("NSExpressionType", .integer(1))])
        for _ in 0..<14 {
            let list = writer.array([level, level])
            level = writer.add(kind, [("NSExpressionType", .integer(14)), ("NSCollection", .reference(list))])
        }
        #expect(code(try model(&writer, level, count: 1)) == nil)
        #expect(code(try model(&writer, level, count: 20)) == .limitExceeded)
    }

    private func model(
        _ writer: inout KeyedArchiveWriter, _ expression: KeyedArchive.Reference, count: Int = 1
    ) throws -> [UInt8] {
        let name = writer.string("x")
        let property = writer.add(
            ArchivedClass(["NSPropertyMapping", "NSObject"]),
            [("NSDestinationPropertyName", .reference(name)), ("NSValueExpression", .reference(expression))])
        let properties = writer.array(Array(repeating: property, count: count))
        let entity = writer.add(
            ArchivedClass(["NSEntityMapping", "NSObject"]), [("NSAttributeMappings", .reference(properties))])
        let list = writer.array([entity])
        let root = writer.add(ArchivedClass(["NSMappingModel", "NSObject"]), [("NSEntityMappings", .reference(list))])
        return try writer.bytes(root: root)
    }

    // MARK: - Files

    @Test("a missing file, an empty folder and a link out of the folder are unreadable")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString + ".xcmappingmodel")
        func failure() -> MappingFileError.Code? {
            do { _ = try MappingModelReader.read(folder.path) } catch { return error.code }
            return nil
        }
        #expect(failure() == .unreadable)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(failure() == .unreadable)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent("xcmapping.xml").path, withDestinationPath: "/etc/hostname")
        #expect(failure() == .unreadable)
    }

    @Test(
        "every truncation and every flipped byte is an error or a value, never a trap",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"),
        arguments: ["coredataplus/V2toV3.cdm", "posts-and-colors/Migration1to2.xcmappingmodel/xcmapping.xml"])
    func damage(name: String) throws {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: SharedMappingModels.path(name))))
        let step = max(1, bytes.count / 60)
        for position in stride(from: 0, to: bytes.count, by: step) {
            #expect(code(Array(bytes.prefix(position))) != nil)
            var flipped = bytes
            flipped[position] ^= 0xA5
            _ = try? MappingModelReader.read(flipped, name: "x")
        }
    }
}
