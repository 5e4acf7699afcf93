import CausewayExpressions
import CausewayModel
import CausewayXML

/// `xcmapping.xml`: a Core Data XML store of the editor's own objects.
///
/// `<database><databaseInfo/><object type id><attribute name type>…</attribute><relationship name idrefs/></object>…`
struct EditorDatabase {
    struct Object {
        var id: String
        /// In capitals: `XDDEVENTITYMAPPING`.
        var type: String
        var line: Int
        /// Texts as they are in the file.
        var attributes: [String: String] = [:]
        var relationships: [String: [String]] = [:]

        /// A string attribute with its escapes decoded; nil for an absent or empty one.
        func text(_ name: String) -> String? {
            guard let text = attributes[name], !text.isEmpty else { return nil }
            return text.unescapingMappingModel
        }

        /// nil where the attribute is absent.
        func flag(_ name: String) throws(MappingFileError) -> Bool? {
            switch attributes[name] {
            case nil: return nil
            case "1": return true
            case "0": return false
            default: throw error("Its “\(name)” is neither 0 nor 1.")
            }
        }

        func number(_ name: String) throws(MappingFileError) -> Int? {
            guard let text = attributes[name] else { return nil }
            guard let number = Int(text) else { throw error("Its “\(name)” isn't a number.") }
            return number
        }

        /// Base64; nil for an absent or empty one.
        func data(_ name: String) throws(MappingFileError) -> [UInt8]? {
            guard let text = attributes[name] else { return nil }
            guard let bytes = Base64.decode(text) else { throw error("Its “\(name)” isn't base64 text.") }
            return bytes.isEmpty ? nil : bytes
        }

        func error(_ message: String) -> MappingFileError {
            MappingFileError(.damaged, "The object \(id) in line \(line) can't be understood. \(message)")
        }
    }

    private(set) var objects: [String: Object] = [:]
    /// In the file's order.
    private(set) var order: [String] = []

    init(_ bytes: [UInt8]) throws(MappingFileError) {
        let tree: XMLTree
        do {
            tree = try XMLTree(parsing: bytes, doctype: .allowExternalIdentifierOnly)
        } catch {
            throw MappingFileError(
                error.code == .limitExceeded ? .limitExceeded : .damaged, "The mapping model can't be read: \(error).")
        }
        guard tree.root.name == "database" else {
            throw MappingFileError(
                .notAMappingModel,
                "The XML isn't a mapping model: its root element is <\(tree.root.name)> instead of <database>.")
        }
        for element in tree.root.children where element.name == "object" {
            let object = try Self.object(element)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw object.error("Another object has the same id.")
            }
            order.append(object.id)
        }
    }

    private static func object(_ element: XMLTree.Element) throws(MappingFileError) -> Object {
        guard let id = element["id"], let type = element["type"] else {
            throw MappingFileError(.damaged, "The object in line \(element.line) has no id or no type.")
        }
        var object = Object(id: id, type: type.uppercased(), line: element.line)
        for child in element.children {
            guard let name = child["name"]?.lowercased() else { throw object.error("A part of it has no name.") }
            switch child.name {
            case "attribute": object.attributes[name] = child.text
            case "relationship":
                object.relationships[name] = (child["idrefs"] ?? "").split { $0.isWhitespace }.map(String.init)
            default: throw object.error("It holds a <\(child.name)>.")
            }
        }
        return object
    }

    func objects(ofType type: String) -> [Object] {
        order.compactMap { objects[$0] }.filter { $0.type == type }
    }
}
