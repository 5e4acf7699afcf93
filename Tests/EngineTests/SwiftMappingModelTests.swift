import CausewayEngine
import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayObjects
import CausewayPreparation
import Foundation
import Testing

private final class ContactPolicy: EntityMigrationPolicy {}

private enum Other {
    final class ContactPolicy: EntityMigrationPolicy {}
}

/// Mapping models written in Swift say the same as those of Xcode's editor.
@Suite("Mapping models in Swift", .timeLimit(.minutes(60)))
struct SwiftMappingModelTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures").path

    private static func versions(_ history: String, _ names: String...) throws -> [VersionedModel] {
        let history = try ModelHistory(reading: "\(fixtures)/\(history)/\(history).xcdatamodeld", edges: [:])
        return try names.map { name in
            let version = try history.version(named: name)
            return VersionedModel(name: name, model: version.model, hashes: version.hashes)
        }
    }

    private static let staff = SwiftMappingModel(from: "v1", to: "v2") {
        TransformEntity("Person", to: "Contact", policy: ContactPolicy.self) {
            Copy("name", "number")
            Compute("percentage", "$source.percentage/100")
            Compute("phone", "FUNCTION($entityPolicy, 'trimmedPhone:', $source.phone)")
            Compute("salary", "$source.salary*1.04")
            Copy("manager")
            Link("reports", from: "staff", through: "PersonToContact")
        }
    }

    @Test("Swift and the editor's file resolve to the same mapping model (Staff)")
    func equalsFile() throws {
        let versions = try Self.versions("Staff", "v1", "v2")
        let written = try Self.staff.description.resolved(from: versions[0], to: versions[1])
        let file = try MappingModelReader.read("\(Self.fixtures)/Staff/v1-v2.xcmappingmodel")
            .resolved(from: versions[0], to: versions[1])
        #expect(written.entityMappings == file.entityMappings)
        #expect(written.warnings.isEmpty && written.losses.isEmpty)
    }

    @Test("properties that aren't mentioned are filled, unless `Leave` names them")
    func filling() throws {
        let versions = try Self.versions("Staff", "v1", "v2")
        func names(_ model: SwiftMappingModel) throws -> [String] {
            let mapping = try model.description.resolved(from: versions[0], to: versions[1]).entityMappings[0].mapping
            return (mapping.attributeMappings + mapping.relationshipMappings).filter { $0.expression != nil }.map(
                \.name)
        }
        let filled = SwiftMappingModel(from: "v1", to: "v2") { TransformEntity("Person", to: "Contact") }
        #expect(try names(filled) == ["name", "number", "percentage", "phone", "salary", "manager"])
        let left = SwiftMappingModel(from: "v1", to: "v2") {
            TransformEntity("Person", to: "Contact") { Leave("phone", "manager") }
        }
        #expect(try names(left) == ["name", "number", "percentage", "salary"])
        let bare = SwiftMappingModel(from: "v1", to: "v2") {
            TransformEntity("Person", to: "Contact", fillsUnmentioned: false) { Copy("number") }
        }
        #expect(try names(bare) == ["number"])
    }

    @Test("every kind of line, with conditions and loops, makes its mapping")
    func everyLine() throws {
        let isLong = true
        let model = SwiftMappingModel(from: "v2", to: "v3", name: "posts") {
            TransformEntity("Post", name: "Long", fillsUnmentioned: false) {
                for name in ["postID", "date"] { Copy(name) }
                Rename("hexColor", to: "color")
                Assign("flag", 1)
                Link("sections", "FUNCTION($manager, 'x:', $source)")
                if isLong { Filter("date != nil") } else { Filter("date == nil") }
                Filter("content != nil")
                UserInfo("version", "3")
            }
            for name in ["Tag", "User"] { CopyEntity(name) }
            AddEntity("Section")
            RemoveEntity("Draft")
        }
        let mappings = model.description.entityMappings
        #expect(model.description.name == "posts")
        #expect(mappings.map(\.name) == ["Long", "TagToTag", "UserToUser", "Section", "Draft"])
        #expect(mappings.map(\.kind) == [.transform, .copy, .copy, .add, .remove])
        #expect(mappings[0].attributeMappings.map(\.name) == ["postID", "date", "color", "flag", "sections"])
        #expect(mappings[0].attributeMappings[3].expression == .constant(.integer(1)))
        #expect(mappings[0].filter == "(date != nil) AND (content != nil)")
        #expect(mappings[0].userInfo == ["version": .string("3")])
        #expect(mappings.map(\.fillsUnmentioned) == [false, true, true, false, false])
    }

    @Test("all mistakes are reported at once, with mapping and property")
    func mistakes() throws {
        let versions = try Self.versions("Staff", "v1", "v2")
        let model = SwiftMappingModel(from: "v1", to: "v2") {
            TransformEntity("Person", to: "Contact") {
                Copy("nickname")
                Compute("salary", "$source.salary *")
                Filter("name ==")
            }
            RemoveEntity("Nobody")
        }
        let error = try #require(throws: MappingResolutionError.self) {
            _ = try model.description.resolved(from: versions[0], to: versions[1])
        }
        #expect(
            error.problems.map { "\($0.mapping).\($0.property ?? "-") \($0.code)" }.sorted() == [
                "Nobody.- unknownEntity", "PersonToContact.- malformed", "PersonToContact.nickname unknownProperty",
                "PersonToContact.salary malformed",
            ])
    }

    @Test("adding a mapping model registers its policies, also two classes of one name")
    func registering() throws {
        var code = MigrationCode()
        code.add(Self.staff)
        code.add(
            SwiftMappingModel(from: "v2", to: "v3") {
                TransformEntity("Contact", policy: Other.ContactPolicy.self)
            })
        let names = code.mappings.compactMap { $0.model.entityMappings[0].policyClassName }
        #expect(names.first == "ContactPolicy")
        #expect(Set(names).count == 2)
        #expect(names.first.flatMap { code.policy(named: $0) } == ContactPolicy.self)
        #expect(names.last.flatMap { code.policy(named: $0) } == Other.ContactPolicy.self)
    }
}
