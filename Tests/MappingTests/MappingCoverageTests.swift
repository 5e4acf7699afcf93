import CausewayMapping
import CausewayModel
import Testing

@Suite("What a mapping model leaves out", .timeLimit(.minutes(60)))
struct MappingCoverageTests {
    private static let text = model(
        entity(
            "Animal", attribute("name"), attribute("age", "Integer 16"), toOne("owner", "Owner", inverse: "animals")),
        entity("Dog", parent: "Animal", attribute("trick")),
        entity("Cat", parent: "Animal", attribute("lives", "Integer 16")),
        entity("Owner", attribute("name"), toMany("animals", "Animal", inverse: "owner")),
        entity("Thing", extra: "isAbstract=\"YES\""))

    private func resolve(_ mappings: EntityMappingDescription...) throws -> ResolvedMapping {
        let model = try ModelReader.model(source: Array(Self.text.utf8))
        return try MappingModelDescription(name: "M", entityMappings: mappings).resolved(from: model, to: model)
    }

    @Test("inherited properties that the mapping doesn't mention give a warning")
    func inherited() throws {
        let resolved = try resolve(.copy("Dog", autofill: false, [.copy("trick")]))
        #expect(
            resolved.warnings.map(\.subject) == [
                .propertyLeftOut("age"), .propertyLeftOut("name"), .propertyLeftOut("owner"),
            ])
        #expect(resolved.warnings.allSatisfy { $0.mapping == "DogToDog" && $0.entity == "Dog" })
        #expect(resolved.warnings[0].message.hasPrefix("DogToDog doesn't mention Dog.age"))
    }

    @Test("a relationship whose inverse is mapped gives no warning")
    func inverse() throws {
        let resolved = try resolve(
            .copy(
                "Dog", autofill: false,
                [
                    .copy("trick"),
                    .copy("age"),
                    .copy("name"),
                ]), .copy("Owner"))
        #expect(resolved.warnings.isEmpty)
    }

    @Test("entities that no mapping reads are losses; abstract ones have no rows")
    func losses() throws {
        let resolved = try resolve(.copy("Animal"), .remove("Owner"))
        #expect(resolved.losses.map(\.entity) == ["Cat", "Dog", "Owner"])
        #expect(
            resolved.losses.map(\.subject) == [
                .subentityNotMigrated(of: "Animal"), .subentityNotMigrated(of: "Animal"), .entityNotMigrated,
            ])
        #expect(resolved.losses[0].message.contains("AnimalToAnimal reads those of its parent “Animal” only"))
    }

    @Test("several mapping models of one step are judged together")
    func together() throws {
        let model = try ModelReader.model(source: Array(Self.text.utf8))
        let first = try resolve(.copy("Animal"), .copy("Dog"))
        let second = try resolve(.copy("Cat"), .copy("Owner"))
        #expect(first.losses.map(\.entity) == ["Cat", "Owner"])
        #expect(MappingNotice.losses(of: [first, second], from: model).isEmpty)
    }
}
