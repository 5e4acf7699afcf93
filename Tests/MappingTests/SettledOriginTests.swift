import CausewayMapping
import CausewayModel
import Testing

/// What the models leave open, and how it is settled from outside.
@Suite("Origins that are settled", .timeLimit(.minutes(60)))
struct SettledOriginTests {
    private func settled(_ from: String, _ to: String, _ origins: [String: String]) throws -> MappingModel {
        try MappingInference.infer(
            from: try ModelReader.model(source: Array(from.utf8)), to: try ModelReader.model(source: Array(to.utf8)),
            origins: origins)
    }

    private static let renamed = thing(attribute("fullName", was: "name"))
    private static let returned = thing(attribute("fullName", was: "name"), attribute("name"))

    @Test("an old name that comes back is refused, with what it means and two ways out")
    func returns() throws {
        let found = try refusals(Self.renamed, Self.returned)
        #expect(found.map(\.property) == ["fullName", "name"])
        let text = try #require(found.last?.description)
        #expect(text.contains("fullName and name all mean fullName by their renaming identifier, or by their name"))
        #expect(text.contains("--origin Thing.name=fullName"))
        #expect(text.contains("is new with --origin Thing.name="))
    }

    @Test(
        "either says which continues the element",
        arguments: [
            ["Thing.fullName": "fullName"], ["Thing.name": ""], ["Thing.fullName": "fullName", "Thing.name": ""],
        ])
    func property(origins: [String: String]) throws {
        let mapping = try settled(Self.renamed, Self.returned, origins)
        #expect(mapping.value("fullName") == .carried(from: "fullName", nilReplacement: nil))
        #expect(mapping.value("name") == .constant(nil))
        #expect(mapping.settledOrigins == Set(origins.keys))
        let newcomer = try settled(Self.renamed, Self.returned, ["Thing.name": "fullName"])
        #expect(newcomer.value("name") == .carried(from: "fullName", nilReplacement: nil))
        #expect(newcomer.value("fullName") == .constant(nil))
    }

    @Test("entities too, under the name of the entity")
    func entities() throws {
        let from = model(entity("B", was: "A", attribute("x")))
        let to = model(entity("B", was: "A", attribute("x")), entity("A"))
        #expect(try refusals(from, to).map(\.entity) == ["A", "B"])
        let mapping = try settled(from, to, ["A": ""])
        #expect(mapping.mapping(to: "B")?.source == "B")
        #expect(mapping.mapping(to: "A")?.source == nil)
        #expect(mapping.settledOrigins == ["A"])
    }

    @Test("a relationship that takes an attribute's name, and the other way round, starts empty where that was settled")
    func kinds() throws {
        let (text, link) = (
            model(entity("Other"), entity("Thing", attribute("x"))),
            model(entity("Other"), entity("Thing", toOne("x", "Other")))
        )
        #expect(try refusals(text, link).map(\.reason) == [.attributeBecameRelationship])
        #expect(try refusals(link, text).map(\.reason) == [.relationshipBecameAttribute])
        #expect(try refusals(link, text).first?.description.contains("--origin Thing.x= means the first") == true)
        let replaced = try settled(text, link, ["Thing.x": ""])
        #expect(replaced.links("x", of: "Thing") == nil)
        #expect(replaced.settledOrigins == ["Thing.x"])
        #expect(try settled(link, text, ["Thing.x": ""]).value("x") == .constant(nil))
    }

    @Test("of two relationships that become each other's inverse, the one that continues itself counts")
    func inverses() throws {
        let from = model(entity("Base", toOne("back", "Thing")), entity("Thing", toOne("link", "Base")))
        let to = model(
            entity("Base", toOne("back", "Thing", inverse: "link")),
            entity("Thing", toOne("link", "Base", inverse: "back")))
        let first = try inferred(from, to)
        #expect(first.links("back", of: "Base")?.relationship == "back")
        #expect(first.links("link", of: "Thing")?.relationship == "back")
        #expect(first.mapping(to: "Thing")?.relationship("link")?.outvoted?.relationship == "link")
        let second = try settled(from, to, ["Thing.link": "link"])
        #expect(second.links("back", of: "Base")?.relationship == "link")
        #expect(second.links("link", of: "Thing")?.relationship == "link")
        #expect(second.mapping(to: "Base")?.relationship("back")?.outvoted?.relationship == "back")
        #expect(second.settledOrigins == ["Thing.link"])
    }

    @Test("what isn't open settles nothing")
    func unused() throws {
        #expect(try settled(Self.renamed, Self.renamed, ["Thing.fullName": "fullName"]).settledOrigins == [])
    }
}
