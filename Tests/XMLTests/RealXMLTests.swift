import CausewayXML
import Foundation
import Testing

/// Real models and mapping models (shared/stores/CATALOG.md), if present, and the project's own.
private enum TestFiles {
    private static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Paths are relative to the folder around the project.
    static let folder = project.deletingLastPathComponent()

    static func paths(named name: String) -> [String] {
        ["shared/stores", project.lastPathComponent + "/Fixtures"].flatMap { part in
            let all = FileManager.default.subpaths(atPath: folder.appending(path: part).path) ?? []
            return all.filter { $0.hasSuffix("/" + name) }.sorted().map { "\(part)/\($0)" }
        }
    }
}

@Suite("Real XML", .timeLimit(.minutes(60)))
struct RealXMLTests {
    @Test("every model's contents are read", arguments: TestFiles.paths(named: "contents"))
    func contents(path: String) throws {
        let data = try Data(contentsOf: TestFiles.folder.appending(path: path))
        let root = try XMLTree(parsing: [UInt8](data)).root
        #expect(root.name == "model")
        #expect(root.children(named: "entity").allSatisfy { $0["name"] != nil })
    }

    @Test("every mapping model is read despite its document type", arguments: TestFiles.paths(named: "xcmapping.xml"))
    func mappings(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: TestFiles.folder.appending(path: path)))
        let error = #expect(throws: XMLError.self) { try XMLTree(parsing: bytes) }
        #expect(error?.code == .forbiddenDeclaration)
        let root = try XMLTree(parsing: bytes, doctype: .allowExternalIdentifierOnly).root
        #expect(root.name == "database")
        #expect(!root.children(named: "object").isEmpty)
        #expect(root.child(named: "databaseInfo")?.child(named: "UUID")?.text.count == 36)
    }
}
