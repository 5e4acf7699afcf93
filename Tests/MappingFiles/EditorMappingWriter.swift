package import CausewayMapping
import CausewayExpressions
import CausewayModel
import CausewayPlist

extension MappingModelDescription {
    /// The text of `xcmapping.xml`, the one file of an `.xcmappingmodel`.
    ///
    /// Hashes aren't part of that format. Filters and expressions are written as the editor writes them: defaults are
    /// left out, and a fetch of the source entity becomes its filter. Throws `unresolved` for what the editor can't
    /// express (an expression that isn't parsed yet, “fill the rest”), `unsupported` for a value that can't be
    /// archived.
    package func editorDocument() throws(MappingFileError) -> String {
        do {
            var writer = EditorMappingWriter(self)
            return try writer.document()
        } catch {
            throw error.at(path: path)
        }
    }
}

/// Writes the editor's objects; element names and attribute order as in Xcode's own files.
private struct EditorMappingWriter {
    typealias Value = (name: String, type: String, text: String)

    private let description: MappingModelDescription
    private var objects = ""
    /// Ids begin where Xcode's begin.
    private var nextNumber = 100

    init(_ description: MappingModelDescription) {
        self.description = description
    }

    mutating func document() throws(MappingFileError) -> String {
        let model = nextID()
        let ids = description.entityMappings.map { _ in nextID() }
        for (index, mapping) in description.entityMappings.enumerated() {
            do throws(MappingFileError) {
                try write(mapping, id: ids[index], number: index + 1, model: model)
            } catch {
                throw error.at(mapping: mapping.name)
            }
        }
        var values: [Value] = []
        for (side, recorded) in [("source", description.sourceModel), ("destination", description.destinationModel)] {
            if let path = recorded?.path { values.append(("\(side)modelpath", "string", Self.escaped(path))) }
            if let bytes = recorded?.editorArchive {
                values.append(("\(side)modeldata", "binary", Base64.encode(bytes)))
            }
        }
        write(
            EditorMappingReader.model, model, values,
            [Self.relationship("entitymappings", "0/0", EditorMappingReader.entityMapping, ids)])
        return """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
            \(EditorDatabaseInfo.element(nextObjectID: nextNumber))
            \(objects)</database>

            """
    }

    // MARK: - Objects

    private mutating func write(
        _ mapping: EntityMappingDescription, id: String, number: Int, model: String
    ) throws(MappingFileError) {
        guard !mapping.fillsUnmentioned else {
            throw MappingFileError(
                .unresolved, "An .xcmappingmodel can't say “fill the rest”; resolve the mapping model first.")
        }
        var attributes: [String] = []
        for property in mapping.attributeMappings {
            attributes.append(try write(property, EditorMappingReader.attributeMapping, of: id))
        }
        var relationships: [String] = []
        for property in mapping.relationshipMappings {
            relationships.append(try write(property, EditorMappingReader.relationshipMapping, of: id))
        }
        let source = mapping.sourceEntity
        var values: [Value] = []
        if mapping.name != EntityMappingDescription.defaultName(source: source, destination: mapping.destinationEntity)
        {
            values.append(("name", "string", Self.escaped(mapping.name)))
        }
        if let policy = mapping.policyClassName {
            values.append(("migrationpolicyclassname", "string", Self.escaped(policy)))
        }
        if let source { values.append(("sourcename", "string", Self.escaped(source))) }
        let fetch = mapping.sourceExpression.flatMap { SourceFetch($0) }
        var isGenerated = true
        if let fetch, fetch.entity == source, !fetch.includesSubentities, mapping.filter == nil {
            if let filter = fetch.filter, filter != "TRUEPREDICATE" {
                values.append(("sourcefilterpredicatestring", "string", Self.escaped(filter)))
            }
        } else if let expression = mapping.sourceExpression {
            values.append(("sourceexpressiondata", "binary", try Self.archived(expression)))
            isGenerated = false
        }
        if let filter = mapping.filter {
            values.append(("sourcefilterpredicatestring", "string", Self.escaped(filter)))
        }
        values.append(("mappingtypename", "string", mapping.kind.editorName))
        values.append(("mappingnumber", "int16", String(number)))
        if let destination = mapping.destinationEntity {
            values.append(("destinationname", "string", Self.escaped(destination)))
        }
        values.append(("autogenerateexpression", "bool", isGenerated ? "1" : "0"))
        if !mapping.userInfo.isEmpty { values.append(("userinfodata", "binary", try Self.archived(mapping.userInfo))) }
        write(
            EditorMappingReader.entityMapping, id, values,
            [
                Self.relationship("mappingmodel", "1/1", EditorMappingReader.model, [model]),
                Self.relationship("attributemappings", "0/0", EditorMappingReader.attributeMapping, attributes),
                Self.relationship(
                    "relationshipmappings", "0/0", EditorMappingReader.relationshipMapping, relationships),
            ])
    }

