import CausewayExpressions
import CausewayMapping
import CausewayMappingFiles
import CausewayModel
import Testing

@Suite("Mapping models written in Swift", .timeLimit(.minutes(60)))
struct MappingBuilderTests {
    private static let source = model(
        entity(
            "Post", attribute("title"), attribute("color"), attribute("percentage", "Double"),
            attribute("views", "Integer 64"),
            toOne("owner", "User", inverse: "posts")),
        entity("User", attribute("name"), toMany("posts", "Post", inverse: "owner")))
    private static let destination = model(
        entity(
            "Post", attribute("title"), attribute("hexColor"), attribute("percentage", "Double"),
            attribute("hits", "Integer 64", was: "views"), toOne("author", "User", inverse: "posts", was: "owner")),
        entity("User", attribute("name"), toMany("posts", "Post", inverse: "author")))

    private func resolve(_ mappings: EntityMappingDescription...) throws -> ResolvedMapping {
        try MappingModelDescription(name: "Swift", entityMappings: mappings).resolved(
            from: try ModelReader.model(source: Array(Self.source.utf8)),
            to: try ModelReader.model(source: Array(Self.destination.utf8)))
    }

    private func values(_ mapping: EntityMappingDescription) -> [String] {
        (mapping.attributeMappings + mapping.relationshipMappings).map {
            "\($0.name) = \($0.expression?.formatString ?? "nothing")"
        }
    }

    @Test("copies, renames, expressions and relationships resolve; the rest is filled")
    func parts() throws {
        let resolved = try resolve(
            .transform(
                "Post",
                [
                    .rename("color", to: "hexColor"),
                    .expression("percentage", "$source.percentage / 100"),
                    .filter("title != nil"),
                    .filter("views > 0"),
                    .policy("PostPolicy"),
                    .userInfo(["version": .string("2")]),
                ]),
            .copy("User"))
        let post = resolved.entityMappings[0]
        #expect(post.mapping.kind == .custom)
        #expect(post.mapping.policyClassName == "PostPolicy")
        #expect(post.mapping.userInfo == ["version": .string("2")])
        #expect(post.filter == (try Predicate(parsing: "(title != nil) AND (views > 0)")))
        let author = try Expression(
            parsing: """
                FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'UserToUser', $source.owner)
                """)
        #expect(
            values(post.mapping) == [
                "hexColor = $source.color",
                "percentage = \(try Expression(parsing: "$source.percentage/100").formatString)",
                "hits = $source.views", "title = $source.title", "author = \(author.formatString)",
            ])
        #expect(resolved.warnings.isEmpty && resolved.losses.isEmpty)
        #expect(resolved.entityMappings[1].mapping.fillsUnmentioned == false)
    }

    @Test("a relationship may be named among the attributes, copied or through a key path")
    func relationships() throws {
        let resolved = try resolve(
            .transform("Post", autofill: false, [.relationship("author", from: "owner", through: "UserToUser")]),
            .copy(
                "User", autofill: false,
                [
                    .copy("name"),
                    .copy("posts"),
                ]))
        #expect(resolved.entityMappings[0].mapping.attributeMappings.isEmpty)
        #expect(resolved.entityMappings[0].mapping.relationshipMappings.map(\.name) == ["author"])
        #expect(resolved.entityMappings[1].mapping.relationshipMappings.map(\.name) == ["posts"])
    }

    @Test("properties named in `Leave` aren't filled")
    func untouched() throws {
        let resolved = try resolve(
            .copy(
                "User",
                [
                    .untouched("name"),
                    .value("posts", .null),
                ]))
        #expect(values(resolved.entityMappings[0].mapping).sorted() == ["name = nothing", "posts = nil"])
    }

    @Test("mistakes in Swift are planning errors with mapping and property")
    func mistakes() throws {
        do {
            _ = try resolve(
                .transform(
                    "Post", autofill: false,
                    [
                        .copy("hexColor"),
                        .expression("percentage", "$source.percentage /"),
                        .rename("owner", to: "hits"),
                    ]),
                .add("User", [.copy("name")]))
            Issue.record("It must not resolve")
        } catch let error as MappingResolutionError {
            #expect(
                error.problems.map { "\($0.mapping).\($0.property ?? "-") \($0.code)" } == [
                    "PostToPost.hexColor unknownProperty", "PostToPost.percentage malformed",
                    "PostToPost.hits unknownProperty", "User.name contradiction",
                ])
            #expect(error.description.contains("  PostToPost.hexColor: "))
        }
    }

    @Test("a mapping model in Swift can be written only after it is resolved")
    func writing() throws {
        let written = MappingModelDescription(name: "Swift", entityMappings: [.transform("Post"), .copy("User")])
        #expect { try written.compiledBytes() } throws: { ($0 as? MappingFileError)?.code == .unresolved }
        #expect { try written.editorDocument() } throws: { ($0 as? MappingFileError)?.code == .unresolved }
        let resolved = try resolve(.transform("Post"), .copy("User"))
        let compiled = resolved.compiled()
        #expect(try MappingModelReader.read(compiled.compiledBytes(), name: "Swift") == compiled)
    }
}
