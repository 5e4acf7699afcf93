import CausewayXML
import Foundation
import Testing

/// Real models and mapping models; see shared/stores/CATALOG.md.
private enum TestFiles {
    static let stores = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/stores")
    static let areThere = FileManager.default.fileExists(atPath: stores.path)

    static func paths(named name: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: stores.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix("/" + name) }.sorted()
    }
}

@Suite("Real XML", .timeLimit(.minutes(10)), .enabled(if: TestFiles.areThere, "shared/stores is missing"))
struct RealXMLTests {
    @Test("every model's contents are read", arguments: TestFiles.paths(named: "contents"))
    func contents(path: String) throws {
        let data = try Data(contentsOf: TestFiles.stores.appending(path: path))
        let root = try XMLTree(parsing: [UInt8](data)).root
        #expect(root.name == "model")
        #expect(root.children(named: "entity").allSatisfy { $0["name"] != nil })
    }

    @Test("every mapping model is read, past its document type", arguments: TestFiles.paths(named: "xcmapping.xml"))
    func mappings(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: TestFiles.stores.appending(path: path)))
        let error = #expect(throws: XMLError.self) { try XMLTree(parsing: bytes) }
        #expect(error?.code == .forbiddenDeclaration)
        let root = try XMLTree(parsing: bytes, doctype: .allowExternalIdentifierOnly).root
        #expect(root.name == "database")
        #expect(!root.children(named: "object").isEmpty)
        #expect(root.child(named: "databaseInfo")?.child(named: "UUID")?.text.count == 36)
    }
}