    private mutating func write(
        _ mapping: PropertyMappingDescription, _ type: String, of owner: String
    ) throws(MappingFileError) -> String {
        do throws(MappingFileError) {
            var values: [Value] = []
            if let expression = mapping.expression {
                values.append(("valueexpressiondata", "binary", try Self.archived(expression)))
            }
            if !mapping.userInfo.isEmpty {
                values.append(("userinfodata", "binary", try Self.archived(mapping.userInfo)))
            }
            var isGenerated = true
            switch mapping.origin {
            case .automatic: break
            case nil: isGenerated = mapping.expression != nil
            case .keyPath(let path, mapping: let carrier):
                if let carrier { values.append(("sourcemappingname", "string", Self.escaped(carrier))) }
                if let path { values.append(("sourcekeypath", "string", Self.escaped(path))) }
            case .property, .text:
                throw MappingFileError(
                    .unresolved, "Its expression isn't made yet; resolve the mapping model first.")
            }
            if type == EditorMappingReader.relationshipMapping || !isGenerated {
                values.append(("autogenerateexpression", "bool", isGenerated ? "1" : "0"))
            }
            values.append(("name", "string", Self.escaped(mapping.name)))
            let id = nextID()
            write(
                type, id, values,
                [Self.relationship("entitymapping", "1/1", EditorMappingReader.entityMapping, [owner])])
            return id
        } catch {
            throw error.at(property: mapping.name)
        }
    }

    private mutating func write(_ type: String, _ id: String, _ values: [Value], _ relationships: [String]) {
        objects += "    <object type=\"\(type)\" id=\"\(id)\">\n"
        for value in values {
            objects += "        <attribute name=\"\(value.name)\" type=\"\(value.type)\">\(value.text)</attribute>\n"
        }
        for relationship in relationships { objects += "        \(relationship)\n" }
        objects += "    </object>\n"
    }

    private static func relationship(_ name: String, _ type: String, _ target: String, _ ids: [String]) -> String {
        let references = ids.isEmpty ? "" : " idrefs=\"\(ids.joined(separator: " "))\""
        return "<relationship name=\"\(name)\" type=\"\(type)\" destination=\"\(target)\"\(references)></relationship>"
    }

    private mutating func nextID() -> String {
        nextNumber += 1
        return "z\(nextNumber)"
    }

    // MARK: - Texts

    private static func archived(_ expression: Expression) throws(MappingFileError) -> String {
        var archive = KeyedArchiveWriter()
        let root: KeyedArchiveWriter.Reference
        do { root = try expression.archive(into: &archive) } catch { throw MappingFileError(writing: error) }
        return try text(of: archive, root)
    }

    private static func archived(_ userInfo: [String: Constant]) throws(MappingFileError) -> String {
        var archive = KeyedArchiveWriter()
        let root = try archive.userInfo(userInfo)
        return try text(of: archive, root)
    }

    private static func text(
        of archive: KeyedArchiveWriter, _ root: KeyedArchiveWriter.Reference
    ) throws(MappingFileError) -> String {
        do { return Base64.encode(try archive.bytes(root: root)) } catch { throw MappingFileError(error) }
    }

    /// `\uXXYY` with the bytes of the UTF-16 unit swapped: for characters that have a meaning in XML or can't occur in
    /// it, and for the backslash, which begins such an escape.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<", ">", "&", "\\", "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
                let unit = UInt16(truncatingIfNeeded: scalar.value).byteSwapped
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
